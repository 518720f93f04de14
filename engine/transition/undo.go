package transition

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/engine/hand"
	"github.com/wfs-dev/wfs/internal/safetext"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/session/fold"
	"github.com/wfs-dev/wfs/session/oplog"
)

// original follows a chain of undos from op to the operation that is not an undo, and returns the kind of that
// operation. If `redo` is true, undoing op carries out that operation again; if not, undoing op undoes it.
func (e *Kit) original(ctx context.Context, op session.Op) (kind string, redo bool, err error) {
	ops, err := e.Git.Ops(ctx)
	if err != nil {
		return "", false, err
	}
	return originalIn(ops, op)
}

// originalIn does the same as original, with `ops` as the operations of op's work tree.
func originalIn(ops []session.Op, op session.Op) (kind string, redo bool, err error) {
	byNumber := map[int64]session.Op{}
	for _, o := range ops {
		byNumber[o.Number] = o
	}
	for op.Undoes > 0 {
		before, ok := byNumber[op.Undoes]
		if !ok {
			return "", false, fmt.Errorf("operation %d is not in the log", op.Undoes)
		}
		op, redo = before, !redo
	}
	return op.Kind, redo, nil
}

// Undoable returns the operations that the next `wfs undo` undoes, in the order in which it undoes them: the newest
// operation of this work tree that is not undone yet, and earlier ones of the same command.
func (e *Kit) Undoable(ctx context.Context) ([]session.Op, error) {
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

// Redoable returns the operations, all of them undos, that the next `wfs redo` undoes, in the order in which it undoes
// them.
func (e *Kit) Redoable(ctx context.Context) ([]session.Op, error) {
	_, redo, err := e.standing(ctx)
	if err == nil && len(redo) == 0 {
		err = &session.Refusal{Code: session.RefuseNothing,
			Message: "nothing to redo in this work tree: nothing was undone since the last operation", Hint: "wfs undo --list"}
	}
	return oplog.Together(redo), err
}

func (e *Kit) standing(ctx context.Context) (undo, redo []session.Op, err error) {
	ops, err := e.Git.Ops(ctx)
	if err != nil {
		return nil, nil, err
	}
	undo, redo = oplog.Standing(ops)
	return undo, redo, nil
}

// Undo undoes an operation of this session: files, index, HEAD, refs and the session's record return to their state
// before the operation. A ref is moved only if it is still where the operation left it. Edits made since the operation
// are rescued. The redo, which is the undo of an undo, restores these edits.
func (h *Undoing) Undo(ctx context.Context, op session.Op) (*Relocated, error) {
	v, err := h.reverse(ctx, op)
	if err != nil {
		return nil, err
	}
	var n int64
	switch {
	case v.deletes:
		n, err = h.deletes.Delete(ctx, summaryOfUndo(op), op.Number)
	case v.record:
		n, err = h.takeBack(ctx, op, v.turning, v.former)
	default:
		return h.Move(ctx, v.relocation)
	}
	return recorded(n, summaryOfUndo(op)), err
}

// reversal is the change that undoes an operation: a deletion, a record or a move.
type reversal struct {
	deletes, record bool
	turning         turning        // set if record is true
	former          session.Former // set if record is true
	relocation      Relocation
}

// reverse plans the undo of an operation, which is a redo if the operation is an undo. It refuses if that is
// impossible.
func (h *Undoing) reverse(ctx context.Context, op session.Op) (v reversal, err error) {
	kind, redo, err := h.original(ctx, op)
	switch {
	case err != nil:
		return v, err
	case kind == hand.OpDelete, kind == hand.OpRestore:
		v.deletes = true
		return v, h.deletes.mayDeleteAgain(ctx, op)
	case isRecord(kind, op):
		v.record = true
		v.turning, v.former, err = h.planTakeBack(ctx, op)
		return v, err
	}
	r := Relocation{How: session.MoveUndo, Summary: summaryOfUndo(op), Tree: op.Turn.TreeOld, Index: op.Turn.IndexOld,
		raw: op.Turn.RawOld,
		// an operation that made a checkpoint left the files unchanged, and so does its undo
		Head: op.Turn.HeadOld, Tip: op.Turn.HeadOldCommit, To: -1, undoes: op.Number, stay: isCheckpoint(kind)}
	if kind == string(session.MoveNew) && !redo {
		r.status = session.StatusAbandoned // before its creation the session did not exist
	} else if err := h.bringBack(ctx, op, &r); err != nil {
		return v, err
	}
	r.refs, err = h.asLeft(ctx, op, r.To)
	v.relocation = r
	return v, err
}

// asLeft returns the ref moves that undo an operation. It refuses if HEAD or a ref is not where the operation left it,
// or if the branch that HEAD returns to has moved since. `to` is the number of the checkpoint that becomes current, -1
// for none.
func (h *Undoing) asLeft(ctx context.Context, op session.Op, to int) ([]session.RefMove, error) {
	head, err := h.Git.Head(ctx)
	if err != nil {
		return nil, err
	}
	on := op.Turn.HeadNew
	if on == "" { // the operation kept HEAD on the session's branch
		on = h.S.Branch()
	}
	if head.Name() != on {
		hint, err := h.backTo(ctx, op, head, on)
		if err != nil {
			return nil, err
		}
		return nil, movedOn(op, "HEAD", place(head.Name()), place(on), hint)
	}
	var moves []session.RefMove
	for _, m := range slices.Backward(op.Turn.Refs) {
		now, err := h.Git.Ref(ctx, m.Ref)
		if err != nil {
			return nil, err
		}
		if now != m.New {
			return nil, movedOn(op, safetext.ShortRef(m.Ref), orNone(now), orNone(m.New), h.otherwise(ctx, op, to))
		}
		moves = append(moves, session.RefMove{Ref: m.Ref, Old: m.New, New: m.Old})
	}
	if err := h.mayMakeAll(ctx, moves); err != nil {
		return nil, err
	}
	back := op.Turn.HeadOld
	if back == "" { // the operation kept HEAD on its branch
		back = on
	}
	moved := func(m session.RefMove) bool { return m.Ref == back }
	if strings.HasPrefix(back, "refs/") && back != head.Ref {
		if err := h.Free(ctx, back); err != nil {
			return nil, err
		}
	}
	if !strings.HasPrefix(back, "refs/") || op.Turn.HeadOldCommit == "" || slices.ContainsFunc(op.Turn.Refs, moved) {
		return moves, nil
	}
	// If the branch has moved, the restored files would be older than the branch, and the next commit there would undo the
	// newer commits.
	now, err := h.Git.Ref(ctx, back)
	if err == nil && now != op.Turn.HeadOldCommit {
		err = movedOn(op, safetext.ShortRef(back), orNone(now), orNone(op.Turn.HeadOldCommit), h.otherwise(ctx, op, to))
	}
	return moves, err
}

// backTo returns the command to type if HEAD is not where an operation left it, at `on`. The command moves HEAD back
// there, so that the undo becomes possible. If HEAD is detached at commits that no ref reaches, the command gives these
// commits a branch and then continues without the undo.
func (h *Undoing) backTo(ctx context.Context, op session.Op, head session.Head, on string) (string, error) {
	switch {
	case on == h.S.Branch():
		return "wfs resume " + string(h.ID), nil
	case strings.HasPrefix(on, "refs/"):
		return "git switch " + safetext.ShortRef(on), nil
	}
	if head.Ref == "" {
		loose, err := h.Git.Unreachable(ctx, []session.Commit{head.Commit})
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

// place formats a HEAD for people.
func place(on string) string {
	if strings.HasPrefix(on, "refs/") {
		return safetext.ShortRef(on)
	}
	return session.Commit(on).Short()
}

// otherwise returns the command to type if an undo is refused. It is the one whose result is closest to that of the
// undo.
func (h *Undoing) otherwise(ctx context.Context, op session.Op, to int) string {
	switch back := op.Turn.HeadOld; {
	case to >= 0:
		return fmt.Sprintf("wfs resume %s@%d", h.ID, to)
	case back == "":
		return "wfs log " + string(h.ID)
	case strings.HasPrefix(back, "refs/heads/"):
		return "wfs switch " + h.SwitchName(ctx, back)
	}
	return "wfs undo --list"
}

func orNone(c session.Commit) string {
	if c == "" {
		return "nothing"
	}
	return c.Short()
}

// summaryOfUndo returns the summary of the undo of an operation, which begins with "undo: ", or with "redo: " if the
// operation is itself an undo.
func summaryOfUndo(op session.Op) string {
	if again, ok := strings.CutPrefix(op.Summary, "undo: "); ok && op.Undoes > 0 {
		return "redo: " + again
	}
	if again, ok := strings.CutPrefix(op.Summary, "redo: "); ok && op.Undoes > 0 {
		return "undo: " + again
	}
	return "undo: " + op.Summary
}

// verbOf returns the command that undoes an operation, "undo" or "redo", and the summary of the operation.
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

// bringBack adds to `r`, the move that undoes an operation, the values of the session's record that the operation
// changed, as they were before, with the documents that belong to them.
func (h *Undoing) bringBack(ctx context.Context, op session.Op, r *Relocation) error {
	t, err := h.around(ctx, op)
	if err != nil {
		return err
	}
	f := oplog.FormerOf(&t.before, &t.after)
	if t.before.Current != t.after.Current {
		r.To, f = t.before.Current, oplog.WithStand(f, &t.before)
	}
	if !f.Nothing() {
		r.former = &f
	}
	if r.To < 0 {
		return nil
	}
	r.Docs = t.ledger
	return nil
}

// RanSince counts the attempts of agents and commands that were judged since an operation. An undo of the operation
// does not undo these attempts.
func (h *Undoing) RanSince(ctx context.Context, op session.Op) (int, error) {
	commits, err := h.Git.Ledgers(ctx, h.ID)
	i := slices.IndexFunc(commits, func(c session.LedgerCommit) bool { return c.Commit == op.Ledger })
	if err != nil || i < 0 {
		return 0, err
	}
	then, err := h.AtTip(ctx, h.ID, commits[i].Commit)
	return int(h.S.Used.Attempts - then.Used.Attempts), err
}

// turning is a session right before and right after one of its turns.
type turning struct {
	before, after session.Session
	ledger        session.Commit // ledger commit before the turn
}

// around returns the session right before and right after an operation.
func (h *Undoing) around(ctx context.Context, op session.Op) (turning, error) {
	var t turning
	commits, err := h.Git.Ledgers(ctx, h.ID)
	if err != nil {
		return t, err
	}
	i := slices.IndexFunc(commits, func(c session.LedgerCommit) bool { return c.Commit == op.Ledger })
	if i < 0 || i+1 >= len(commits) {
		return t, fmt.Errorf("operation %d: the history of %s does not contain %s with its predecessor", op.Number, h.ID,
			op.Ledger.Short())
	}
	if t.after, err = h.AtTip(ctx, h.ID, commits[i].Commit); err != nil {
		return t, err
	}
	if t.before, err = h.AtTip(ctx, h.ID, commits[i+1].Commit); err != nil {
		return t, err
	}
	events, err := h.EventsOf(ctx, op.Ledger)
	if err != nil || len(events) == 0 {
		return t, err
	}
	t.ledger = commits[i+1].Commit
	t.before, err = fold.Extend(t.before, events[:begins(events)])
	return t, err
}

// begins returns the index of the first event that belongs to an operation. `events` are those of the operation's
// ledger commit, which ends with the operation's own event.
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
		if b.Trigger == session.TriggerAttempt { // a person's answer, which began with the start of the attempt
			before(session.KindAttemptStarted)
		}
	case session.Finished: // a finish includes the approval that it implies
		finishes := func(k session.Kind) bool {
			return k == session.KindFinishStarted || k == session.KindDropped || k == session.KindAgreed
		}
		for i > 0 && finishes(events[i-1].Kind()) {
			i--
		}
	case session.PhaseMoved: // a rejection includes the note with its reason
		if i > 0 {
			if n, ok := events[i-1].Body.(session.Noted); ok && n.Back {
				i--
			}
		}
	}
	return i
}

// documentsOf reads documents of a ledger commit for the next one. A missing document becomes the empty JSON object.
func (h *Mover) documentsOf(ctx context.Context, ledger session.Commit, names ...string) (session.Files, error) {
	docs := session.Files{}
	for _, name := range names {
		data, err := h.Git.File(ctx, ledger, name)
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
