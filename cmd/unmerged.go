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
func onlyHere(ctx context.Context, repo *gitstate.Repo, s *session.Session, asked gitstate.Fate) (*unheld, error) {
	w, err := workOf(ctx, repo, s)
	if err != nil {
		return nil, err
	}
	from, finished := w.Commit, s.Status == session.StatusFinished && s.Finished != nil
	held := []session.Commit{w.Commit, s.Base}
	if finished { // it was made of a checkpoint
		from = s.At(s.Finished.Checkpoint).Code
		held = append(held, from)
	}
	all, err := movedFrom(ctx, repo, s.ID)
	if err != nil {
		return nil, err
	}
	for _, c := range s.Checkpoints {
		all = append(all, c.Code)
	}
	if tip, err := repo.Ref(ctx, s.Branch()); err != nil {
		return nil, err
	} else if tip != "" { // commits by hand may be on it, also since it was handed over
		all = append(all, tip)
	}
	ends, err := repo.Ends(ctx, all, held)
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(ends, func(x, y session.Commit) int { return slices.Index(all, y) - slices.Index(all, x) })
	for _, end := range ends {
		line, err := repo.Beyond(ctx, from, end)
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
		fate, err := repo.Fate(ctx, gitstate.Work{Commit: end, Base: w.Base, Handed: w.Handed})
		if err != nil {
			return nil, err
		}
		if fate.How != gitstate.FateNowhere {
			continue
		}
		if picked, err := picked(ctx, repo, w.Base, end, line); err != nil || !picked {
			return &u, err
		}
	}
	return onlyRescued(ctx, repo, s, w)
}

// movedFrom are commits by hand that the session's branch was moved away from. The moves keep them.
func movedFrom(ctx context.Context, repo *gitstate.Repo, id session.ID) ([]session.Commit, error) {
	commits, err := repo.Ledgers(ctx, id)
	if err != nil {
		return nil, err
	}
	var list []session.Commit
	for _, l := range commits {
		info, err := repo.CommitInfo(ctx, l.Commit)
		if err != nil {
			return nil, err
		}
		if len(info.Parents) < 2 || strings.Contains(info.Body, "Wfs-Ledger-Code: ") {
			continue
		}
		data, err := repo.File(ctx, l.Commit, session.FileEvents)
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
