package transition

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/engine/hand"
	"github.com/wfs-dev/wfs/internal/safetext"
	"github.com/wfs-dev/wfs/session"
)

// keptIn returns the directory of refs into which a deletion moves the session's refs, given the turn of the deletion.
// The directory ends in a slash; "" if the turn is no deletion.
func keptIn(t session.Turn) string {
	for _, m := range t.Refs {
		if dir, ok := strings.CutSuffix(m.Ref, "ledger"); ok && strings.HasPrefix(dir, DeletedPrefix) {
			return dir
		}
	}
	return ""
}

// keptWith returns the directory of refs in which a deletion keeps the session's ledger, with the given tip. The
// directory ends in a slash; "" if there is none. The directory that an operation recorded may be another one,
// because each deletion makes its own: delete, restore, undo, undo.
func (e *Kit) keptWith(ctx context.Context, id session.ID, ledger session.Commit) (string, error) {
	all, err := e.Git.RefsBelow(ctx, DeletedPrefix+string(id))
	kept := ""
	for _, name := range slices.Sorted(maps.Keys(all)) { // the newest directory is the last one
		if dir, isLedger := strings.CutSuffix(name, "ledger"); isLedger && all[name] == ledger {
			kept = dir
		}
	}
	return kept, err
}

// deletedLedger returns the tip that the ledger had when the operation deleted the session, "" if it did not.
func deletedLedger(op session.Op) session.Commit {
	for _, m := range op.Turn.Refs {
		if m.Ref == session.LedgerOf(op.Session) {
			return m.Old
		}
	}
	return ""
}

// keptBelow returns the moves that restore the refs saved below a directory, the ledger last, and the moves that remove
// the copies.
func (e *Kit) keptBelow(ctx context.Context, id session.ID, dir string) (back, copies []session.RefMove, err error) {
	if dir == "" {
		return nil, nil, nil
	}
	kept, err := e.Git.RefsBelow(ctx, strings.TrimSuffix(dir, "/"))
	var ledger []session.RefMove
	for _, name := range slices.Sorted(maps.Keys(kept)) {
		m := session.RefMove{Ref: session.BranchOf(id), New: kept[name]}
		if rest := strings.TrimPrefix(name, dir); rest != "branch" {
			m.Ref = session.RefPrefix + string(id) + "/" + rest
		}
		if copies = append(copies, session.RefMove{Ref: name, Old: m.New}); m.Ref == session.LedgerOf(id) {
			ledger = append(ledger, m)
		} else {
			back = append(back, m)
		}
	}
	return append(back, ledger...), copies, err
}

// Undeletes reports whether the undo or redo of an operation restores a deleted session. ops are the operations of its
// work tree.
func Undeletes(ops []session.Op, op session.Op) (bool, error) {
	kind, redo, err := originalIn(ops, op)
	return kind == hand.OpDelete && !redo || kind == hand.OpRestore && redo, err
}

// UndoDelete undoes the operation `op`, a deletion. The caller holds the session's driver lock.
func (e *Restoring) UndoDelete(ctx context.Context, op session.Op) (*Relocated, error) {
	if err := e.mayUndelete(ctx, op); err != nil {
		return nil, err
	}
	dir, err := e.keptWith(ctx, op.Session, deletedLedger(op))
	if err != nil {
		return nil, err
	}
	return e.restoreAs(ctx, op.Session, dir, summaryOfUndo(op), op.Number)
}

// mayUndelete refuses if a ref of the deleted session was created again, or if the deleted objects are gone.
func (e *Kit) mayUndelete(ctx context.Context, op session.Op) error {
	for _, m := range op.Turn.Refs {
		if m.Old == "" {
			continue
		}
		now, err := e.Git.Ref(ctx, m.Ref)
		if err != nil {
			return err
		}
		if now != "" && now != m.Old {
			return movedOn(op, safetext.ShortRef(m.Ref), now.Short(), "nothing",
				"git branch -m "+safetext.ShortRef(m.Ref)+" another-name")
		}
	}
	dir, err := e.keptWith(ctx, op.Session, deletedLedger(op))
	if err != nil {
		return err
	}
	back, _, err := e.keptBelow(ctx, op.Session, dir)
	if err == nil {
		_, err = e.restorable(ctx, op.Session, back)
	}
	if err == nil {
		err = e.mayMakeAll(ctx, back)
	}
	return err
}

// Restore restores a deleted session from the refs below dir, which ends in a slash.
func (e *Restoring) Restore(ctx context.Context, id session.ID, dir string) (*Relocated, error) {
	return e.restoreAs(ctx, id, dir, "restore "+string(id), 0)
}

