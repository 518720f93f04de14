package cmd

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/wfs-dev/wfs/engine"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
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
func (a *app) sayMoved(h *engine.Hand, r *engine.Relocated, saved *session.Checkpoint) error {
	head, err := a.repo.Head(context.Background())
	if err != nil {
		return err
	}
	current := head.Ref == h.S.Branch()
	a.about = h.ID
	j := movedJSON{Version: jsonVersion, Did: "nothing", Session: h.ID, Head: strings.TrimPrefix(head.Ref, "refs/heads/"),
		Changes: []session.Change{}, Next: a.nextFor(&h.S)}
	if saved != nil {
		j.Saved = saved.Number
	}
	if a.away != "" {
		j.Worktree = a.repo.Root()
	}
	if r != nil {
		j.Did, j.Operation, j.keptJSON, j.Note, j.Also = r.Event.Summary, r.Op, keptIn(r.Rescued), r.Note, r.Also
		j.Changes = append(j.Changes, r.Changes...)
	}
	if a.json {
		return a.answer(j)
	}
	if saved != nil {
		a.out("checkpoint %d: %s", saved.Number, saved.Summary)
	}
	if r != nil {
		for _, also := range r.Also {
			did, _ := movedAs(also)
			a.out("%s", did)
		}
	}
	if r == nil {
		where := fmt.Sprintf("%s is already checked out%s, at checkpoint %d", h.ID, a.inTree(), h.S.Current)
		if !current {
			where = "already on " + j.Head
		}
		a.out("%s; nothing to do", where)
	} else if did, again := movedAs(j.Did); r.Event.Turn.Worktree == "" { // no file was touched
		a.out("%s", did)
		if r.Note != "" {
			a.out("%s", r.Note)
		}
		a.out("%s: %s", again, a.typed("wfs "+again))
	} else {
		where := "on " + j.Head
		if head.Ref == "" {
			where = "at " + head.Commit.Short() + ", on no branch"
			if a.away != "" {
				where += ","
			}
		}
		if len(r.Also) > 0 {
			a.out("%s", did)
			did = "all in all"
		}
		a.out("%s: now %s%s, %s", did, where, a.inTree(), changedFiles(len(r.Changes)))
		// What was carried or left is said to be, and where.
		rescued := r.Rescued
		if r.Event.How == session.MoveNew && r.Event.Turn.Rescue != "" && len(h.S.Carried)+len(h.S.Left) > 0 {
			rescued = r.Event.Turn.Found
		}
		a.sayKept(wasThere, rescued, a.out)
		if r.Note != "" {
			a.out("%s", r.Note)
		}
		a.out("%s: %s", again, a.typed("wfs "+again))
	}
	if current || r == nil || r.Event.How == session.MoveNew {
		a.next(j.Next)
	}
	return nil
}

