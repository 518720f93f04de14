package phases

import (
	"fmt"
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
)

// looking are the kinds of gates that look at the tree and run nothing. Each has a line here.
var looking = []struct {
	is    func(workflows.Gate) bool
	judge func(*Judge, workflows.Gate, session.JudgeRequest) finding
	brief func(workflows.Gate, session.ID) string // what whoever works is told
}{
	{func(g workflows.Gate) bool { return g.Document != "" }, judgeDocument, briefDocument},
	{func(g workflows.Gate) bool { return len(g.Changes) > 0 }, judgeChanges, briefChanges},
}

// look judges a gate that runs nothing.
func (j *Judge) look(g workflows.Gate, r session.JudgeRequest) session.GateResult {
	f := finding{verdict: session.Blocked, class: session.ClassInfraError, reason: "this wfs does not know this kind of gate"}
	for _, k := range looking {
		if k.is(g) {
			f = k.judge(j, g, r)
		}
	}
	res := session.GateResult{Gate: g.Name, Where: session.InTree, Expect: string(g.Expect), Verdict: f.verdict, Class: f.class, Reason: f.reason}
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
	text := j.read(path)
	if strings.TrimSpace(string(text)) == "" {
		bad.reason = path + " is missing, or empty"
		return bad
	}
	tasks := workflows.ParseChecklist(text)
	if slices.Contains(g.Needs, workflows.NeedTasks) && len(tasks) == 0 {
		bad.reason = path + " has no task list: lines that begin with \"- [ ] \""
		return bad
	}
	f := finding{verdict: session.Pass, class: session.ClassGreen, reason: path + " is there"}
	if len(tasks) > 0 {
		f.reason += ", with " + plural(len(tasks), "task", "tasks")
	}
	return f
}

func briefDocument(g workflows.Gate, id session.ID) string {
	what := fmt.Sprintf("`%s` must be there", name(DocumentPath(id, g.Document)))
	if slices.Contains(g.Needs, workflows.NeedTasks) {
		what += ", with a task list (lines that begin with `- [ ] `)"
	}
	return what
}

// judgeChanges asks for a change since the phase was entered. The session's documents are no work.
func judgeChanges(_ *Judge, g workflows.Gate, r session.JudgeRequest) finding {
	for _, c := range r.Visit {
		if !strings.HasPrefix(c.Path, ".workflow/") && !strings.HasPrefix(c.Path, ".wfs/") && matchAny(g.Changes, c.Path) {
			return finding{verdict: session.Pass, class: session.ClassGreen, reason: fmt.Sprintf("%s changed", c.Path)}
		}
	}
	return finding{verdict: session.Fail, class: session.ClassUnchanged, reason: "nothing changed since the phase began, of " + strings.Join(g.Changes, ", ")}
}

func briefChanges(g workflows.Gate, _ session.ID) string {
	return fmt.Sprintf("something must have changed, of: %s", name(strings.Join(g.Changes, ", ")))
}
