package engine

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/session"
)

// DeletedPrefix is where the refs of deleted sessions are kept: refs/wfs-deleted/<id>/<when>/…, with <when> in Unix
// seconds. The branch is kept as "branch", the rest by its name below refs/wfs/<id>/.
const DeletedPrefix = "refs/wfs-deleted/"

// Delete moves the refs of the session out of sight: its branch, its ledger, its rescues. Nothing becomes unreachable,
// and an undo moves them back. A rescue of what was uncommitted on a branch of the user's is the user's, and stays.
//
// A ledger commit cannot name the ref that keeps it, so this is no turn: the journal says what is to be done, the claim
// lets the next command find it, and copies are made before the first ref is removed. The ledger goes last; without it
// there is no session.
func (h *Hand) Delete(ctx context.Context, summary string, undoes int64) (int64, error) {
	if err := h.mayDelete(ctx); err != nil {
		return 0, err
	}
	refs, err := h.refsToDelete(ctx)
	if err != nil {
		return 0, err
	}
	t := session.Turn{Refs: refs}
	if err := h.e.Store.AwaitLocks(ctx, h.ID, t); err != nil {
		return 0, err
	}
	if err := h.j.Claim(h.e.Store.Worktree()); err != nil {
		return 0, err
	}
	if err := h.append(session.DeleteStarted{Summary: summary, Undoes: undoes, Turn: t}); err != nil {
		return 0, err
	}
	h.e.hit("delete/journaled")
	return h.completeDelete(ctx)
}

// mayDelete refuses while a work tree is on the session's branch.
func (h *Hand) mayDelete(ctx context.Context) error {
	head, err := h.e.Store.Head(ctx)
	if err != nil {
		return err
	}
	if head.Ref == h.S.Branch() {
		return &session.Refusal{Code: session.RefuseBranch, Message: fmt.Sprintf("%s is checked out in this work tree", h.ID),
			Hint: fmt.Sprintf("wfs switch %s && wfs delete %s", h.e.SwitchName(ctx, orMain(h.S.BaseRef)), h.ID)}
	}
	other, err := h.e.Store.ElsewhereOn(ctx, h.S.Branch())
	if err == nil && other != "" {
		err = &session.Refusal{Code: session.RefuseWorktree,
			Message: fmt.Sprintf("%s is checked out in %s", short(h.S.Branch()), other), Hint: "wfs delete --worktree " +
				string(h.ID)}
	}
	return err
}

// mayDeleteAgain is mayDelete for what an operation brought back, and refuses when the session has gone on
// since: what was asked about when it was deleted is not what would be deleted now.
func (h *Hand) mayDeleteAgain(ctx context.Context, op session.Op) error {
	hint := "wfs delete " + string(h.ID)
	if h.Tip != op.Ledger {
		return movedOn(op, "its history", h.Tip.Short(), op.Ledger.Short(), hint)
	}
	own, err := h.e.Store.OwnRefs(ctx, h.ID)
	if err != nil {
		return err
	}
	left := map[string]session.Commit{}
	for _, m := range op.Turn.Refs {
		left[m.Ref] = m.New
	}
	for _, name := range slices.Sorted(maps.Keys(own)) {
		if now := own[name]; now != left[name] && name != session.AutoOf(h.ID) {
			return movedOn(op, short(name), now.Short(), orNone(left[name]), hint)
		}
	}
	return h.mayDelete(ctx)
}

func orMain(ref string) string {
	if ref == "" {
		return "refs/heads/main"
	}
	return ref
}

// refsToDelete are the moves of a deletion: first what is made, then what goes, the ledger last.
func (h *Hand) refsToDelete(ctx context.Context) ([]session.RefMove, error) {
	own, err := h.e.Store.OwnRefs(ctx, h.ID)
	if err != nil {
		return nil, err
	}
	when := h.e.Clock.Now().Unix()
	for { // two deletions within one second
		taken, err := h.e.Store.RefsBelow(ctx, fmt.Sprintf("%s%s/%d", DeletedPrefix, h.ID, when))
		if err != nil {
			return nil, err
		}
		if len(taken) == 0 {
			break
		}
		when++
	}
	var made, gone []session.RefMove
	names := slices.Sorted(maps.Keys(own))
	ledger := session.LedgerOf(h.ID)
	names = append(slices.DeleteFunc(names, func(n string) bool { return n == ledger }), ledger)
	for _, name := range names {
		made = append(made, session.RefMove{Ref: keptName(h.ID, when, name), New: own[name]})
		gone = append(gone, session.RefMove{Ref: name, Old: own[name]})
	}
	return append(made, gone...), nil
}

func keptName(id session.ID, when int64, ref string) string {
	dir := fmt.Sprintf("%s%s/%d/", DeletedPrefix, id, when)
	if ref == session.BranchOf(id) {
		return dir + "branch"
	}
	return dir + strings.TrimPrefix(ref, session.RefPrefix+string(id)+"/")
}

