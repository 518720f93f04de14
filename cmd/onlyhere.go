package cmd

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/gitstate"
	"github.com/wfs-dev/wfs/session"
)

// unheld is work that nothing but a session holds.
type unheld struct {
	what, name string // for people, and for a branch
	commit     session.Commit
}

// onlyHere is the newest end of a line of work that nothing but the session holds, nil for none. asked is what
// became of the line that the session stands on, or of what was handed over.
//
// Attempts that somebody has gone back from, to hand over or merge another one, are given up by that. What a person has
// made is not, and neither is anything as long as nothing came of the session.
func (a *app) onlyHere(ctx context.Context, s *session.Session, asked gitstate.Fate) (*unheld, error) {
	w, err := workOf(ctx, a.Repo, s)
	if err != nil {
		return nil, err
	}
	from, finished := w.Commit, s.Status == session.StatusFinished && s.Finished != nil
	held := []session.Commit{w.Commit, s.Base}
	if finished { // it was made of a checkpoint
		from = s.At(s.Finished.Checkpoint).Code
		held = append(held, from)
	}
	all, err := a.movedFrom(ctx, s.ID)
	if err != nil {
		return nil, err
	}
	for _, c := range s.Checkpoints {
		all = append(all, c.Code)
	}
	if tip, err := a.Repo.Ref(ctx, s.Branch()); err != nil {
		return nil, err
	} else if tip != "" { // commits by hand may be on it, also since it was handed over
		all = append(all, tip)
	}
	ends, err := a.Repo.Ends(ctx, all, held)
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(ends, func(x, y session.Commit) int { return slices.Index(all, y) - slices.Index(all, x) })
	for _, end := range ends {
		line, err := a.Repo.Beyond(ctx, from, end)
		if err != nil {
			return nil, err
		}
		u := unheld{what: "commit " + end.Short(), name: "commit-" + end.Short(), commit: end}
		is := func(c session.Checkpoint) bool { return c.Code == end }
		if i := slices.IndexFunc(s.Checkpoints, is); i >= 0 {
			c := s.Checkpoints[i]
			u.what, u.name = fmt.Sprintf("checkpoint %d (%s)", c.Number, c.Summary), fmt.Sprintf("checkpoint-%d", c.Number)
			byPerson := func(o session.Checkpoint) bool { return slices.Contains(line, o.Code) && !byMachine(o.Trigger) }
			if asked.How != gitstate.FateNothing && (finished || c.Number < s.Current) &&
				!slices.ContainsFunc(s.Checkpoints, byPerson) {
				continue
			}
		}
		if len(line) == 0 {
			continue
		}
		fate, err := a.Repo.Fate(ctx, gitstate.Work{Commit: end, Base: w.Base, Handed: w.Handed})
		if err != nil {
			return nil, err
		}
		if fate.How != gitstate.FateNowhere {
			continue
		}
		if picked, err := a.picked(ctx, w.Base, end, line); err != nil || !picked {
			return &u, err
		}
	}
	return a.onlyRescued(ctx, s, w)
}

// movedFrom are commits by hand that the session's branch was moved away from. The moves keep them.
func (a *app) movedFrom(ctx context.Context, id session.ID) ([]session.Commit, error) {
	commits, err := a.Repo.Ledgers(ctx, id)
	if err != nil {
		return nil, err
	}
	var list []session.Commit
	for _, l := range commits {
		info, err := a.Repo.CommitInfo(ctx, l.Commit)
		if err != nil {
			return nil, err
		}
		if len(info.Parents) < 2 || strings.Contains(info.Body, "Wfs-Ledger-Code: ") {
			continue
		}
		data, err := a.Repo.File(ctx, l.Commit, session.FileEvents)
		if err != nil {
			return nil, err
		}
		events, err := session.DecodeLines(data)
		if err != nil || len(events) == 0 {
			return nil, err
		}
		if _, ok := events[len(events)-1].Body.(session.Moved); ok {
			list = append(list, info.Parents[1:]...)
		}
	}
	return list, nil
}

// byMachine reports whether checkpoints of a kind hold what an attempt made, or nothing new.
func byMachine(t session.Trigger) bool {
	switch t {
	case session.TriggerBaseline, session.TriggerAttempt, session.TriggerInterrupted:
		return true
	}
	return false
}
