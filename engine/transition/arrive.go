package transition

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/engine/hand"
	"github.com/wfs-dev/wfs/session"
)

// arrive makes a move true whose files are in place.
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
	if m.Docs != "" { // read here, so that one who comes after a kill does so too
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

// completeMove carries a move to its end that a dead process began. What is in the work tree now is kept first: it may
// hold edits that were made since.
func (h *Mover) completeMove(ctx context.Context, m session.MoveStarted) (*Relocated, error) {
	snap, err := h.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	if !h.headAsLeft(snap.Head, m.Turn) {
		return nil, h.giveUpMove(session.ShortRef(snap.Head.Name()))
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
	if foreign { // staged since, and rescued: an index that stayed would take the move back with the next plain commit
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

// lookAgain carries a move on whose files somebody wrote to after they had been kept: what is there now is kept
// as well. An agent that nobody ended, or an editor, may do so for ever, so it is tried a few times only. A
// move that cannot be carried on is taken back.
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

// overtaken are the commits that refs are moved away from and that the session's ledger does not lead to: commits that
// somebody made on its branch, and that no checkpoint has adopted. No other ref need lead to them.
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

// mayArrive refuses to take HEAD to a branch that is not what it was when the move began, or that another work tree has
// got: the next plain commit would take back what somebody has committed there meanwhile.
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
			Message: fmt.Sprintf("%s was moved by another process: it was at %s, now it is at %s", session.ShortRef(t.HeadNew),
				orNone(now), t.HeadNewCommit.Short())}
	}
	return err
}

// goThere is the command that begins a move anew.
func (h *Mover) goThere(ctx context.Context, m session.MoveStarted) string {
	switch m.How {
	case session.MoveSwitch, session.MoveLeave:
		return "wfs switch " + h.SwitchName(ctx, m.Turn.HeadNew)
	case session.MoveNew:
		return "wfs switch " + string(h.ID)
	}
	return "wfs status, then run it again"
}

// headAsLeft reports whether HEAD is where a move began. Where the move goes to nobody but somebody else has taken it,
// before the ledger has moved.
func (h *Mover) headAsLeft(head session.Head, t session.Turn) bool {
	if t.HeadNew == "" { // within the session's branch
		return head.Ref == h.S.Branch() && head.Commit == t.HeadOldCommit
	}
	return head.Name() == t.HeadOld && head.Commit == t.HeadOldCommit
}

// giveUpMove leaves a half-made move as it is: somebody has taken HEAD elsewhere since, or has committed what he found,
// and the files are his.
func (h *Mover) giveUpMove(head string) error {
	if err := h.Append(session.Dropped{Why: "HEAD was moved by another process during the switch; it is on " + head,
		Move: true}); err != nil {
		return err
	}
	return h.Files.Unclaim(h.Git.Worktree())
}