// completeDelete carries out what the journal says. It can be repeated at any time.
func (h *Hand) completeDelete(ctx context.Context) (int64, error) {
	d, st := h.S.Deleting, h.e.Store
	kind := OpDelete
	if d.Undoes > 0 {
		kind = string(session.MoveUndo)
	}
	op := h.op(session.Event{At: h.e.Clock.Now()}, kind, d.Summary, d.Undoes, d.Turn)
	n, err := h.e.logOp(ctx, op)
	if err != nil {
		return 0, err
	}
	settled, err := st.Settle(ctx, h.ID, d.Turn)
	if err != nil {
		return n, err
	}
	if len(settled.Foreign) > 0 { // somebody moved a ref meanwhile: what is there now is not what was to be deleted
		m := settled.Foreign[0]
		err = &session.Refusal{Code: session.RefuseMoved,
			Message: fmt.Sprintf("%s was moved by another process and was left there", m.Ref), Hint: "wfs list"}
	}
	return n, errors.Join(err, h.j.Unclaim(st.Worktree()))
}

// recoverDelete carries a deletion to its end that a dead process began, unless somebody has gone to the session since:
// then it is given up, and everything is where it was.
func (h *Hand) recoverDelete(ctx context.Context) error {
	t, st := h.S.Deleting.Turn, h.e.Store
	var refused *session.Refusal
	err := h.mayDelete(ctx)
	if err == nil {
		if _, err = h.completeDelete(ctx); err == nil {
			err = deleted(h.ID)
		}
		return err
	}
	if !errors.As(err, &refused) {
		return err
	}
	back, copies, err := h.e.keptBelow(ctx, h.ID, keptIn(t))
	if err != nil {
		return err
	}
	settled, err := st.Settle(ctx, h.ID, session.Turn{Refs: back})
	if err != nil {
		return err
	}
	if err := h.append(session.Dropped{Why: oneLine(refused.Message, 200)}); err != nil {
		return err
	}
	if _, err := st.Settle(ctx, h.ID, session.Turn{Refs: unneeded(copies, back, settled)}); err != nil {
		return err
	}
	return h.j.Unclaim(st.Worktree())
}

// keptIn is the directory that keeps the refs of a deletion, by its moves. The name ends in a slash; "" for none.
func keptIn(t session.Turn) string {
	for _, m := range t.Refs {
		if dir, ok := strings.CutSuffix(m.Ref, "ledger"); ok && strings.HasPrefix(dir, DeletedPrefix) {
			return dir
		}
	}
	return ""
}

