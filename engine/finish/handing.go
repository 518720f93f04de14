package finish

import (
	"context"
	"fmt"

	"github.com/wfs-dev/wfs/engine/checkpoint"
	"github.com/wfs-dev/wfs/internal/safetext"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/session/items"
)

// nothingToHand returns the refusal to hand over an unchanged tree. Its hint is not a plain `wfs run` if the session is
// completed or waits for approval, because such a run would do nothing either.
func (h *Finisher) nothingToHand(onto session.Commit) error {
	r := session.Refuse(session.RefuseNotGreen, "wfs run",
		"there is nothing to hand over: the files are the same as on the base")
	switch w := h.S.Waiting; {
	case h.S.Status == session.StatusWaiting && w != nil && w.Agree:
		r.Hint = `wfs reject -m "what is still missing" && wfs run, or wfs abandon`
	case h.S.Status == session.StatusCompleted:
		r.Hint = `wfs run --note "what is to be done", or wfs abandon`
	}
	if onto != h.S.Base {
		r.Message = "there is nothing to hand over: " + safetext.ShortRef(h.S.BaseRef) + " has all of it"
		if m := movedBase(&h.S); m != nil && m.Old != "" && m.New != "" {
			r.Message += fmt.Sprintf(", and was moved during a run, from %s to %s", m.Old.Short(), m.New.Short())
			r.Hint = fmt.Sprintf("git update-ref %s %s %s", m.Ref, m.Old, m.New)
		}
	}
	return r
}

// handing describes a handover.
type handing struct {
	checkpoint  *session.Checkpoint
	onto        session.Commit // the commit that the new branch starts from
	files, tree session.Tree   // tree of the work tree afterwards; tree of the commit
}

// handing plans a handover, or refuses it. snap is a snapshot of the current work tree.
func (h *Finisher) handing(ctx context.Context, o Options, snap session.Snapshot) (v handing, err error) {
	st := h.Git
	if v.checkpoint, err = h.handed(ctx, snap); err != nil {
		return v, err
	}
	if err := h.agreed(ctx, v.checkpoint, o); err != nil {
		return v, err
	}
	if there, err := st.Ref(ctx, o.Branch); err != nil || there != "" {
		if err == nil {
			err = &session.Refusal{Code: session.RefuseBranch,
				Message: fmt.Sprintf("branch %s already exists", safetext.ShortRef(o.Branch)), Hint: "wfs finish --branch NAME"}
		}
		return v, err
	}
	if err := h.MayMake(ctx, o.Branch, "wfs finish --branch NAME"); err != nil {
		return v, err
	}
	if v.onto, err = h.handoverBase(ctx, snap.Head.Commit); err != nil {
		return v, err
	}
	base, err := st.TreeOf(ctx, v.onto)
	if err != nil {
		return v, err
	}
	if v.files = v.checkpoint.Tree; !o.Keep { // with Keep the documents stay, because the session's commits contain them
		if v.files, err = st.HandoverTree(ctx, v.checkpoint.Tree, base, ""); err != nil {
			return v, err
		}
	}
	v.tree = v.files
	if o.WithoutCarried {
		if v.tree, err = h.withoutCarried(ctx, v.checkpoint, o, base); err != nil {
			return v, err
		}
	}
	if base == v.tree && !o.Keep {
		return v, h.nothingToHand(v.onto)
	}
	return v, nil
}

// handedAlready is called if the session is finished on the requested branch already. It returns nil if HEAD is on that
// branch, because the earlier command may have been killed before it printed its result; otherwise it refuses.
func (h *Finisher) handedAlready(ctx context.Context, f *session.Finished) error {
	head, err := h.Git.Head(ctx)
	if err != nil || head.Ref == f.Branch {
		return err
	}
	there, err := h.Git.Ref(ctx, f.Branch)
	if err != nil {
		return err
	}
	hint := "git switch " + safetext.ShortRef(f.Branch)
	if there == "" {
		hint = fmt.Sprintf("git branch %s %s", safetext.ShortRef(f.Branch), f.Commit)
	}
	return &session.Refusal{Code: session.RefuseFinal,
		Message: fmt.Sprintf("%s is already finished, on branch %s", h.ID, safetext.ShortRef(f.Branch)), Hint: hint}
}

// handoverBase returns the parent of the handover commit: the session's base, or a later commit of its base branch that
// the session contains by now, after the user's rebase or merge. On the old base, the commit would contain changes of
// the base branch as if they were the session's.
func (h *Finisher) handoverBase(ctx context.Context, tip session.Commit) (session.Commit, error) {
	st, base := h.Git, h.S.Base
	if h.S.BaseRef == "" {
		return base, nil
	}
	theirs, err := st.Ref(ctx, h.S.BaseRef)
	if err != nil || theirs == "" || theirs == base {
		return base, err
	}
	if m := movedBase(&h.S); m != nil && m.Old != "" && m.New != "" {
		if own, err := h.inLine(ctx, h.S.At(0).Code, m.New, theirs); err != nil {
			return base, err
		} else if own { // a run has moved the base branch to the session's own commits
			theirs = m.Old
		}
	}
	common, err := h.git.MergeBase(ctx, theirs, tip)
	if err != nil || common == "" || common == base {
		return base, err
	}
	later, err := st.IsAncestor(ctx, base, common)
	if err != nil || !later {
		return base, err
	}
	return common, nil
}

