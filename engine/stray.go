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
	"github.com/wfs-dev/wfs/internal/safetext"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/session/cost"
)

// Outside watches the repository outside a session's branch and files while the session is driven.
type Outside struct {
	*hand.Hand
	*Engine
	checkpoints *checkpoint.Checkpoints
	converts    *session.Conversions // git settings when this command began to drive, nil before and after
}

// lookAround records the changes that a run made outside the session's branch and files. It blocks the session, saves
// the files of the run as a checkpoint, and returns true in two cases: the run changed git settings that wfs cannot
// restore, or it moved the ledger. Only this process may move the ledger, so in this case the session's own records
// were changed; lookAround restores the ledger first.
func (h *Outside) lookAround(ctx context.Context, before session.Surroundings, locked []session.GitLock,
	used cost.Usage) (tampered bool, err error) {
	st := h.Git
	locks, err := h.strandedLocks(ctx, locked) // do this first, since locks block the steps below
	if err != nil {
		return false, err
	}
	after, err := h.Around.Surroundings(ctx, h.ID)
	if err != nil {
		return false, err
	}
	strayed := session.StrayedFrom(before, after, h.Around.MovesSince(ctx, before.Wfs))
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

// stopFor blocks the session because of the changes that its run made, and saves the files of the run as a checkpoint.
// `used` is the usage of the run.
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
// git converts files, so that trees made here would differ from the files that others check out. `back` names the
// settings that were restored; `elsewhere` names changed settings in the user's own files, which wfs never restores.
func (h *Outside) convertAsBefore(ctx context.Context) (back, elsewhere []string, err error) {
	if h.converts == nil {
		return nil, nil, nil
	}
	return h.Around.PutConversionsBack(ctx, *h.converts)
}

// leaveConversions restores git settings that the last gate may have changed, when this command stops driving.
// Otherwise the next command would take them for the user's settings.
func (h *Outside) leaveConversions(ctx context.Context) error {
	back, _, err := h.convertAsBefore(ctx)
	h.converts = nil
	if err != nil || len(back) == 0 {
		return err
	}
	return h.Append(session.Strayed{Back: back})
}

// keepWas saves the old content of files outside the session that the run changed, in the run's directory, and adds
// them to strayed.Was. It skips a file whose old content is not in `before` or cannot be saved.
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

// deadLocks does the same as strandedLocks after a crash, for all locks that appeared since the open attempt began, and
// records the moved ones. Only the names of the older locks are known, so it also skips a new lock with such a name.
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
		text += [...]string{": ", ", ", ", "}[i] + safetext.OneLine(c.Path, 60)
	}
	if n := len(changes) - 3; n > 0 {
		text += fmt.Sprintf(" and %d more", n)
	}
	return text
}

// lockNames returns the names of git locks that exist now, at most session.MaxNamed.
func (h *Outside) lockNames() []string {
	var names []string
	for _, l := range h.Around.Locks() {
		if len(names) < session.MaxNamed {
			names = append(names, l.Name)
		}
	}
	return names
}
