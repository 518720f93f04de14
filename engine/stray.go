package engine

import (
	"context"
	"fmt"

	"github.com/wfs-dev/wfs/session"
)

// lookAround records what a run changed beside the session's branch and files. Who moved the ledger has laid hands on
// the session's own records: it is put back, what the run left is kept, and a person is to look. Nobody but this process
// may move it.
func (h *Hand) lookAround(ctx context.Context, before session.Surroundings) (tampered bool, err error) {
	st := h.e.Store
	after, err := st.Surroundings(ctx, h.ID)
	if err != nil {
		return false, err
	}
	strayed := session.StrayedFrom(before, after)
	ledger := session.LedgerOf(h.ID)
	tip, err := st.Ref(ctx, ledger)
	if err != nil {
		return false, err
	}
	if tip == h.Tip {
		if strayed.Empty() {
			return false, nil
		}
		return false, h.append(strayed)
	}
	back, err := st.PutBack(ctx, ledger, h.Tip)
	if err != nil {
		return false, err
	}
	if !back {
		return false, &session.Refusal{Code: session.RefuseMoved, Hint: "git log " + session.BranchOf(h.ID)[len("refs/heads/"):],
			Message: fmt.Sprintf("the run deleted the ledger of %s, and its objects too; the files are as it left them", h.ID.Display())}
	}
	what := "deleted"
	if tip != "" {
		what = "moved to " + tip.Short()
	}
	if !strayed.Empty() {
		if err := h.append(strayed); err != nil {
			return false, err
		}
	}
	block := session.BlockedBy{Reason: session.BlockTamper, Hint: "wfs diff, then wfs run",
		Evidence: []string{fmt.Sprintf("%s was %s during the run, and is back where it was", ledger, what)}}
	if err := h.append(block); err != nil {
		return false, err
	}
	_, err = h.save(ctx, session.TriggerInterrupted, "as the run left it")
	return true, err
}

// kept are the commits that refs had before they were moved during a run, and that nothing leads to now: the next
// checkpoint keeps them alive.
func (h *Hand) kept(ctx context.Context) ([]session.Commit, error) {
	if len(h.S.Keep) == 0 {
		return nil, nil
	}
	return h.e.Store.Unreachable(ctx, h.S.Keep)
}
