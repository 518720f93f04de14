package transition

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/engine/hand"
	"github.com/wfs-dev/wfs/internal/safetext"
	"github.com/wfs-dev/wfs/session"
)

// arrive publishes a move whose files are in place already: it writes the ledger commit, then moves the index, the refs
// and HEAD.
func (h *Mover) arrive(ctx context.Context, m session.MoveStarted, changes []session.Change) (*Relocated, error) {
	if strings.HasPrefix(m.Turn.HeadNew, "refs/") {
		release, err := h.Git.HoldHeads(ctx, m.Turn.HeadNew)
		if err == nil {
			defer release()
			err = h.mayArrive(ctx, m)
		}
		if err != nil {
			return nil, &unmoved{err}
		}
	}
	left, err := h.overtaken(ctx, m.Turn.Refs)
	if err != nil {
		return nil, err
	}
	m.Stuck, m.Turn.Found = "", h.Halfway
	if m.Docs != "" { // read the documents here, because recovery after a kill calls this function, too
		docs, err := h.documentsOf(ctx, m.Docs, session.FileLap, session.FileEvidence)
		if err != nil {
			return nil, err
		}
		for name, data := range docs {
			h.KeepDoc(name, data)
		}
	}
	d := session.Draft{NoCode: true, Turn: m.Turn, Anchors: left, LedgerMessage: hand.LedgerMessage(h.ID, m.Summary)}
	moved := session.Moved{MoveStarted: m}
	var n int64
	if _, err := h.Turn(ctx, d, func(made session.Made) (session.Body, error) {
		moved.Turn = made.Turn
		return moved, nil
	}, func() (err error) {
		n, err = h.LogOp(ctx, h.Op(session.Event{At: h.Clock.Now(), Body: moved}, string(m.How), m.Summary, m.Undoes,
			moved.Turn))
		return err
	}); err != nil {
		return nil, err
	}
	return &Relocated{Op: n, Event: moved, Changes: changes, Rescued: m.Turn.Rescues()}, h.Files.Unclaim(m.Turn.Worktree)
}

// completeMove completes a move that was interrupted or failed. It saves the current files first, because they may
// contain later edits. If HEAD has moved since the move began, it gives the move up and returns nil without an error.
func (h *Mover) completeMove(ctx context.Context, m session.MoveStarted) (*Relocated, error) {
	snap, err := h.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	if !h.headAsLeft(snap.Head, m.Turn) {
		return nil, h.giveUpMove(safetext.ShortRef(snap.Head.Name()))
	}
	plan, planned := h.PlanMove(ctx, snap, m.Turn.Tree, m.Turn.Raw)
	plan.Index = m.Turn.Index
	snap.Raw = plan.Raw
	foreign := snap.Index != m.Turn.Index && snap.Index != m.Turn.IndexOld
	if snap.Tree != m.Turn.Tree || foreign || snap.Raw != "" {
		if err := h.rescueHalfWay(ctx, m, snap); err != nil {
			return nil, err
		}
	}
	// the user has staged something since, which is rescued now; with this index, the next plain commit would undo the
	// move
	if foreign {
		m.Turn.IndexOld = snap.Index
	}
	var inTheWay *session.Refusal
	if errors.As(planned, &inTheWay) {
		return nil, planned
	}
	if planned == nil {
		planned = h.mayArrive(ctx, m)
	}
	if planned == nil {
		planned = h.Git.MoveTree(ctx, plan)
	}
	if planned != nil {
		return nil, &unmoved{planned}
	}
	return h.arrive(ctx, m, plan.Changes)
}

// lookAgain retries a move that failed with `err` because files were written to after they had been saved. Each try
// saves the current files as well. An agent that was not stopped, or an editor, may keep writing, so there are only a
// few tries. If the move cannot be completed, lookAgain undoes it.
func (h *Mover) lookAgain(ctx context.Context, m session.MoveStarted, err error) (*Relocated, error) {
	const tries = 3
	for range tries {
		if !errors.Is(err, session.ErrTouched) {
			break
		}
		var r *Relocated
		if r, err = h.completeMove(ctx, m); err == nil && r == nil {
			err = &session.Refusal{Code: session.RefuseMoved,
				Message: "stopped, because HEAD was moved by another process: " + m.Summary + keptHalfWay(h.Halfway),
				Hint:    "wfs status"}
		}
		if err == nil {
			return r, nil
		}
	}
	var failed *unmoved
	if errors.As(err, &failed) {
		err = h.goBack(ctx, m, failed.cause)
	}
	return nil, h.standsHalfWay(ctx, m, err)
}

// overtaken returns the old commits of ref moves that the session's ledger does not reach. These are commits on the
// session's branch that no checkpoint has adopted. Perhaps no other ref reaches them, so the move's ledger commit keeps
// them.
func (h *Mover) overtaken(ctx context.Context, refs []session.RefMove) ([]session.Commit, error) {
	var list []session.Commit
	for _, m := range refs {
		known := func(c session.Checkpoint) bool { return c.Code == m.Old }
		if m.Old == "" || slices.ContainsFunc(h.S.Checkpoints, known) {
			continue
		}
		kept, err := h.Git.IsAncestor(ctx, m.Old, h.Tip)
		if err != nil {
			return nil, err
		}
		if !kept {
			list = append(list, m.Old)
		}
	}
	return list, nil
}

// mayArrive refuses to move HEAD to a branch that has changed since the move began, or that another work tree has
// checked out: the next plain commit would undo commits made there meanwhile.
func (h *Mover) mayArrive(ctx context.Context, m session.MoveStarted) error {
	t := m.Turn
	if !strings.HasPrefix(t.HeadNew, "refs/") {
		return nil
	}
	if err := h.Free(ctx, t.HeadNew); err != nil || t.HeadNewCommit == "" {
		return err
	}
	now, err := h.Git.Ref(ctx, t.HeadNew)
	if err == nil && now != t.HeadNewCommit {
		err = &session.Refusal{Code: session.RefuseMoved, Hint: h.goThere(ctx, m),
			Message: fmt.Sprintf("%s was moved by another process: it was at %s, now it is at %s", safetext.ShortRef(t.HeadNew),
				t.HeadNewCommit.Short(), orNone(now))}
	}
	return err
}

// goThere returns the command to type to start a refused move again.
func (h *Mover) goThere(ctx context.Context, m session.MoveStarted) string {
	switch m.How {
	case session.MoveSwitch, session.MoveLeave:
		return "wfs switch " + h.SwitchName(ctx, m.Turn.HeadNew)
	case session.MoveNew:
		return "wfs switch " + string(h.ID)
	}
	return "wfs status, then run it again"
}

// headAsLeft reports whether HEAD is still where it was when the move began. A move changes HEAD only after the ledger.
// So until then, another process has changed it, even if HEAD is at the move's own target.
func (h *Mover) headAsLeft(head session.Head, t session.Turn) bool {
	if t.HeadNew == "" { // the move keeps HEAD on the session's branch
		return head.Ref == h.S.Branch() && head.Commit == t.HeadOldCommit
	}
	return head.Name() == t.HeadOld && head.Commit == t.HeadOldCommit
}

// giveUpMove drops a half-done move without changing any file. The user has moved HEAD or committed since the move
// began, so the files are the user's. `head` is where HEAD is now, for people.
func (h *Mover) giveUpMove(head string) error {
	if err := h.Append(session.Dropped{Why: "HEAD was moved by another process during the switch; it is on " + head,
		Move: true}); err != nil {
		return err
	}
	return h.Files.Unclaim(h.Git.Worktree())
}
