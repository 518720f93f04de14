package transition

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/engine/hand"
	"github.com/wfs-dev/wfs/internal/safetext"
	"github.com/wfs-dev/wfs/session"
)

// DeletedPrefix is the namespace of deleted sessions: refs/wfs-deleted/<id>/<when>/…, with <when> in Unix seconds. The
// branch is saved as "branch", other refs by their names below refs/wfs/<id>/.
const DeletedPrefix = "refs/wfs-deleted/"

// Delete moves the session's refs below DeletedPrefix: its branch, its ledger, its rescues. Nothing becomes
// unreachable, and an undo restores the refs. A rescue of uncommitted changes from a branch of the user is the user's,
// and its ref stays. Delete returns the number of its operation.
//
// A deletion is no turn, because the ledger commit of that turn would have to contain its own id, as the value of a ref
// to move. Instead, the journal records the intent, the claim of the work tree lets the next command find that record,
// and all refs are copied before the first one is removed. The ledger's ref is removed last; without it the session
// does not exist.
func (h *Deleting) Delete(ctx context.Context, summary string, undoes int64) (int64, error) {
	if err := h.mayDelete(ctx); err != nil {
		return 0, err
	}
	refs, err := h.refsToDelete(ctx)
	if err != nil {
		return 0, err
	}
	t := session.Turn{Refs: refs}
	if err := h.Git.AwaitLocks(ctx, h.ID, t); err != nil {
		return 0, err
	}
	claimed := session.Turn{Worktree: h.Git.Worktree()}
	if err := h.begin(session.DeleteStarted{Summary: summary, Undoes: undoes, Turn: t}, claimed,
		"delete/journaled"); err != nil {
		return 0, err
	}
	return h.completeDelete(ctx)
}

// mayDelete refuses while the session's branch is checked out in a work tree.
func (h *Deleting) mayDelete(ctx context.Context) error {
	head, err := h.Git.Head(ctx)
	if err != nil {
		return err
	}
	if head.Ref == h.S.Branch() {
		return &session.Refusal{Code: session.RefuseBranch, Message: fmt.Sprintf("%s is checked out in this work tree", h.ID),
			Hint: fmt.Sprintf("wfs switch %s && wfs delete %s", h.SwitchName(ctx, orMain(h.S.BaseRef)), h.ID)}
	}
	other, err := h.Git.ElsewhereOn(ctx, h.S.Branch())
	if err == nil && other != "" {
		err = &session.Refusal{Code: session.RefuseWorktree,
			Message: fmt.Sprintf("%s is checked out in %s", safetext.ShortRef(h.S.Branch()), other),
			Hint: "wfs delete --worktree " +
				string(h.ID)}
	}
	return err
}

// mayDeleteAgain is called when undo or redo deletes a session that the operation `op` restored. It refuses as
// mayDelete does, and also if the session has changed since then, because the user confirmed the deletion of an earlier
// state.
func (h *Deleting) mayDeleteAgain(ctx context.Context, op session.Op) error {
	hint := "wfs delete " + string(h.ID)
	if h.Tip != op.Ledger {
		return movedOn(op, "its history", h.Tip.Short(), op.Ledger.Short(), hint)
	}
	own, err := h.Git.OwnRefs(ctx, h.ID)
	if err != nil {
		return err
	}
	left := map[string]session.Commit{}
	for _, m := range op.Turn.Refs {
		left[m.Ref] = m.New
	}
	for _, name := range slices.Sorted(maps.Keys(own)) {
		if now := own[name]; now != left[name] && name != session.AutoOf(h.ID) {
			return movedOn(op, safetext.ShortRef(name), now.Short(), orNone(left[name]), hint)
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

// refsToDelete returns the ref moves of a deletion: first those that create the copies, then those that remove the
// session's refs, the ledger's last.
func (h *Deleting) refsToDelete(ctx context.Context) ([]session.RefMove, error) {
	own, err := h.Git.OwnRefs(ctx, h.ID)
	if err != nil {
		return nil, err
	}
	when := h.Clock.Now().Unix()
	for { // until the name is free: there may be two deletions within one second
		taken, err := h.Git.RefsBelow(ctx, fmt.Sprintf("%s%s/%d", DeletedPrefix, h.ID, when))
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

// completeDelete carries out the deletion that the journal records. It can be repeated at any time.
func (h *Deleting) completeDelete(ctx context.Context) (int64, error) {
	d, st := h.S.Deleting, h.Git
	kind := hand.OpDelete
	if d.Undoes > 0 {
		kind = string(session.MoveUndo)
	}
	op := h.Op(session.Event{At: h.Clock.Now()}, kind, d.Summary, d.Undoes, d.Turn)
	n, err := h.LogOp(ctx, op)
	if err != nil {
		return 0, err
	}
	settled, err := st.Settle(ctx, h.ID, d.Turn)
	if err != nil {
		return n, err
	}
	if len(settled.Foreign) > 0 { // the user did not ask to delete this ref's new commit
		m := settled.Foreign[0]
		err = &session.Refusal{Code: session.RefuseMoved,
			Message: fmt.Sprintf("%s was moved by another process and was left there", m.Ref), Hint: "wfs list"}
	}
	return n, errors.Join(err, h.Files.Unclaim(st.Worktree()))
}

// recoverDelete completes a deletion that a dead process began. If the session's branch has been checked out since,
// recoverDelete undoes the deletion instead.
func (h *Deleting) recoverDelete(ctx context.Context) error {
	t, st := h.S.Deleting.Turn, h.Git
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
	back, copies, err := h.keptBelow(ctx, h.ID, keptIn(t))
	if err != nil {
		return err
	}
	settled, err := st.Settle(ctx, h.ID, session.Turn{Refs: back})
	if err != nil {
		return err
	}
	if err := h.Append(session.Dropped{Why: safetext.OneLine(refused.Message, 200)}); err != nil {
		return err
	}
	if _, err := st.Settle(ctx, h.ID, session.Turn{Refs: unneeded(copies, back, settled)}); err != nil {
		return err
	}
	return h.Files.Unclaim(st.Worktree())
}

// deleted returns the error for a command that found and completed a half-done deletion.
func deleted(id session.ID) error {
	return &session.Refusal{Code: session.RefuseNoSession,
		Message: fmt.Sprintf("%s was half deleted; it is deleted now", id), Hint: "wfs delete --restore " + string(id)}
}

// PutAway deletes a session whose creation has just been undone, if no work was done in the session. The deletion and
// that undo share one entry in the operation log, so that a redo reverses both. PutAway returns false if the session
// stays.
func (h *Deleting) PutAway(ctx context.Context, op session.Op) (bool, error) {
	kind, redo, err := h.original(ctx, op)
	worked := func(c session.Checkpoint) bool {
		return c.Trigger != session.TriggerBirth && c.Trigger != session.TriggerBaseline
	}
	if err != nil || kind != string(session.MoveNew) || redo || h.S.Runs > 0 ||
		slices.ContainsFunc(h.S.Checkpoints, worked) {
		return false, err
	}
	own, err := h.Git.OwnRefs(ctx, h.ID)
	if err != nil {
		return false, err
	}
	for name := range own { // the session stays if it has a rescue, which has the user's edits
		if name != session.BranchOf(h.ID) && name != session.LedgerOf(h.ID) && name != session.AutoOf(h.ID) {
			return false, nil
		}
	}
	var refused *session.Refusal
	if _, err = h.Delete(ctx, summaryOfUndo(op), op.Number); errors.As(err, &refused) {
		return false, nil // the session's branch is checked out
	}
	return err == nil, err
}