// movedBase returns the ref move by which a run has moved the session's base branch, if no person has seen it yet, nil
// for none.
func movedBase(s *session.Session) *session.RefMove {
	if s.Unseen != nil {
		for _, m := range s.Unseen.Refs {
			if m.Ref == s.BaseRef {
				return &m
			}
		}
	}
	return nil
}

// inLine reports whether each commit is an ancestor of the next.
func (h *Finisher) inLine(ctx context.Context, commits ...session.Commit) (bool, error) {
	for i := range len(commits) - 1 {
		if is, err := h.Git.IsAncestor(ctx, commits[i], commits[i+1]); err != nil || !is {
			return false, err
		}
	}
	return true, nil
}

// handed returns the checkpoint to hand over: the current one, if the gates have passed it and no file has changed
// since. Otherwise it refuses.
func (h *Finisher) handed(ctx context.Context, snap session.Snapshot) (*session.Checkpoint, error) {
	c := h.S.At(h.S.Current)
	if !c.Green && c.Class == session.ClassRejected { // a rejection does not cancel gate results of the same tree
		for g := range h.S.Back() {
			if g.Green && g.Number > 0 && g.Tree == c.Tree {
				c = g
				break
			}
		}
	}
	if !c.Green {
		r := &session.Refusal{Code: session.RefuseNotGreen,
			Message: fmt.Sprintf("checkpoint %d did not pass (%s)", c.Number, c.Summary), Hint: "wfs run"}
		if c.Verdict == session.Pass {
			r.Message = fmt.Sprintf("no gate has run for checkpoint %d (%s)", c.Number, c.Summary)
		}
		if w := h.S.Waiting; h.S.Status == session.StatusWaiting && w.Approve {
			r.Message += fmt.Sprintf(", and %s has not approved it yet", h.S.Phase)
			r.Hint = "wfs approve"
		}
		if c.Trigger == session.TriggerBirth || c.Trigger == session.TriggerBaseline {
			r.Message = fmt.Sprintf("no attempt has passed yet: checkpoint %d is where the session began", c.Number)
		}
		if h.S.Status == session.StatusBlocked { // a plain run would only repeat this hint
			r.Hint = h.S.Blocked.Hint
		}
		// completed work was edited: a run would only judge the edits
		edited := h.S.Status == session.StatusCompleted && c.Verdict == "" && !h.S.AsksMore()
		if edited {
			r.Message = fmt.Sprintf("checkpoint %d is not judged yet (%s)", c.Number, c.Summary)
		}
		for g := range h.S.Back() {
			if g.Green && g.Number > 0 && g.Number < c.Number && h.rejected(g.Tree) == nil {
				r.Message += fmt.Sprintf("; the last one that passed is %d (%s)", g.Number, g.Summary)
				r.Hint = fmt.Sprintf("wfs resume @%d && wfs finish", g.Number)
				now := h.S.Current
				h.S.Current = g.Number // as if the user had gone back to this checkpoint
				open, err := h.inTheWay(ctx, g)
				h.S.Current = now
				if err != nil {
					return c, err
				}
				if len(open) > 0 || items.Less(&h.S) {
					r.Hint += ` --anyway "why"`
				}
				if edited {
					r.Hint = "wfs run, to judge it, or " + r.Hint + ", to hand over without it"
				}
				break
			}
		}
		return c, r
	}
	if snap.Tree != c.Tree {
		changes, err := h.Trees.Changes(ctx, c.Tree, snap.Tree)
		if err != nil {
			return c, err
		}
		return c, &session.Refusal{Code: session.RefuseNotGreen,
			Hint: fmt.Sprintf("wfs run, to have them judged, or wfs resume @%d, to set them aside", c.Number),
			Message: fmt.Sprintf("%d %s changed since checkpoint %d was judged: %s", len(changes),
				safetext.Word(len(changes), "file has", "files have"), c.Number, checkpoint.Paths(changes))}
	}
	return c, nil
}

func (h *Finisher) withoutCarried(ctx context.Context, c *session.Checkpoint, o Options,
	base session.Tree) (session.Tree, error) {
	if len(h.S.Carried) == 0 || o.Keep || h.S.Fork != nil {
		why := "this session did not start with uncommitted changes"
		switch {
		case o.Keep:
			why = "--keep keeps the checkpoints as they are, including your uncommitted changes"
		case len(h.S.Carried) > 0:
			why = fmt.Sprintf("this session is a fork of %s, which started with them: they cannot be separated from its work", h.S.Parent)
		}
		return "", &session.Refusal{Code: session.RefuseUsage, Message: why, Hint: "wfs finish"}
	}
	return h.Git.HandoverTree(ctx, c.Tree, base, h.S.At(0).Tree)
}
