package transition

import (
	"context"
	"fmt"

	"github.com/wfs-dev/wfs/engine/checkpoint"
	"github.com/wfs-dev/wfs/engine/decide"
	"github.com/wfs-dev/wfs/internal/safetext"
	"github.com/wfs-dev/wfs/session"
)

// Enter makes the session current in this work tree. It returns nil if the session is current already.
func (h *Going) Enter(ctx context.Context) (*Relocated, error) {
	r, needed, err := h.entering(ctx)
	if err != nil || !needed {
		return nil, err
	}
	return h.Move(ctx, r)
}

// entering plans the move of Enter. `needed` is false if HEAD is on the session's branch already.
func (h *Going) entering(ctx context.Context) (r Relocation, needed bool, err error) {
	head, err := h.Git.Head(ctx)
	if err != nil || head.Ref == h.S.Branch() {
		return r, false, err
	}
	tip, tree, err := h.tipTree(ctx)
	if err != nil {
		return r, false, err
	}
	return Relocation{How: session.MoveSwitch,
		Summary: fmt.Sprintf("switch from %s to %s", safetext.ShortRef(head.Name()), h.ID),
		Tree:    tree, Index: tree, Head: h.S.Branch(), Tip: tip, To: -1}, true, nil
}

// tipTree returns the tip of the session's branch and the tip's tree. It refuses if the branch does not exist or
// another work tree has it checked out.
func (h *Going) tipTree(ctx context.Context) (tip session.Commit, tree session.Tree, err error) {
	other, err := h.Git.ElsewhereOn(ctx, h.S.Branch())
	if err != nil {
		return "", "", err
	}
	if other != "" {
		return "", "", &session.Refusal{Code: session.RefuseWorktree,
			Message: fmt.Sprintf("%s is checked out in %s", safetext.ShortRef(h.S.Branch()), other),
			Hint:    fmt.Sprintf(`cd "$(wfs path %s)"`, h.ID)}
	}
	tip, err = h.Git.Ref(ctx, h.S.Branch())
	if err != nil {
		return "", "", err
	}
	if tip == "" {
		return "", "", checkpoint.BranchGone(&h.S)
	}
	tree, err = h.Git.TreeOf(ctx, tip)
	return tip, tree, err
}

// Leave switches from the session to a branch of the user. It restores uncommitted changes that were left on that
// branch. It returns nil if HEAD is on the branch already.
func (h *Going) Leave(ctx context.Context, branch string) (*Relocated, error) {
	r, note, needed, err := h.leaving(ctx, branch)
	if err != nil || !needed { // HEAD may be there because opening the session has completed an interrupted switch
		return nil, err
	}
	out, err := h.Move(ctx, r)
	if out != nil {
		out.Note = note
	}
	return out, err
}

// leaving plans the move of Leave. `note` tells the user about uncommitted changes that were left on the branch.
// `needed` is false if HEAD is on the branch already.
func (h *Going) leaving(ctx context.Context, branch string) (r Relocation, note string, needed bool, err error) {
	head, err := h.Git.Head(ctx)
	if err != nil || head.Ref == branch {
		return r, "", false, err
	}
	if err := h.Free(ctx, branch); err != nil {
		return r, "", false, err
	}
	tip, err := h.Git.Ref(ctx, branch)
	if err != nil {
		return r, "", false, err
	}
	tree, err := h.Git.TreeOf(ctx, tip)
	if err != nil {
		return r, "", false, err
	}
	r = Relocation{How: session.MoveLeave, Summary: fmt.Sprintf("switch from %s to %s", h.ID, safetext.ShortRef(branch)),
		Tree: tree, Index: tree, Head: branch, Tip: tip, To: -1}
	parked, err := h.Parked(ctx, branch)
	if err != nil {
		return r, "", false, err
	}
	back, note := h.comesBack(ctx, parked, branch, tip)
	if back != nil {
		r.Tree, r.Index, r.raw = back.TreeOld, back.IndexOld, back.RawOld
	}
	return r, note, true, nil
}

