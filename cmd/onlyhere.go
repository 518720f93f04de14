package cmd

import (
	"context"
	"slices"

	"github.com/wfs-dev/wfs/gitstate"
	"github.com/wfs-dev/wfs/session"
)

// onlyHere is the newest checkpoint at the end of a line whose work nothing but the session holds, nil for none. asked is
// what became of the line that the session stands on, or of what was handed over.
//
// Attempts that somebody has gone back from, to hand over or merge another one, are given up by that. What a person has
// made is not, and neither is anything as long as nothing came of the session.
func (a *app) onlyHere(ctx context.Context, s *session.Session, asked gitstate.Fate) (*session.Checkpoint, error) {
	w, err := a.workOf(ctx, s)
	if err != nil {
		return nil, err
	}
	from, finished := w.Commit, s.Status == session.StatusFinished && s.Finished != nil
	held := []session.Commit{w.Commit, s.Base}
	if finished { // it was made of a checkpoint
		from = s.At(s.Finished.Checkpoint).Code
		held = append(held, from)
	}
	var all []session.Commit
	for _, c := range s.Checkpoints {
		all = append(all, c.Code)
	}
	ends, err := a.repo.Ends(ctx, all, held)
	if err != nil || len(ends) == 0 {
		return nil, err
	}
	for _, c := range slices.Backward(s.Checkpoints) {
		if !slices.Contains(ends, c.Code) {
			continue
		}
		line, err := a.repo.Beyond(ctx, from, c.Code)
		if err != nil {
			return nil, err
		}
		on := func(o session.Checkpoint) bool { return slices.Contains(line, o.Code) }
		byPerson := func(o session.Checkpoint) bool { return on(o) && !byMachine(o.Trigger) }
		givenUp := asked.How != gitstate.FateNothing && (finished || c.Number < s.Current) && !slices.ContainsFunc(s.Checkpoints, byPerson)
		if givenUp || !slices.ContainsFunc(s.Checkpoints, on) {
			continue
		}
		fate, err := a.repo.Fate(ctx, gitstate.Work{Commit: c.Code, Base: w.Base, Handed: w.Handed})
		if err != nil {
			return nil, err
		}
		if fate.How == gitstate.FateNowhere {
			return &c, nil
		}
	}
	return nil, nil
}

// byMachine reports whether checkpoints of a kind hold what an attempt made, or nothing new.
func byMachine(t session.Trigger) bool {
	switch t {
	case session.TriggerBaseline, session.TriggerAttempt, session.TriggerInterrupted:
		return true
	}
	return false
}