func (a *app) switchCmd() *cobra.Command {
	var dry bool
	c := &cobra.Command{
		Use: "switch SESSION|BRANCH|-", Short: "go to another session or branch",
		Long: `Switch checks out another session in this work tree, or a branch of yours. Edits in the session that you leave become a
checkpoint of it. Uncommitted changes on a branch of yours are saved there and come back when you switch to it again. A
dash is the previous session or branch, as for git switch. If a session and a branch have the same name, an open session
is meant, and the branch once the session is finished; wfs/NAME and heads/NAME say it exactly.`,
		Example: "  wfs switch csv-export\n  wfs switch main\n  wfs switch -\n  wfs switch csv-export --dry-run",
		Args: func(c *cobra.Command, args []string) error {
			if len(args) != 1 {
				return &usageError{"switch needs a session or branch", "wfs list"}
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error { return a.switchTo(c.Context(), args[0], dry) },
	}
	dryFlag(c, &dry)
	return c
}

func (a *app) switchTo(ctx context.Context, name string, dry bool) error {
	if err := a.beginOr(ctx, dry, "wfs switch", false); err != nil {
		return err
	}
	cur, err := a.current(ctx)
	if err != nil {
		return err
	}
	if name == "-" {
		if name, err = a.previous(ctx); err != nil {
			return err
		}
	}
	target, branch, err := a.destination(ctx, name)
	if err != nil {
		return a.noPlace(ctx, name, err)
	}
	if branch != "" {
		return a.leave(ctx, cur, branch, dry)
	}
	var held []session.ID
	if cur != "" && cur != target {
		held = append(held, cur)
	}
	if t, err := a.elsewhere(ctx, target); err != nil {
		return err
	} else if t != nil && !t.Gone {
		return &session.Refusal{Code: session.RefuseWorktree, Message: fmt.Sprintf("%s is checked out in another work tree: %s", target, t.Path),
			Hint: fmt.Sprintf(`cd "$(wfs path %s)"`, target)}
	}
	if dry {
		return a.preview(ctx, target, func(l *engine.Look) (engine.Preview, error) { return l.Enter(ctx) })
	}
	if err := a.hold("wfs switch", append(held, target)...); err != nil {
		return err
	}
	if err := a.leaveGone(ctx, target); err != nil {
		return err
	}
	saved, err := a.saveLeft(ctx, cur, target)
	if err != nil {
		return err
	}
	h, err := a.take(ctx, target)
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

// destination is the session that a name means, or the full name of a branch that is no session's. What is called exactly
// so comes first, a session before a branch; then the beginning of a session's name.
func (a *app) destination(ctx context.Context, name string) (target session.ID, branch string, err error) {
	all, err := a.repo.Sessions(ctx)
	if err != nil {
		return "", "", err
	}
	if slug, ok := strings.CutPrefix(name, session.BranchPrefix); ok {
		if id := session.ID(slug); all[id] != "" {
			return id, "", nil
		}
		return "", "", &session.Refusal{Code: session.RefuseNoSession, Message: fmt.Sprintf("no session %q", slug), Hint: a.pickHint(ctx)}
	}
	if id := session.Exactly(name); all[id] != "" {
		if tip, err := a.repo.Ref(ctx, "refs/heads/"+string(id)); err != nil || tip == "" {
			return id, "", err
		}
		if v, err := a.view(ctx, id); err != nil || v.Session.Status != session.StatusFinished { // its work is on that branch
			return id, "", nil
		}
	}
	refs := []string{"refs/heads/" + name}
	if strings.HasPrefix(name, "heads/") {
		refs = []string{"refs/" + name, refs[0]}
	} else if strings.HasPrefix(name, "refs/heads/") {
		refs = []string{name}
	}
	for _, ref := range refs {
		if strings.HasPrefix(ref, session.BranchPrefix) {
			continue
		}
		if tip, err := a.repo.Ref(ctx, ref); err == nil && tip != "" {
			return "", ref, nil
		}
	}
	target, err = a.resolve(ctx, name)
	return target, "", err
}

// previous is the branch that HEAD was on before, by its full name.
func (a *app) previous(ctx context.Context) (string, error) {
	branch, err := a.repo.Previous(ctx)
	if err != nil {
		return "", err
	}
	if branch == "" {
		return "", &session.Refusal{Code: session.RefuseNothing, Message: "git does not remember another branch that HEAD was on in this work tree", Hint: "wfs list"}
	}
	return branch, nil
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

// noPlace suggests the session or branch that may have been meant.
func (a *app) noPlace(ctx context.Context, name string, err error) error {
	var r *session.Refusal
	if !errors.As(err, &r) || r.Code != session.RefuseNoSession {
		return err
	}
	r = &session.Refusal{Code: r.Code, Message: fmt.Sprintf("no session or branch %q", name), Hint: r.Hint}
	if near := workflows.Suggest(name, a.places(ctx)); near != "" {
		r.Hint = "wfs switch " + near
	}
	return r
}

// places are the sessions, and the branches that are not theirs, by name; what cannot be read is left out.
func (a *app) places(ctx context.Context) []string {
	all, _ := a.repo.Sessions(ctx)
	names := sessionNames(all)
	branches, _ := a.repo.Branches(ctx)
	for _, ref := range sortedKeys(branches) {
		if !strings.HasPrefix(ref, session.BranchPrefix) {
			names = append(names, strings.TrimPrefix(ref, "refs/heads/"))
		}
	}
	return names
}

// saveLeft checkpoints the edits of the session that is left.
func (a *app) saveLeft(ctx context.Context, cur, target session.ID) (*session.Checkpoint, error) {
	if cur == "" || cur == target {
		return nil, nil
	}
	h, err := a.take(ctx, cur)
	if err != nil {
		return nil, err
	}
	if err := h.NoSurvivors(); err != nil {
		return nil, err
	}
	return h.Save(ctx, fmt.Sprintf("edits of %s, kept when it was left", cur))
}

func (a *app) leave(ctx context.Context, cur session.ID, branch string, dry bool) error {
	short := strings.TrimPrefix(branch, "refs/heads/")
	if head, err := a.repo.Head(ctx); err != nil {
		return err
	} else if head.Ref == branch && a.json {
		return a.answer(movedJSON{Version: jsonVersion, Did: "nothing", Session: cur, Head: short, Changes: []session.Change{}, Next: []string{}})
	} else if head.Ref == branch {
		a.out("HEAD is on %s already; nothing was moved", short)
		return a.sayParked(ctx, branch)
	}
	if cur == "" {
		return &session.Refusal{Code: session.RefuseNotCurrent, Message: "no session is current here: going from one branch of yours to another is git's business", Hint: "git switch " + short}
	}
	if dry {
		return a.preview(ctx, cur, func(l *engine.Look) (engine.Preview, error) { return l.Leave(ctx, branch) })
	}
	if err := a.hold("wfs switch", cur); err != nil {
		return err
	}
	h, err := a.take(ctx, cur)
	if err != nil {
		return err
	}
	if err := h.NoSurvivors(); err != nil {
		return err
	}
	if err := a.eng.Free(ctx, branch); err != nil { // before a checkpoint is made
		return err
	}
	saved, err := h.Save(ctx, fmt.Sprintf("edits of %s, kept when it was left", cur))
	if err != nil {
		return err
	}
	r, err := h.Leave(ctx, branch)
	if err != nil {
		return err
	}
	return a.sayMoved(h, r, saved)
}
