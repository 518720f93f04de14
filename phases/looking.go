package phases

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
	"github.com/wfs-dev/wfs/workflows/checklist"
)

// looking are the kinds of gates that look at the tree and run nothing. Each has a line here.
var looking = []struct {
	is    func(workflows.Gate) bool
	judge func(*Judge, workflows.Gate, session.JudgeRequest) finding
	brief func(workflows.Gate, *session.Session) string // what whoever works is told
}{
	{func(g workflows.Gate) bool { return g.Document != "" }, judgeDocument, briefDocument},
	{func(g workflows.Gate) bool { return len(g.Changes) > 0 }, judgeChanges, briefChanges},
}

// look judges a gate that runs nothing.
func (j *Judge) look(g workflows.Gate, r session.JudgeRequest) session.GateResult {
	f := finding{verdict: session.Blocked, class: session.ClassInfraError,
		reason: "this version of wfs does not know this kind of gate"}
	for _, k := range looking {
		if k.is(g) {
			f = k.judge(j, g, r)
		}
	}
	res := session.GateResult{Gate: g.Name, Where: session.InTree, Expect: string(g.Expect), Verdict: f.verdict,
		Class: f.class, Reason: f.reason, Left: f.left}
	if f.verdict != session.Pass {
		res.Fingerprint = fingerprint(f.class, nil, map[session.TestID]string{gateID(g.Name): f.reason})
	}
	return res
}

// DocumentPath is where a document of a session is, relative to the top of the work tree.
func DocumentPath(id session.ID, document string) string {
	return DocumentsDir(id) + "/" + document
}

// DocumentsDir is the directory of a session's documents.
func DocumentsDir(id session.ID) string { return ".workflow/" + string(id) }

func judgeDocument(j *Judge, g workflows.Gate, r session.JudgeRequest) finding {
	path := DocumentPath(r.Session, g.Document)
	bad := finding{verdict: session.Fail, class: session.ClassDocument}
	needs := func(n workflows.Need) bool { return slices.Contains(g.Needs, n) }
	text := j.read(path)
	tasks := checklist.Parse(text)
	var open, lacking []string
	for _, task := range tasks {
		if !task.Done {
			open = append(open, fmt.Sprintf("%q", task.Text))
		}
	}
	for _, item := range r.Items {
		if len(tasksOf(item, tasks, r.Items)) == 0 {
			lacking = append(lacking, fmt.Sprintf("%q", item))
		}
	}
	gone := slices.ContainsFunc(r.Visit, func(c session.Change) bool { return c.Path == path && c.Status == "D" })
	if needs(workflows.NeedTicked) && len(tasks) > 0 && len(lacking) == 0 {
		bad.left = len(open) + 1
	}
	switch missing := strings.TrimSpace(string(text)) == ""; {
	case missing && needs(workflows.NeedTicked) && !needs(workflows.NeedTasks) && len(r.Items) == 0 && !gone:
		return finding{verdict: session.Pass, class: session.ClassGreen, reason: "there is no " + path + ", or no open task"}
	case missing:
		bad.reason = path + " is missing, or empty"
	case needs(workflows.NeedTasks) && len(tasks) == 0:
		bad.reason = path + " has no task list: lines that begin with \"- [ ] \""
	case needs(workflows.NeedItems) && len(lacking) > 0:
		bad.reason = path + " has no task for " + plural(len(lacking), "item", "items") +
			" of the checklist that begins with: " + some(lacking)
	case needs(workflows.NeedTicked) && len(open) > 0:
		bad.reason = plural(len(open), "task", "tasks") + " of " + path + " not ticked: " + some(open)
	}
	if bad.reason != "" {
		return bad
	}
	f := finding{verdict: session.Pass, class: session.ClassGreen, reason: path + " is there", left: bad.left}
	if len(tasks) > 0 {
		f.reason += ", with " + plural(len(tasks), "task", "tasks")
	}
	return f
}

// tasksOf are the tasks of a document that stand for an item of the checklist: they begin with its words, and
// not with those of a longer one.
func tasksOf(item string, tasks []checklist.Item, items []string) []checklist.Item {
	begins := func(task checklist.Item, words string) bool {
		rest, ok := strings.CutPrefix(task.Text, words)
		return ok && strings.IndexFunc(rest, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) != 0
	}
	return slices.DeleteFunc(slices.Clone(tasks), func(task checklist.Item) bool {
		return !begins(task, item) || slices.ContainsFunc(items,
			func(other string) bool { return len(other) > len(item) && begins(task, other) })
	})
}

// ticked are the numbers of the items that documents of the session tick.
func (j *Judge) ticked(r session.JudgeRequest) []int {
	var tasks []checklist.Item
	for _, ph := range r.Plan.Workflow.Phases {
		for _, g := range ph.Gates {
			if g.Document != "" && len(r.Items) > 0 {
				tasks = append(tasks, checklist.Parse(j.read(DocumentPath(r.Session, g.Document)))...)
			}
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

func briefDocument(g workflows.Gate, s *session.Session) string {
	what := fmt.Sprintf("`%s` must be there", name(DocumentPath(s.ID, g.Document)))
	if slices.Contains(g.Needs, workflows.NeedTasks) {
		what += ", with a task list (lines that begin with `- [ ] `)"
	}
	if len(s.Items) > 0 && slices.Contains(g.Needs, workflows.NeedItems) {
		what += ", with a task for every item of the specification's checklist that begins with the item's words"
	}
	if slices.Contains(g.Needs, workflows.NeedTicked) {
		what += ", with every task ticked (`- [x] `)"
	}
	return what
}

// judgeChanges asks for a change since the phase was entered. The session's documents are no work, but they may
// answer a rejection.
func judgeChanges(_ *Judge, g workflows.Gate, r session.JudgeRequest) finding {
	for _, c := range r.Visit {
		answer := r.SentBack && strings.HasPrefix(c.Path, DocumentsDir(r.Session)+"/")
		if answer || isWork(c.Path, r) && matchAny(g.Changes, c.Path) {
			return finding{verdict: session.Pass, class: session.ClassGreen, reason: fmt.Sprintf("%s changed", c.Path)}
		}
	}
	reason := "nothing changed since the phase began"
	if !slices.Equal(g.Changes, []string{"**"}) {
		reason += ", of " + strings.Join(g.Changes, ", ")
	}
	return finding{verdict: session.Fail, class: session.ClassUnchanged, reason: reason}
}

// isWork reports whether a change of a file is work, and not a word about it: documents, settings of wfs, the
// specification.
func isWork(path string, r session.JudgeRequest) bool {
	return !strings.HasPrefix(path, ".workflow/") && !strings.HasPrefix(path, ".wfs/") && path != r.Spec
}

func briefChanges(g workflows.Gate, s *session.Session) string {
	what := "something other than the specification must have changed"
	if s.SpecPath == "" {
		what = "something must have changed"
	}
	if !slices.Equal(g.Changes, []string{"**"}) {
		what += ", of: " + name(strings.Join(g.Changes, ", "))
	}
	if s.SentBack() {
		what += " (or a document of this work, where you do not agree with a finding)"
	}
	return what
}
