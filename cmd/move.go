package cmd

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/wfs-dev/wfs/engine"
	"github.com/wfs-dev/wfs/engine/transition"
	"github.com/wfs-dev/wfs/session"
)

// movedJSON is what a command that moves HEAD or files did.
type movedJSON struct {
	Version   int              `json:"version"`
	Did       string           `json:"did"`
	Session   session.ID       `json:"session"`
	Operation int64            `json:"operation,omitempty"`
	Head      string           `json:"head,omitempty"`
	Worktree  string           `json:"worktree,omitempty"` // where that was, when it is not where the command was typed
	Changes   []session.Change `json:"changes"`
	keptJSON
	Saved int      `json:"saved_checkpoint,omitempty"` // checkpoint that keeps the edits of the session that was left
	Note  string   `json:"note,omitempty"`
	Also  []string `json:"also,omitempty"` // what an undo or redo took back before that
	Next  []string `json:"next"`
}

// sayMoved tells what moved and how to undo it.
func (a *app) sayMoved(h *engine.Hand, r *transition.Relocated, saved *session.Checkpoint) error {
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
	if a.json {
		return a.answer(j)
	}
	a.saySaved(saved)
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
	if len(r.Also) > 0 || r.Event.Turn.Worktree == "" { // without one, no file was touched
		a.out("%s", did)
	}
	if r.Event.Turn.Worktree != "" {
		if len(r.Also) > 0 {
			did = "all in all"
		}
		a.out("%s: now %s%s, %s", did, a.headAt(head), a.InTree(), changedFiles(len(r.Changes)))
		// What was carried or left is said to be, and where.
		rescued := r.Rescued
		if r.Event.How == session.MoveNew && r.Event.Turn.Rescue != "" && len(h.S.Carried)+len(h.S.Left) > 0 {
			rescued = r.Event.Turn.Found
		}
		a.sayKept(wasThere, rescued, a.out)
	}
	if r.Note != "" {
		a.out("%s", r.Note)
	}
	a.out("%s: %s", again, a.typed("wfs "+again))
	if current || r.Event.How == session.MoveNew {
		a.next(j.Next)
	}
	return nil
}

// headAt says where HEAD is.
func (a *app) headAt(head session.Head) string {
	switch {
	case head.Ref != "":
		return "on " + strings.TrimPrefix(head.Ref, "refs/heads/")
	case a.Away != "":
		return "at " + head.Commit.Short() + ", on no branch,"
	}
	return "at " + head.Commit.Short() + ", on no branch"
}

// saySaved names the checkpoint that keeps the edits of a session, if there is one.
func (a *app) saySaved(c *session.Checkpoint) {
	if c != nil {
		a.out("checkpoint %d: %s", c.Number, c.Summary)
	}
}

func (a *app) switchCmd() *cobra.Command {
	var dry bool
	c := &cobra.Command{
		Use: "switch SESSION|BRANCH|-", Short: "go to another session or branch",
		Long: `Switch checks out another session in this work tree, or a branch of yours. Edits in the session that
you leave become a checkpoint of it. Uncommitted changes on a branch of yours are saved there and come back when
you switch to it again. A dash is the previous session or branch, as for git switch. If a session and a branch
have the same name, an open session is meant, and the branch once the session is finished; wfs/NAME and
heads/NAME say it exactly.`,
		Example: "  wfs switch csv-export\n  wfs switch main\n  wfs switch -\n  wfs switch csv-export --dry-run",
		Args: func(c *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usage("wfs list", "switch needs a session or branch")
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error { return a.switchTo(c.Context(), args[0], dry) },
	}
	dryFlag(c, &dry)
	return c
}

func (a *app) switchTo(ctx context.Context, name string, dry bool) error {
	if err := a.BeginOr(ctx, dry, "wfs switch", false); err != nil {
		return err
	}
	cur, err := a.Current(ctx)
	if err != nil {
		return err
	}
	target, branch, err := a.Destination(ctx, name)
	if err != nil {
		return err
	}
	if branch != "" {
		return a.leave(ctx, cur, branch, dry)
	}
	if t, err := a.Elsewhere(ctx, target); err != nil {
		return err
	} else if t != nil && !t.Gone {
		return session.Refuse(session.RefuseWorktree, fmt.Sprintf(`cd "$(wfs path %s)"`, target),
			"%s is checked out in another work tree: %s", target, t.Path)
	}
	if dry {
		return a.preview(ctx, target, func(l *engine.Look) (transition.Preview, error) { return l.Enter(ctx) })
	}
	h, saved, err := a.Enter(ctx, "wfs switch", target)
	if err != nil {
		return err
	}
	r, err := h.Enter(ctx)
	if err != nil {
		return err
	}
	return a.sayMoved(h, r, saved)
}

// changedFiles counts files that a move has changed.
func changedFiles(n int) string {
	if n == 0 {
		return "no files changed"
	}
	return fmt.Sprintf("%d %s changed", n, plural(n, "file", "files"))
}

// movedAs says what an operation did, by its summary, and whether undo or redo takes that back.
func movedAs(did string) (said, again string) {
	if what, ok := strings.CutPrefix(did, "redo: "); ok {
		return "redid: " + what, "undo"
	}
	if what, ok := strings.CutPrefix(did, "undo: "); ok {
		return "undid: " + what, "redo"
	}
	return did, "undo"
}

func (a *app) leave(ctx context.Context, cur session.ID, branch string, dry bool) error {
	short := strings.TrimPrefix(branch, "refs/heads/")
	if head, err := a.Repo.Head(ctx); err != nil {
		return err
	} else if head.Ref == branch && a.json {
		return a.answer(movedJSON{Version: jsonVersion, Did: "nothing", Session: cur, Head: short,
			Changes: []session.Change{}, Next: []string{}})
	} else if head.Ref == branch {
		a.out("HEAD is on %s already; nothing was moved", short)
		return a.sayParked(ctx, branch)
	}
	if cur == "" {
		return session.Refuse(session.RefuseNotCurrent, "git switch "+short,
			"no session is current here: going from one branch of yours to another is git's business")
	}
	if dry {
		return a.preview(ctx, cur, func(l *engine.Look) (transition.Preview, error) { return l.Leave(ctx, branch) })
	}
	h, saved, err := a.LeaveFor(ctx, "wfs switch", cur, branch)
	if err != nil {
		return err
	}
	r, err := h.Leave(ctx, branch)
	if err != nil {
		return err
	}
	return a.sayMoved(h, r, saved)
}
