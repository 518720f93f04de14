package engine

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/session/cost"
)

// lookAround records what a run changed beside the session's branch and files. Who moved the ledger has laid
// hands on the session's own records: it is put back, what the run left is kept, and a person is to look.
// Nobody but this process may move it.
func (h *Hand) lookAround(ctx context.Context, before session.Surroundings, locked []session.GitLock,
	used cost.Usage) (tampered bool, err error) {
	st := h.e.Store
	locks, err := h.strandedLocks(ctx, locked) // first: they are in the way of what may have to be done here
	if err != nil {
		return false, err
	}
	after, err := st.Surroundings(ctx, h.ID)
	if err != nil {
		return false, err
	}
	strayed := session.StrayedFrom(before, after)
	strayed.Locks = locks
	h.keepWas(&strayed, before)
	var elsewhere []string
	if strayed.Back, elsewhere, err = h.convertAsBefore(ctx); err != nil {
		return false, err
	}
	ledger := session.LedgerOf(h.ID)
	tip, err := st.Ref(ctx, ledger)
	if err != nil {
		return false, err
	}
	if tip == h.Tip {
		if !strayed.Empty() {
			if err := h.append(strayed); err != nil {
				return false, err
			}
		}
		if len(elsewhere) == 0 {
			return false, nil
		}
		return true, h.stopFor(ctx, session.BlockedBy{Reason: session.BlockTamper,
			Hint:     "git config --list --show-origin, restore it, then wfs run",
			Evidence: []string{settingsChanged(elsewhere)}}, used)
	}
	back, err := st.PutBack(ctx, ledger, h.Tip)
	if err != nil {
		return false, err
	}
	if !back {
		return false, &session.Refusal{Code: session.RefuseMoved,
			Hint: "git log " + session.BranchOf(h.ID)[len("refs/heads/"):],
			Message: fmt.Sprintf("the agent deleted the history of %s and its objects; the files are as the agent left them",
				h.ID)}
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
		Evidence: []string{fmt.Sprintf("%s was %s during the run; restored", ledger, what)}}
	return true, h.stopFor(ctx, block, used)
}

// stopFor blocks the session for what its run did, and keeps what that left.
func (h *Hand) stopFor(ctx context.Context, block session.BlockedBy, used cost.Usage) error {
	if err := h.found(used); err != nil {
		return err
	}
	if err := h.append(block); err != nil {
		return err
	}
	_, err := h.save(ctx, session.TriggerInterrupted, "unjudged, from an attempt")
	return err
}

// convertAsBefore makes git treat files as it did when this command began to drive. Whatever ran since may have told it
// otherwise, so that a tree here is not what others get of it. It names what it put back, and what stands in files that
// are the user's, where nothing is put back.
func (h *Hand) convertAsBefore(ctx context.Context) (back, elsewhere []string, err error) {
	if h.converts == nil {
		return nil, nil, nil
	}
	return h.e.Store.PutConversionsBack(ctx, *h.converts)
}

// leaveConversions puts back what the last gate may have told git: the next command would take it for the user's.
func (h *Hand) leaveConversions(ctx context.Context) error {
	back, _, err := h.convertAsBefore(ctx)
	h.converts = nil
	if err != nil || len(back) == 0 {
		return err
	}
	return h.append(session.Strayed{Back: back})
}

func settingsChanged(names []string) string {
	return oneLine("git's settings outside the repository changed during the run, so the result could not be trusted: "+strings.Join(names, ", "), 300)
}

// keepWas writes copies of what changed files were into the run's directory, as far as that can be done.
func (h *Hand) keepWas(strayed *session.Strayed, before session.Surroundings) {
	for _, f := range strayed.Files {
		if t, small := before.Texts[f]; small && h.j.KeepWas(h.S.Started, f, t) == nil {
			if strayed.Was == nil {
				strayed.Was = map[string]string{}
			}
			strayed.Was[f] = h.S.Started
		}
	}
}

// Seen records that a person has seen what runs changed beside the session.
func (h *Hand) Seen() error {
	if h.S.Unseen == nil {
		return nil
	}
	return h.append(session.Strayed{Seen: true})
}

// strandedLocks sets locks of git's aside that came while a run or its gates went on and that their processes,
// all dead by now, have left. A lock that was there before, or that somebody holds, is left alone. It returns
// their names.
func (h *Hand) strandedLocks(ctx context.Context, before []session.GitLock) ([]string, error) {
	since := slices.DeleteFunc(h.e.Store.Locks(), func(l session.GitLock) bool { return slices.Contains(before, l) })
	if len(since) == 0 || len(h.alive()) > 0 {
		return nil, nil
	}
	dir, err := h.j.RunDir(h.S.Started)
	if err != nil {
		return nil, err
	}
	return h.e.Store.SetLocksAside(ctx, since[:min(len(since), session.MaxNamed)], filepath.Join(dir, "locks"))
}

// deadLocks sets locks aside that came since the open attempt began, which no process of ours saw the end of. A
// lock that has the name of one that was there before is left alone.
func (h *Hand) deadLocks(ctx context.Context) error {
	if h.S.Open.Runner == runnerPerson {
		return nil
	}
	before := slices.DeleteFunc(h.e.Store.Locks(),
		func(l session.GitLock) bool { return !slices.Contains(h.S.Open.Locks, l.Name) })
	locks, err := h.strandedLocks(ctx, before)
	if err != nil || len(locks) == 0 {
		return err
	}
	return h.append(session.Strayed{Locks: locks})
}

// unadopted reports, before a runner is started, whether the session's branch is at a commit of somebody else's
// that the ledger does not lead to. An agent may reset the branch, and nobody would see that when wfs is killed
// together with it.
func (h *Hand) unadopted(ctx context.Context, a *session.AttemptStarted) (bool, error) {
	if a == nil || a.Runner == runnerPerson {
		return false, nil
	}
	tip, err := h.e.Store.Ref(ctx, h.S.Branch())
	return tip != "" && tip != h.S.At(h.S.Current).Code, err
}

// foundText is what a checkpoint says that is made before a runner is started: it names the first files, which will be
// handed over with the work.
func foundText(committed bool, changes []session.Change) string {
	text := "edits found before an attempt"
	if committed {
		text = "commits found before an attempt"
	}
	for i, c := range changes[:min(len(changes), 3)] {
		text += [...]string{": ", ", ", ", "}[i] + oneLine(c.Path, 60)
	}
	if n := len(changes) - 3; n > 0 {
		text += fmt.Sprintf(" and %d more", n)
	}
	return text
}

// lockNames are the names of the first locks of git's that are there now.
func (h *Hand) lockNames() []string {
	var names []string
	for _, l := range h.e.Store.Locks() {
		if len(names) < session.MaxNamed {
			names = append(names, l.Name)
		}
	}
	return names
}

// kept are the commits that refs had before they were moved during a run, and that nothing leads to now: the next
// checkpoint keeps them alive.
func (h *Hand) kept(ctx context.Context) ([]session.Commit, error) {
	if len(h.S.Keep) == 0 {
		return nil, nil
	}
	return h.e.Store.Unreachable(ctx, h.S.Keep)
}
