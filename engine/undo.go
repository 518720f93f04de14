package engine

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/session/fold"
	"github.com/wfs-dev/wfs/session/oplog"
)

// Undoable returns what an undo takes back, in that order: the newest operation of this work tree that is not
// taken back already, and what the same command had done before it.
func (e *Engine) Undoable(ctx context.Context) ([]session.Op, error) {
	undo, redo, err := e.standing(ctx)
	if err == nil && len(undo) == 0 {
		r := &session.Refusal{Code: session.RefuseNothing, Message: "nothing to undo in this work tree",
			Hint: "wfs undo --list"}
		if len(redo) > 0 {
			r.Message, r.Hint = "everything is already undone in this work tree", "wfs redo"
		}
		err = r
	}
	return oplog.Together(undo), err
}

// Redoable returns the undos that a redo takes back, in that order.
func (e *Engine) Redoable(ctx context.Context) ([]session.Op, error) {
	_, redo, err := e.standing(ctx)
	if err == nil && len(redo) == 0 {
		err = &session.Refusal{Code: session.RefuseNothing,
			Message: "nothing to redo in this work tree: nothing was undone since the last operation", Hint: "wfs undo --list"}
	}
	return oplog.Together(redo), err
}

func (e *Engine) standing(ctx context.Context) (undo, redo []session.Op, err error) {
	ops, err := e.Store.Ops(ctx)
	if err != nil {
		return nil, nil, err
	}
	undo, redo = oplog.Standing(ops)
	return undo, redo, nil
}

// logOp appends an operation to the log. What one process logs was one command.
func (e *Engine) logOp(ctx context.Context, op session.Op) (int64, error) {
	op.With = e.logged
	n, err := e.Store.LogOp(ctx, op)
	if err == nil {
		e.logged = n
	}
	return n, err
}

// Undo takes an operation of this session back: files, index, HEAD and refs as they were before it, each ref only if it
// is still where the operation left it, and what the operation changed in what is said of the session. Edits made since
// are rescued, and come back with the redo, which is the undo of an undo.
func (h *Hand) Undo(ctx context.Context, op session.Op) (*Relocated, error) {
	v, err := h.reverse(ctx, op)
	if err != nil {
		return nil, err
	}
	var n int64
	switch {
	case v.deletes:
		n, err = h.Delete(ctx, summaryOfUndo(op), op.Number)
	case v.record:
		n, err = h.takeBack(ctx, op, v.turning, v.former)
	default:
		return h.move(ctx, v.relocation)
	}
	return recorded(n, summaryOfUndo(op)), err
}

// reversal is what takes an operation back: a deletion, a record or a move.
type reversal struct {
	deletes, record bool
	turning         turning        // with record
	former          session.Former // with record
	relocation      relocation
}

// reverse plans how an operation is taken back, or done again, and refuses what cannot be.
func (h *Hand) reverse(ctx context.Context, op session.Op) (v reversal, err error) {
	kind, redo, err := h.e.original(ctx, op)
	switch {
	case err != nil:
		return v, err
	case kind == OpDelete, kind == OpRestore:
		v.deletes = true
		return v, h.mayDeleteAgain(ctx, op)
	case isRecord(kind, op):
		v.record = true
		v.turning, v.former, err = h.planTakeBack(ctx, op)
		return v, err
	}
	r := relocation{how: session.MoveUndo, summary: summaryOfUndo(op), tree: op.Turn.TreeOld, index: op.Turn.IndexOld,
		raw: op.Turn.RawOld,
		// the files were the user's before and after
		head: op.Turn.HeadOld, tip: op.Turn.HeadOldCommit, to: -1, undoes: op.Number, stay: isCheckpoint(kind)}
	if kind == string(session.MoveNew) && !redo {
		r.status = session.StatusAbandoned // it was never not there
	} else if err := h.bringBack(ctx, op, &r); err != nil {
		return v, err
	}
	r.refs, err = h.asLeft(ctx, op, r.to)
	v.relocation = r
	return v, err
}

