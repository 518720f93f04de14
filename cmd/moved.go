package cmd

import (
	"context"
	"fmt"
	"strings"

	"github.com/wfs-dev/wfs/cmd/internal/present"
	"github.com/wfs-dev/wfs/engine"
	"github.com/wfs-dev/wfs/engine/transition"
	"github.com/wfs-dev/wfs/session"
)

// movedJSON is the JSON output of a command that moves HEAD or files.
type movedJSON struct {
	Version   int              `json:"version"`
	Did       string           `json:"did"`
	Session   session.ID       `json:"session"`
	Operation int64            `json:"operation,omitempty"`
	Head      string           `json:"head,omitempty"`
	Worktree  string           `json:"worktree,omitempty"` // work tree that was changed, if not the current one
	Changes   []session.Change `json:"changes"`
	keptJSON
	Saved int      `json:"saved_checkpoint,omitempty"` // checkpoint with the edits of the session that the user left
	Note  string   `json:"note,omitempty"`
	Also  []string `json:"also,omitempty"` // earlier operations that the same command undid or redid
	// the checkpoint that resume went to, and the results of its gates
	Resumed *session.Checkpoint  `json:"resumed,omitempty"`
	Gates   []session.GateResult `json:"gates,omitempty"`
	Next    []string             `json:"next"`
}

// moved prints the result of a command that moved HEAD or files, such as switch, resume or undo.
type moved struct {
	*app
	h     *engine.Hand
	r     *transition.Relocated // nil: there was nothing to do
	saved *session.Checkpoint   // edits of the session that the user left
}

// say prints which files and refs were moved, and how to undo that.
func (a moved) say() error {
	h, r, saved := a.h, a.r, a.saved
	head, err := a.Repo.Head(context.Background())
	if err != nil {
		return err
	}
	current := head.Ref == h.S.Branch()
	a.About = h.ID
	j := movedJSON{Version: jsonVersion, Did: "nothing", Session: h.ID, Head: strings.TrimPrefix(head.Ref, "refs/heads/"),
		Changes: []session.Change{}, Next: a.nextFor(&h.S)}
	if saved != nil {
		j.Saved = saved.Number
	}
	if a.Away != "" {
		j.Worktree = a.Repo.Root()
	}
	if r != nil {
		j.Did, j.Operation, j.keptJSON, j.Note, j.Also = r.Event.Summary, r.Op, keptIn(r.Rescued), r.Note, r.Also
		j.Changes = append(j.Changes, r.Changes...)
	}
	if r != nil && r.Event.How == session.MoveResume {
		_, events, err := madeBy(context.Background(), a.Workspace, h.ID, h.S.Current)
		if err != nil {
			return err
		}
		var made present.Checkpoint
		addVerdict(&made, events)
		j.Resumed, j.Gates = h.S.At(h.S.Current), made.Gates
	}
	if a.json {
		return a.answer(j)
	}
	saySaved(a.out, saved)
	if r == nil {
		where := fmt.Sprintf("%s is already checked out%s, at checkpoint %d", h.ID, a.InTree(), h.S.Current)
		if !current {
			where = "already on " + j.Head
		}
		a.out("%s; nothing to do", where)
		a.next(j.Next)
		return nil
	}
	for _, also := range r.Also {
		did, _ := movedAs(also)
		a.out("%s", did)
	}
	did, again := movedAs(j.Did)
	if len(r.Also) > 0 || r.Event.Turn.Worktree == "" { // an operation without a work tree changes no files
		a.out("%s", did)
	}
	if r.Event.Turn.Worktree != "" {
		if len(r.Also) > 0 {
			did = "all in all"
		}
		a.out("%s: now %s%s, %s", did, a.headAt(head), a.InTree(), changedFiles(len(r.Changes)))
		// The changes that a new session took along or left on the branch are printed elsewhere.
		rescued := r.Rescued
		if r.Event.How == session.MoveNew && r.Event.Turn.Rescue != "" && len(h.S.Carried)+len(h.S.Left) > 0 {
			rescued = r.Event.Turn.Found
		}
		sayKept(a.Repo, wasThere, rescued, a.out)
	}
	if r.Note != "" {
		a.out("%s", r.Note)
	}
	if j.Resumed != nil {
		a.sayResumed(*j.Resumed, j.Gates)
	}
	a.out("%s: %s", again, a.typed("wfs "+again))
	if current || r.Event.How == session.MoveNew {
		a.next(j.Next)
	}
	return nil
}

// sayResumed prints the checkpoint that the session went to, what its gates said, and where the session continues.
func (a moved) sayResumed(c session.Checkpoint, gates []session.GateResult) {
	s := &a.h.S
	a.env.Line(present.CheckpointLine(s, c, present.PhaseColumns([]session.Checkpoint{c})))
	said := present.Join()
	for i, g := range gates {
		if i > 0 {
			said = present.Join(said, "; ")
		}
		said = present.Join(said, g.Gate, ": ", present.GateSays(g))
	}
	if len(gates) > 0 {
		a.env.OutAt(7, "       %s", said)
	}
	a.out("%s", present.Standing(s))
}

// headAt describes the position of HEAD: its branch, or a commit.
func (a moved) headAt(head session.Head) string {
	switch {
	case head.Ref != "":
		return "on " + strings.TrimPrefix(head.Ref, "refs/heads/")
	case a.Away != "":
		return "at " + head.Commit.Short() + ", on no branch,"
	}
	return "at " + head.Commit.Short() + ", on no branch"
}

// saySaved names the checkpoint that holds the edits of a session, if one was made.
func saySaved(out func(string, ...any), c *session.Checkpoint) {
	if c != nil {
		out("checkpoint %d: %s", c.Number, c.Summary)
	}
}

func changedFiles(n int) string {
	if n == 0 {
		return "no files changed"
	}
	return fmt.Sprintf("%d %s changed", n, plural(n, "file", "files"))
}

// movedAs describes an operation by its summary `did`. It also returns the command that reverts the operation: "undo"
// or "redo".
func movedAs(did string) (said, again string) {
	if what, ok := strings.CutPrefix(did, "redo: "); ok {
		return "redid: " + what, "undo"
	}
	if what, ok := strings.CutPrefix(did, "undo: "); ok {
		return "undid: " + what, "redo"
	}
	return did, "undo"
}
