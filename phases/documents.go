package phases

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/wfs-dev/wfs/internal/safetext"
	"github.com/wfs-dev/wfs/phases/brief"
	"github.com/wfs-dev/wfs/phases/diagram"
	"github.com/wfs-dev/wfs/phases/gate"
	"github.com/wfs-dev/wfs/phases/report"
	"github.com/wfs-dev/wfs/phases/verdict"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
	"github.com/wfs-dev/wfs/workflows/checklist"
)

// look judges a gate that runs no command, but checks a document or the changed files.
func (j *Judge) look(ctx context.Context, g workflows.Gate, r session.JudgeRequest) session.GateResult {
	f := verdict.Finding{Verdict: session.Blocked, Class: session.ClassInfraError,
		Reason: "this version of wfs does not know this kind of gate"}
	switch {
	case g.Document != "":
		f = judgeDocument(j, g, r)
	case len(g.File) > 0:
		f = j.judgeFiles(ctx, g, r)
	case len(g.Changes) > 0:
		f = judgeChanges(g, r, j.since(ctx, g, r))
	}
	res := session.GateResult{Gate: g.Name, Where: session.InTree, Expect: string(g.Expect), Verdict: f.Verdict,
		Class: f.Class, Reason: f.Reason, Left: f.Left}
	if f.Verdict != session.Pass {
		res.Fingerprint = verdict.Fingerprint(f.Class, nil, map[session.TestID]string{report.GateID(g.Name): f.Reason})
	}
	return res
}

func judgeDocument(j *Judge, g workflows.Gate, r session.JudgeRequest) verdict.Finding {
	path := brief.DocumentPath(r.Session, g.Document)
	text := j.Read(path)
	d := newDocument(path, text, r.Items)
	f := verdict.Finding{Verdict: session.Pass, Class: session.ClassGreen}
	if slices.Contains(g.Needs, workflows.NeedTicked) && len(d.tasks) > 0 && len(d.lacking) == 0 {
		f.Left = len(d.open) + 1
	}
	switch missing := strings.TrimSpace(string(text)) == ""; {
	case missing && d.mayBeMissing(g, r):
		f.Reason = "there is no " + path + ", or no open task"
		return f
	case missing:
		f.Reason = path + " is missing, or empty"
	default:
		f.Reason = d.lacks(g)
	}
	if f.Reason != "" {
		f.Verdict, f.Class = session.Fail, session.ClassDocument
		return f
	}
	f.Reason = path + " is there"
	if n := len(d.tasks); n > 0 {
		f.Reason += ", with " + safetext.Plural(n, "task", "tasks")
	}
	return f
}

// document is a document of a session, such as a plan, compared with the session's checklist of items.
type document struct {
	path          string
	text          string
	tasks         []checklist.Item
	open, lacking []string // tasks that are not done; items that have no task
	disorder      string   // what is wrong with the order of the tasks
}

func newDocument(path string, text []byte, items []string) document {
	d := document{path: path, text: string(text), tasks: checklist.Parse(text)}
	d.disorder = checklist.Order(d.tasks)
	for _, task := range d.tasks {
		if !task.Done {
			d.open = append(d.open, fmt.Sprintf("%q", task.Text))
		}
	}
	for _, item := range items {
		if len(tasksOf(item, d.tasks, items)) == 0 {
			d.lacking = append(d.lacking, fmt.Sprintf("%q", item))
		}
	}
	return d
}

// mayBeMissing reports whether a gate accepts that the document is missing. It does if it requires only that no task
// is open, there are no items, and the phase did not delete the document.
func (d document) mayBeMissing(g workflows.Gate, r session.JudgeRequest) bool {
	return slices.Contains(g.Needs, workflows.NeedTicked) && !slices.Contains(g.Needs, workflows.NeedTasks) &&
		len(r.Items) == 0 &&
		!slices.ContainsFunc(r.Visit, func(c session.Change) bool { return c.Path == d.path && c.Status == "D" })
}

// lacks returns a sentence about the first of the gate's requirements that the document does not meet; "" if it meets
// all.
func (d document) lacks(g workflows.Gate) string {
	needs := func(n workflows.Need) bool { return slices.Contains(g.Needs, n) }
	switch {
	case needs(workflows.NeedTasks) && len(d.tasks) == 0:
		return d.path + " has no task list: lines that begin with \"- [ ] \""
	case needs(workflows.NeedItems) && len(d.lacking) > 0:
		return d.path + " has no task for " +
			safetext.Listed(d.lacking, "item of the checklist that begins with", "items of the checklist that begins with")
	case needs(workflows.NeedOrder) && d.disorder != "":
		return d.path + ": " + d.disorder
	case needs(workflows.NeedTicked) && len(d.open) > 0:
		return safetext.Plural(len(d.open), "task", "tasks") + " of " + d.path + " not ticked: " + safetext.Some(d.open)
	case needs(workflows.NeedDiagrams):
		if problem := diagram.Problem(d.text); problem != "" {
			return d.path + " " + problem
		}
	}
	for _, text := range g.Contains {
		if !strings.Contains(strings.ToLower(d.text), strings.ToLower(text)) {
			return fmt.Sprintf("%s does not contain %q", d.path, text)
		}
	}
	return ""
}

