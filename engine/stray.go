package engine

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/wfs-dev/wfs/engine/checkpoint"
	"github.com/wfs-dev/wfs/engine/decide"
	"github.com/wfs-dev/wfs/engine/hand"
	"github.com/wfs-dev/wfs/engine/judging"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/session/cost"
)

// Outside watches the surroundings of a session while it is driven.
type Outside struct {
	*hand.Hand
	*Engine
	checkpoints *checkpoint.Checkpoints
	converts    *session.Conversions // as of the start of this command, nil while it does not drive
}

// lookAround records the changes of a run outside the session's branch and files. Only this process may move the
// ledger. If the run moved it, the session's own records were changed: lookAround restores the ledger, saves the files
// of the run, and blocks the session until a person has looked.
func (h *Outside) lookAround(ctx context.Context, before session.Surroundings, locked []session.GitLock,
	used cost.Usage) (tampered bool, err error) {
	st := h.Git
	locks, err := h.strandedLocks(ctx, locked) // first, since locks block the steps below
	if err != nil {
		return false, err
	}
	after, err := h.Around.Surroundings(ctx, h.ID)
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
			if err := h.Append(strayed); err != nil {
				return false, err
			}
		}
		if len(elsewhere) == 0 {
			return false, nil
		}
		return true, h.stopFor(ctx, session.BlockedBy{Reason: session.BlockTamper,
			Hint:     "git config --list --show-origin, restore it, then wfs run",
			Evidence: []string{judging.SettingsChanged(elsewhere)}}, used)
	}
	back, err := h.Around.PutBack(ctx, ledger, h.Tip)
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
		if err := h.Append(strayed); err != nil {
			return false, err
		}
	}
	block := session.BlockedBy{Reason: session.BlockTamper, Hint: "wfs diff, then wfs run",
		Evidence: []string{fmt.Sprintf("%s was %s during the run; restored", ledger, what)}}
	return true, h.stopFor(ctx, block, used)
}

// stopFor blocks the session because of its run, and saves the files of the run.
func (h *Outside) stopFor(ctx context.Context, block session.BlockedBy, used cost.Usage) error {
	if err := h.found(used); err != nil {
		return err
	}
	if err := h.Append(block); err != nil {
		return err
	}
	_, err := h.checkpoints.Keep(ctx, session.TriggerInterrupted, "unjudged, from an attempt")
	return err
}

// convertAsBefore restores the git settings from when this command began to drive. A run or gate may have changed how
// git converts files, so that trees made here differ from what others check out. back names the settings that were
// restored; elsewhere names those in the user's own files, which are never restored.
func (h *Outside) convertAsBefore(ctx context.Context) (back, elsewhere []string, err error) {
	if h.converts == nil {
		return nil, nil, nil
	}
	return h.Around.PutConversionsBack(ctx, *h.converts)
}

// leaveConversions restores settings that the last gate may have changed. The next command would take them for the
// user's.
func (h *Outside) leaveConversions(ctx context.Context) error {
	back, _, err := h.convertAsBefore(ctx)
	h.converts = nil
	if err != nil || len(back) == 0 {
		return err
	}
	return h.Append(session.Strayed{Back: back})
}

// keepWas saves the old content of changed files in the run's directory, as far as possible.
func (h *Outside) keepWas(strayed *session.Strayed, before session.Surroundings) {
	for _, f := range strayed.Files {
		if t, small := before.Texts[f]; small && h.Files.KeepWas(h.S.Started, f, t) == nil {
			if strayed.Was == nil {
				strayed.Was = map[string]string{}
			}
			strayed.Was[f] = h.S.Started
		}
	}
}

// strandedLocks moves aside git locks that appeared during a run or its gates and were left by processes that are all
// dead. It skips locks that existed before or that a process holds. It returns the names of the locks that it moved.
func (h *Outside) strandedLocks(ctx context.Context, before []session.GitLock) ([]string, error) {
	since := slices.DeleteFunc(h.Around.Locks(), func(l session.GitLock) bool { return slices.Contains(before, l) })
	if len(since) == 0 || len(h.Alive()) > 0 {
		return nil, nil
	}
	dir, err := h.Files.RunDir(h.S.Started)
	if err != nil {
		return nil, err
	}
	return h.Around.SetLocksAside(ctx, since[:min(len(since), session.MaxNamed)], filepath.Join(dir, "locks"))
}

// deadLocks is strandedLocks after a crash, for all locks since the open attempt began. It skips a lock with the name
// of one that existed before.
func (h *Outside) deadLocks(ctx context.Context) error {
	if h.S.Open.Runner == decide.RunnerPerson {
		return nil
	}
	before := slices.DeleteFunc(h.Around.Locks(),
		func(l session.GitLock) bool { return !slices.Contains(h.S.Open.Locks, l.Name) })
	locks, err := h.strandedLocks(ctx, before)
	if err != nil || len(locks) == 0 {
		return err
	}
	return h.Append(session.Strayed{Locks: locks})
}

// foundText returns the summary of a checkpoint that is made before a runner starts. It names the first files, because
// they will be handed over with the work.
func foundText(committed bool, changes []session.Change) string {
	text := "edits found before an attempt"
	if committed {
		text = "commits found before an attempt"
	}
	for i, c := range changes[:min(len(changes), 3)] {
		text += [...]string{": ", ", ", ", "}[i] + session.OneLine(c.Path, 60)
	}
	if n := len(changes) - 3; n > 0 {
		text += fmt.Sprintf(" and %d more", n)
	}
	return text
}

// lockNames returns the names of the first git locks that exist now.
func (h *Outside) lockNames() []string {
	var names []string
	for _, l := range h.Around.Locks() {
		if len(names) < session.MaxNamed {
			names = append(names, l.Name)
		}
	}
	return names
}