// keptBelow are the moves that bring the refs back which are kept below a directory, the ledger last, and those that
// remove the copies.
func (e *Engine) keptBelow(ctx context.Context, id session.ID, dir string) (back, copies []session.RefMove, err error) {
	if dir == "" {
		return nil, nil, nil
	}
	kept, err := e.Store.RefsBelow(ctx, strings.TrimSuffix(dir, "/"))
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

// deleted is what is said to whoever finds a deletion half done, once it is done.
func deleted(id session.ID) error {
	return &session.Refusal{Code: session.RefuseNoSession,
		Message: fmt.Sprintf("%s was half deleted; it is deleted now", id), Hint: "wfs delete --restore " + string(id)}
}

// Undeletes reports whether taking an operation back, or doing it again, brings a deleted session back. ops are
// those of its work tree.
func Undeletes(ops []session.Op, op session.Op) (bool, error) {
	kind, redo, err := originalIn(ops, op)
	return kind == OpDelete && !redo || kind == OpRestore && redo, err
}

// UndoDelete takes a deletion back. The caller holds the session's driver lock.
func (e *Engine) UndoDelete(ctx context.Context, op session.Op) (*Relocated, error) {
	if err := e.mayUndelete(ctx, op); err != nil {
		return nil, err
	}
	return e.restore(ctx, op.Session, keptIn(op.Turn), summaryOfUndo(op), op.Number)
}

// mayUndelete refuses when a name that a deletion gave free is somebody else's by now, or when what was deleted
// is gone.
func (e *Engine) mayUndelete(ctx context.Context, op session.Op) error {
	for _, m := range op.Turn.Refs {
		if m.Old == "" {
			continue
		}
		now, err := e.Store.Ref(ctx, m.Ref)
		if err != nil {
			return err
		}
		if now != "" && now != m.Old {
			return movedOn(op, short(m.Ref), now.Short(), "nothing", "git branch -m "+short(m.Ref)+" another-name")
		}
	}
	back, _, err := e.keptBelow(ctx, op.Session, keptIn(op.Turn))
	if err == nil {
		_, err = e.restorable(ctx, op.Session, back)
	}
	if err == nil {
		err = e.mayMakeAll(ctx, back)
	}
	return err
}

// Restore brings a deleted session back whose refs are kept below dir, a name that ends in a slash.
func (e *Engine) Restore(ctx context.Context, id session.ID, dir string) (*Relocated, error) {
	return e.restore(ctx, id, dir, "restore "+string(id), 0)
}

// PutAway deletes a session whose birth an operation was that is taken back, if nothing was done in it since.
// The undo's own entry in the operation log is the deletion's as well: a redo takes both back. It reports false
// where it stays.
func (h *Hand) PutAway(ctx context.Context, op session.Op) (bool, error) {
	kind, redo, err := h.e.original(ctx, op)
	worked := func(c session.Checkpoint) bool {
		return c.Trigger != session.TriggerBirth && c.Trigger != session.TriggerBaseline
	}
	if err != nil || kind != string(session.MoveNew) || redo || h.S.Runs > 0 ||
		slices.ContainsFunc(h.S.Checkpoints, worked) {
		return false, err
	}
	own, err := h.e.Store.OwnRefs(ctx, h.ID)
	if err != nil {
		return false, err
	}
	for name := range own { // a rescue is somebody's edits
		if name != session.BranchOf(h.ID) && name != session.LedgerOf(h.ID) && name != session.AutoOf(h.ID) {
			return false, nil
		}
	}
	var refused *session.Refusal
	if _, err = h.Delete(ctx, summaryOfUndo(op), op.Number); errors.As(err, &refused) { // a work tree is on its branch
		return false, nil
	}
	return err == nil, err
}

// BringBack brings a session back that PutAway has deleted, for the redo that an operation is about.
func (e *Engine) BringBack(ctx context.Context, op session.Op) error {
	kind, redo, err := e.original(ctx, op)
	if err != nil || kind != string(session.MoveNew) || !redo {
		return err
	}
	if tip, err := e.Store.Ref(ctx, session.LedgerOf(op.Session)); err != nil || tip != "" {
		return err
	}
	all, err := e.Store.RefsBelow(ctx, DeletedPrefix+string(op.Session))
	if err != nil {
		return err
	}
	for name, tip := range all {
		if dir, isLedger := strings.CutSuffix(name, "ledger"); isLedger && tip == op.Ledger {
			return e.bringRefs(ctx, op.Session, dir, summaryOfUndo(op), nil)
		}
	}
	_, err = e.restorable(ctx, op.Session, nil)
	return err
}

// restore makes the moves of a deletion the other way round, and logs that.
func (e *Engine) restore(ctx context.Context, id session.ID, dir, summary string, undoes int64) (*Relocated, error) {
	var n int64
	err := e.bringRefs(ctx, id, dir, summary, func(tip session.Commit, back []session.RefMove) (err error) {
		kind := string(session.MoveUndo)
		if undoes == 0 {
			kind = OpRestore
		}
		n, err = e.logOp(ctx, session.Op{At: e.Clock.Now().Unix(), Kind: kind, Session: id, Summary: summary, Ledger: tip,
			Undoes: undoes, Turn: session.Turn{Refs: back}})
		return err
	})
	return recorded(n, summary), err
}

// bringRefs brings the refs of a deletion back that are kept below a directory, logs that, and removes the copies. log
// may be nil.
func (e *Engine) bringRefs(ctx context.Context, id session.ID, dir, why string,
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
	if err := e.Store.AwaitLocks(ctx, id, session.Turn{Refs: append(back[:len(back):len(back)], copies...)}); err != nil {
		return err
	}
	if err := e.neverDeleted(ctx, id, tip, why); err != nil {
		return err
	}
	settled, err := e.Store.Settle(ctx, id, session.Turn{Refs: back})
	if err != nil {
		return err
	}
	e.hit("delete/restored")
	if log != nil {
		if err := log(tip, back); err != nil {
			return err
		}
	}
	_, err = e.Store.Settle(ctx, id, session.Turn{Refs: unneeded(copies, back, settled)})
	return err
}

// restorable returns the ledger's tip that moves bring back, and refuses when it is not there any more.
func (e *Engine) restorable(ctx context.Context, id session.ID, back []session.RefMove) (session.Commit, error) {
	if n := len(back); n > 0 && back[n-1].Ref == session.LedgerOf(id) {
		if there, err := e.Store.Exists(ctx, back[n-1].New); err != nil || there {
			return back[n-1].New, err
		}
	}
	return "", &session.Refusal{Code: session.RefuseNoSession,
		Message: fmt.Sprintf("the deleted data of %s is permanently gone", id), Hint: "wfs list"}
}

// unneeded are the copies of what came back. A ref that is somebody else's by now did not, and its copy may be all that
// holds the commits that were on it.
func unneeded(copies, back []session.RefMove, s session.Settled) []session.RefMove {
	there := map[session.Commit]bool{}
	for _, m := range back {
		foreign := slices.ContainsFunc(s.Foreign, func(f session.RefMove) bool { return f.Ref == m.Ref })
		there[m.New] = there[m.New] || !foreign
	}
	return slices.DeleteFunc(copies, func(m session.RefMove) bool { return !there[m.Old] })
}

// neverDeleted says in the journal that the deletion is taken back, before the session is there again: or the next
// command would complete it.
func (e *Engine) neverDeleted(ctx context.Context, id session.ID, tip session.Commit, why string) error {
	j, err := e.OpenJournal(id, tip)
	if err != nil {
		return err
	}
	h := &Hand{e: e, ID: id, Tip: tip, j: j}
	v, err := e.view(ctx, id, tip, j.Events())
	if err != nil {
		return err
	}
	if h.S, h.live = v.Session, v.Live; h.S.Deleting == nil {
		return nil
	}
	return h.append(session.Dropped{Why: why})
}
