package cmd

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/gitstate"
	"github.com/wfs-dev/wfs/session"
)

// onlyRescued is a rescue of the session's with something in it that no branch of the user's has either, nil
// for none. The moves have kept it of what lay in the work tree, so it may be a person's. w is the session's
// own work.
func onlyRescued(ctx context.Context, repo *gitstate.Repo, s *session.Session, w gitstate.Work) (*unheld, error) {
	own, err := repo.OwnRefs(ctx, s.ID)
	if err != nil {
		return nil, err
	}
	prefix := gitstate.RescuePrefix(s.ID)
	maps.DeleteFunc(own, func(name string, _ session.Commit) bool { return !strings.HasPrefix(name, prefix) })
	if len(own) == 0 {
		return nil, nil
	}
	trees, err := repo.LedgerTrees(ctx, s.ID)
	if err != nil {
		return nil, err
	}
	for _, name := range slices.Backward(sortedKeys(own)) {
		state, err := repo.State(ctx, own[name])
		if err != nil {
			return nil, err
		}
		if only, err := repo.OnlyIn(ctx, own[name], state, trees); err != nil {
			return nil, err
		} else if only == "" {
			continue
		}
		parts, err := repo.RescuedWork(ctx, own[name], state)
		if err != nil {
			return nil, err
		}
		for _, p := range parts {
			fate, err := repo.Fate(ctx, gitstate.Work{Commit: p.Commit, Base: w.Base, Handed: w.Handed})
			if err != nil {
				return nil, err
			}
			if fate.How != gitstate.FateNowhere {
				continue
			}
			if picked, err := picked(ctx, repo, w.Base, p.Commit, []session.Commit{p.Commit}); err != nil {
				return nil, err
			} else if number := strings.TrimPrefix(name, prefix); !picked || p.Commit == own[name] {
				return &unheld{what: fmt.Sprintf("%s that backup %s keeps (%s)", p.What, number, state.Why),
					name: "rescue-" + number + p.Name, commit: p.Commit}, nil
			}
		}
	}
	return nil, nil
}

// picked reports whether a branch has the patches of commits that lead to end, whatever it has of those below them.
func picked(ctx context.Context, repo *gitstate.Repo, branch string, end session.Commit, line []session.Commit) (bool, error) {
	if branch == "" {
		return false, nil
	}
	tip, err := repo.Ref(ctx, branch)
	if err != nil || tip == "" {
		return false, err
	}
	left, err := repo.Beyond(ctx, tip, end)
	return !slices.ContainsFunc(line, func(c session.Commit) bool { return slices.Contains(left, c) }), err
}