// BringBack restores a session that PutAway deleted, before the operation that created the session is redone. It does
// nothing for other operations, or if the session exists.
func (e *Restoring) BringBack(ctx context.Context, op session.Op) error {
	kind, redo, err := e.original(ctx, op)
	if err != nil || kind != string(session.MoveNew) || !redo {
		return err
	}
	if tip, err := e.Git.Ref(ctx, session.LedgerOf(op.Session)); err != nil || tip != "" {
		return err
	}
	dir, err := e.keptWith(ctx, op.Session, op.Ledger)
	if err != nil {
		return err
	}
	if dir != "" {
		return e.bringRefs(ctx, op.Session, dir, summaryOfUndo(op), nil)
	}
	_, err = e.restorable(ctx, op.Session, nil)
	return err
}

// restoreAs restores a deleted session from the refs below `dir`, and logs that as an operation. `undoes` is the number
// of the undone operation, 0 for `wfs delete --restore`.
func (e *Restoring) restoreAs(ctx context.Context, id session.ID, dir, summary string, undoes int64) (*Relocated,
	error) {
	var n int64
	err := e.bringRefs(ctx, id, dir, summary, func(tip session.Commit, back []session.RefMove) (err error) {
		kind := string(session.MoveUndo)
		if undoes == 0 {
			kind = hand.OpRestore
		}
		n, err = e.LogOp(ctx, session.Op{At: e.Clock.Now().Unix(), Kind: kind, Session: id, Summary: summary, Ledger: tip,
			Undoes: undoes, Turn: session.Turn{Refs: back}})
		return err
	})
	return recorded(n, summary), err
}

// bringRefs restores the refs saved below a directory, calls log, which may be nil, and removes the copies.
func (e *Restoring) bringRefs(ctx context.Context, id session.ID, dir, why string,
	log func(session.Commit, []session.RefMove) error) error {
	back, copies, err := e.keptBelow(ctx, id, dir)
	if err != nil {
		return err
	}
	tip, err := e.restorable(ctx, id, back)
	if err != nil {
		return err
	}
	if err := e.mayMakeAll(ctx, back); err != nil {
		return err
	}
	if err := e.Git.AwaitLocks(ctx, id, session.Turn{Refs: append(back[:len(back):len(back)], copies...)}); err != nil {
		return err
	}
	if err := e.neverDeleted(ctx, id, tip, why); err != nil {
		return err
	}
	settled, err := e.Git.Settle(ctx, id, session.Turn{Refs: back})
	if err != nil {
		return err
	}
	e.Hit("delete/restored")
	if log != nil {
		if err := log(tip, back); err != nil {
			return err
		}
	}
	_, err = e.Git.Settle(ctx, id, session.Turn{Refs: unneeded(copies, back, settled)})
	return err
}

// restorable returns the tip of the ledger that the ref moves `back` restore. It refuses if objects of the tip are
// gone.
func (e *Kit) restorable(ctx context.Context, id session.ID, back []session.RefMove) (session.Commit, error) {
	if n := len(back); n > 0 && back[n-1].Ref == session.LedgerOf(id) {
		if there, err := e.Git.Exists(ctx, back[n-1].New); err != nil || there {
			return back[n-1].New, err
		}
	}
	return "", &session.Refusal{Code: session.RefuseNoSession,
		Message: fmt.Sprintf("the deleted data of %s is permanently gone", id), Hint: "wfs list"}
}

// unneeded returns the moves that remove the copies of restored refs. A ref that another process has created again
// meanwhile was not restored. Its copy stays, because only the copy may keep the commits reachable.
func unneeded(copies, back []session.RefMove, s session.Settled) []session.RefMove {
	there := map[session.Commit]bool{}
	for _, m := range back {
		foreign := slices.ContainsFunc(s.Foreign, func(f session.RefMove) bool { return f.Ref == m.Ref })
		there[m.New] = there[m.New] || !foreign
	}
	return slices.DeleteFunc(copies, func(m session.RefMove) bool { return !there[m.Old] })
}

// neverDeleted drops a deletion that is recorded in the journal, before the session exists again. Otherwise the next
// command would complete the deletion. `why` is the reason to record.
func (e *Restoring) neverDeleted(ctx context.Context, id session.ID, tip session.Commit, why string) error {
	h, err := e.At(ctx, id, tip)
	if err != nil || h.S.Deleting == nil {
		return err
	}
	return h.Append(session.Dropped{Why: why})
}