// tasksOf returns those tasks that belong to an item of the checklist: tasks whose text begins with the item's text, after the
// task's id if it has one. If the texts of several items match, a task belongs to the longest.
func tasksOf(item string, tasks []checklist.Item, items []string) []checklist.Item {
	begins := func(task checklist.Item, words string) bool {
		rest, ok := strings.CutPrefix(task.Text, words)
		if _, text := task.ID(); !ok {
			rest, ok = strings.CutPrefix(text, words)
		}
		return ok && strings.IndexFunc(rest, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) != 0
	}
	return slices.DeleteFunc(slices.Clone(tasks), func(task checklist.Item) bool {
		return !begins(task, item) || slices.ContainsFunc(items,
			func(other string) bool { return len(other) > len(item) && begins(task, other) })
	})
}

// ticked returns the numbers of the items, from 1, whose tasks in the session's documents are all ticked.
func (j *Judge) ticked(r session.JudgeRequest) []int {
	var tasks []checklist.Item
	if len(r.Items) > 0 {
		for _, path := range brief.Documents(r.Session, &r.Plan.Workflow) {
			tasks = append(tasks, checklist.Parse(j.Read(path))...)
		}
	}
	var all []int
	for i, item := range r.Items {
		mine := tasksOf(item, tasks, r.Items)
		if len(mine) > 0 && !slices.ContainsFunc(mine, func(t checklist.Item) bool { return !t.Done }) {
			all = append(all, i+1)
		}
	}
	return all
}

// since returns the changes since the beginning of what the gate names.
func (j *Judge) since(ctx context.Context, g workflows.Gate, r session.JudgeRequest) []session.Change {
	switch g.Since {
	case workflows.SinceLap:
		return r.Changed
	case workflows.SinceSession:
		return j.changesOf(ctx, r.Baseline.Tree, r.Tree)
	}
	return r.Visit
}

// judgeFiles judges a gate that requires a file. It passes if one of the matching files meets all requirements.
func (j *Judge) judgeFiles(ctx context.Context, g workflows.Gate, r session.JudgeRequest) verdict.Finding {
	var paths []string
	if g.Since == "" {
		paths, _ = j.Paths(ctx, r.Tree)
	} else {
		for _, c := range j.since(ctx, g, r) {
			if c.Status != "D" {
				paths = append(paths, c.Path)
			}
		}
	}
	f := verdict.Finding{Verdict: session.Fail, Class: session.ClassDocument,
		Reason: "there is no file " + strings.Join(g.File, " or ")}
	if g.Since != "" {
		f.Reason = fmt.Sprintf("no file %s was written since the %s began", strings.Join(g.File, " or "), g.Since)
	}
	for _, path := range paths {
		if !gate.MatchAny(g.File, path) {
			continue
		}
		text := j.Read(path)
		lacks := path + " is empty"
		if strings.TrimSpace(string(text)) != "" {
			lacks = newDocument(path, text, r.Items).lacks(g)
		}
		if lacks == "" {
			return verdict.Finding{Verdict: session.Pass, Class: session.ClassGreen, Reason: path + " is there"}
		}
		f.Reason = lacks
	}
	return f
}

// judgeChanges judges a gate that requires a changed file, by default since the phase was entered. Changes of the session's own
// documents count only if a reviewer or a person sent the work back, since a document may be the answer.
func judgeChanges(g workflows.Gate, r session.JudgeRequest, changes []session.Change) verdict.Finding {
	for _, c := range changes {
		answer := r.SentBack && strings.HasPrefix(c.Path, brief.DocumentsDir(r.Session)+"/")
		if answer || isWork(c.Path, r) && gate.MatchAny(g.Changes, c.Path) {
			return verdict.Finding{Verdict: session.Pass, Class: session.ClassGreen, Reason: fmt.Sprintf("%s changed", c.Path)}
		}
	}
	began := map[workflows.Since]string{workflows.SinceLap: "the lap", workflows.SinceSession: "the session"}[g.Since]
	reason := fmt.Sprintf("nothing changed since %s began", cmp.Or(began, "the phase"))
	if !slices.Equal(g.Changes, []string{"**"}) {
		reason += ", of " + strings.Join(g.Changes, ", ")
	}
	return verdict.Finding{Verdict: session.Fail, Class: session.ClassUnchanged, Reason: reason}
}

// isWork reports whether a path is part of the work, in contrast to the session's documents, the settings of wfs and
// the specification.
func isWork(path string, r session.JudgeRequest) bool {
	return !strings.HasPrefix(path, ".workflow/") && !strings.HasPrefix(path, ".wfs/") && path != r.Spec
}