// asLeft refuses unless HEAD and every ref are where an operation left them, and where HEAD goes back to is where it
// was. It returns the moves that take the operation back. to is the checkpoint that becomes current by that, if any.
func (h *Hand) asLeft(ctx context.Context, op session.Op, to int) ([]session.RefMove, error) {
	head, err := h.e.Store.Head(ctx)
	if err != nil {
		return nil, err
	}
	on := op.Turn.HeadNew
	if on == "" { // the operation moved the session's branch below HEAD
		on = h.S.Branch()
	}
	if nameOf(head) != on {
		hint, err := h.backTo(ctx, op, head, on)
		if err != nil {
			return nil, err
		}
		return nil, movedOn(op, "HEAD", place(nameOf(head)), place(on), hint)
	}
	var moves []session.RefMove
	for _, m := range slices.Backward(op.Turn.Refs) {
		now, err := h.e.Store.Ref(ctx, m.Ref)
		if err != nil {
			return nil, err
		}
		if now != m.New {
			return nil, movedOn(op, short(m.Ref), orNone(now), orNone(m.New), h.otherwise(ctx, op, to))
		}
		moves = append(moves, session.RefMove{Ref: m.Ref, Old: m.New, New: m.Old})
	}
	if err := h.e.mayMakeAll(ctx, moves); err != nil {
		return nil, err
	}
	back := op.Turn.HeadOld
	if back == "" { // HEAD stayed on its branch
		back = on
	}
	moved := func(m session.RefMove) bool { return m.Ref == back }
	if strings.HasPrefix(back, "refs/") && back != head.Ref {
		if err := h.e.Free(ctx, back); err != nil {
			return nil, err
		}
	}
	if !strings.HasPrefix(back, "refs/") || op.Turn.HeadOldCommit == "" || slices.ContainsFunc(op.Turn.Refs, moved) {
		return moves, nil
	}
	// Its files would be older than the branch by now, and the next commit there would take the newer ones back.
	now, err := h.e.Store.Ref(ctx, back)
	if err == nil && now != op.Turn.HeadOldCommit {
		err = movedOn(op, short(back), orNone(now), orNone(op.Turn.HeadOldCommit), h.otherwise(ctx, op, to))
	}
	return moves, err
}

// backTo is the command that brings HEAD to where an operation left it, or on without it: a commit that was made on no
// branch since, and that no ref leads to, gets a branch first.
func (h *Hand) backTo(ctx context.Context, op session.Op, head session.Head, on string) (string, error) {
	switch {
	case on == h.S.Branch():
		return "wfs resume " + string(h.ID), nil
	case strings.HasPrefix(on, "refs/"):
		return "git switch " + short(on), nil
	}
	if head.Ref == "" {
		loose, err := h.e.Store.Unreachable(ctx, []session.Commit{head.Commit})
		if err != nil {
			return "", err
		}
		if len(loose) > 0 {
			return fmt.Sprintf("git switch -c NAME && wfs resume %s", h.ID), nil
		}
	}
	verb, _ := verbOf(op)
	return fmt.Sprintf("git switch --detach %s && wfs %s", place(on), verb), nil
}

// place names where HEAD is, for people.
func place(on string) string {
	if strings.HasPrefix(on, "refs/") {
		return short(on)
	}
	return session.Commit(on).Short()
}

// otherwise is the command that leads about where an undo would have led.
func (h *Hand) otherwise(ctx context.Context, op session.Op, to int) string {
	switch back := op.Turn.HeadOld; {
	case to >= 0:
		return fmt.Sprintf("wfs resume %s@%d", h.ID, to)
	case back == "":
		return "wfs log " + string(h.ID)
	case strings.HasPrefix(back, "refs/heads/"):
		return "wfs switch " + h.e.SwitchName(ctx, back)
	}
	return "wfs undo --list"
}

func orNone(c session.Commit) string {
	if c == "" {
		return "nothing"
	}
	return c.Short()
}

// summaryOfUndo names what is taken back; taking an undo back is doing it again.
func summaryOfUndo(op session.Op) string {
	if again, ok := strings.CutPrefix(op.Summary, "undo: "); ok && op.Undoes > 0 {
		return "redo: " + again
	}
	if again, ok := strings.CutPrefix(op.Summary, "redo: "); ok && op.Undoes > 0 {
		return "undo: " + again
	}
	return "undo: " + op.Summary
}

// verbOf says which command takes an operation back, and what that is about: taking an undo back is a redo.
func verbOf(op session.Op) (verb, what string) {
	verb, what, _ = strings.Cut(summaryOfUndo(op), ": ")
	return verb, what
}