// OnlyEdit reports whether the work tree differs from the session's current checkpoint in the file `name` alone.
func (h *Going) OnlyEdit(ctx context.Context, name string) (bool, error) {
	c := h.S.At(h.S.Current)
	if name == "" || c == nil {
		return false, nil
	}
	snap, err := h.Snapshot(ctx)
	if err != nil || snap.Head.Commit != c.Code {
		return false, err
	}
	changes, err := h.Git.Changes(ctx, c.Tree, snap.Tree)
	return len(changes) == 1 && changes[0].Path == name, err
}

// Resume makes the session current and ready to run, at the checkpoint with the number `at`. With -1 the current
// checkpoint and the edits stay, and an abandoned session is revived. Resume starts no agent.
func (h *Going) Resume(ctx context.Context, at int) (*Relocated, error) {
	if h.S.Status == session.StatusAbandoned && at < 0 {
		if _, _, err := h.tipTree(ctx); err != nil { // do not revive a session that cannot be entered
			return nil, err
		}
		n, err := h.Revive(ctx)
		if err != nil {
			return nil, err
		}
		out, err := h.Enter(ctx)
		if err == nil && out == nil {
			out = recorded(n, reviveSummary(h.ID))
		} else if err == nil {
			out.Note = "it was abandoned; restored"
		}
		return out, err
	}
	if h.S.Status.Final() && at < 0 {
		return nil, h.isFinal()
	}
	if at < 0 {
		out, err := h.Enter(ctx)
		if err != nil {
			return out, err
		}
		switch {
		case h.S.Status != session.StatusInterrupted && h.S.Status != session.StatusRunning:
		case out != nil || !decide.JudgedNext(&h.S):
			err = h.Append(session.Paused{Why: "resumed after an interruption; the edits were kept"})
		case h.S.Status == session.StatusRunning: // no file was moved: the attempt is judged with the current edits
			err = h.Append(session.Interrupted{Why: "killed", Unjudged: true})
		}
		return out, err
	}
	r, err := h.resumeAt(ctx, at)
	if err != nil {
		return nil, err
	}
	return h.Move(ctx, r)
}

func (h *Going) resumeAt(ctx context.Context, at int) (Relocation, error) {
	c := h.S.At(at)
	if c == nil {
		return Relocation{}, &session.Refusal{Code: session.RefuseNoSuchCP,
			Message: fmt.Sprintf("%s has no checkpoint %d: its latest is %d", h.ID, at, h.S.NextNumber()-1),
			Hint:    "wfs log " + string(h.ID)}
	}
	tip, _, err := h.tipTree(ctx)
	if err != nil { // the branch must exist and be checked out nowhere else
		return Relocation{}, err
	}
	docs, err := h.DocsAt(ctx, at)
	if err != nil {
		return Relocation{}, err
	}
	r := Relocation{How: session.MoveResume, Summary: fmt.Sprintf("resume %s at checkpoint %d", h.ID, at),
		Tree: c.Tree, Index: c.Tree,
		Head: h.S.Branch(), Tip: tip, To: at, Docs: docs}
	if tip != c.Code {
		r.refs = []session.RefMove{{Ref: h.S.Branch(), Old: tip, New: c.Code}}
	}
	return r, nil
}

// DocsAt returns the ledger commit that recorded the checkpoint `number`. The evidence in this commit is that of the
// checkpoint's own lap; newer ledger commits may have that of later laps.
func (h *Going) DocsAt(ctx context.Context, number int) (session.Commit, error) {
	commits, err := h.Git.Ledgers(ctx, h.ID)
	if err != nil {
		return "", err
	}
	for _, c := range commits {
		events, err := h.EventsOf(ctx, c.Commit)
		if err != nil {
			return "", err
		}
		if n := len(events); n == 0 {
			continue
		} else if b, ok := events[n-1].Body.(session.Checkpointed); !ok || b.Number != number {
			continue
		}
		return c.Commit, nil
	}
	return "", fmt.Errorf("the history of %s does not contain checkpoint %d", h.ID, number)
}

func (h *Going) isFinal() *session.Refusal {
	return &session.Refusal{Code: session.RefuseFinal, Message: fmt.Sprintf("%s is %s", h.ID, h.S.Status),
		Hint: fmt.Sprintf("wfs resume %s@%d", h.ID, h.S.Current)}
}