func movedOn(op session.Op, what, where, left, hint string) error {
	verb, about := verbOf(op)
	return &session.Refusal{Code: session.RefuseMoved, Hint: hint,
		Message: fmt.Sprintf("cannot %s %q: %s is now at %s, and that operation left it at %s", verb, about, what, where,
			left)}
}

// bringBack completes an undo with what its operation changed in what is said of the session. The documents come along.
func (h *Hand) bringBack(ctx context.Context, op session.Op, r *relocation) error {
	t, err := h.around(ctx, op)
	if err != nil {
		return err
	}
	f := oplog.FormerOf(&t.before, &t.after)
	if t.before.Current != t.after.Current {
		r.to, f = t.before.Current, oplog.WithStand(f, &t.before)
	}
	if !f.Nothing() {
		r.former = &f
	}
	if r.to < 0 {
		return nil
	}
	r.docs = t.ledger
	return nil
}

// RanSince is how many attempts of agents and commands were judged since an operation: no undo takes those back.
func (h *Hand) RanSince(ctx context.Context, op session.Op) (int, error) {
	commits, err := h.e.Store.Ledgers(ctx, h.ID)
	i := slices.IndexFunc(commits, func(c session.LedgerCommit) bool { return c.Commit == op.Ledger })
	if err != nil || i < 0 {
		return 0, err
	}
	then, err := h.e.cached(ctx, h.ID, commits[i].Commit)
	return int(h.S.Used.Attempts - then.Used.Attempts), err
}

// turning is a session right before and right after one of its turns.
type turning struct {
	before, after session.Session
	ledger        session.Commit // the one before
}

// around reads what an operation made of its session.
func (h *Hand) around(ctx context.Context, op session.Op) (turning, error) {
	var t turning
	commits, err := h.e.Store.Ledgers(ctx, h.ID)
	if err != nil {
		return t, err
	}
	i := slices.IndexFunc(commits, func(c session.LedgerCommit) bool { return c.Commit == op.Ledger })
	if i < 0 || i+1 >= len(commits) {
		return t, fmt.Errorf("operation %d: the history of %s does not contain %s with its predecessor", op.Number, h.ID,
			op.Ledger.Short())
	}
	if t.after, err = h.e.cached(ctx, h.ID, commits[i].Commit); err != nil {
		return t, err
	}
	if t.before, err = h.e.cached(ctx, h.ID, commits[i+1].Commit); err != nil {
		return t, err
	}
	events, err := h.e.eventsOf(ctx, op.Ledger)
	if err != nil || len(events) == 0 {
		return t, err
	}
	t.ledger = commits[i+1].Commit
	t.before, err = fold.Extend(t.before, events[:begins(events)])
	return t, err
}

// begins is the index of the first event of an operation, given those of its ledger commit, which it ends.
func begins(events []session.Event) int {
	i := len(events) - 1
	before := func(kind session.Kind) {
		for i > 0 && events[i].Kind() != kind {
			i--
		}
	}
	switch b := events[i].Body.(type) {
	case session.Answered:
		for i > 0 && events[i-1].Seq > b.Since {
			i--
		}
	case session.Checkpointed:
		if b.Trigger == session.TriggerAttempt { // a person's answer
			before(session.KindAttemptStarted)
		}
	case session.Finished: // with the yes that asking for the work is
		finishes := func(k session.Kind) bool {
			return k == session.KindFinishStarted || k == session.KindDropped || k == session.KindAgreed
		}
		for i > 0 && finishes(events[i-1].Kind()) {
			i--
		}
	case session.PhaseMoved: // with why, when it was a rejection
		if i > 0 {
			if n, ok := events[i-1].Body.(session.Noted); ok && n.Back {
				i--
			}
		}
	}
	return i
}

// documentsOf reads documents of a ledger commit for the next one to hold. One that was not there becomes empty.
func (h *Hand) documentsOf(ctx context.Context, ledger session.Commit, names ...string) (session.Files, error) {
	docs := session.Files{}
	for _, name := range names {
		data, err := h.e.Store.File(ctx, ledger, name)
		if err != nil {
			return nil, err
		}
		if data == nil {
			data = []byte("{}\n")
		}
		docs[name] = data
	}
	return docs, nil
}
