package cmd

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/wfs-dev/wfs/gitstate"
	"github.com/wfs-dev/wfs/session"
)

type diffJSON struct {
	Version int              `json:"version"`
	From    session.Commit   `json:"from"`
	To      session.Commit   `json:"to"`
	Changes []session.Change `json:"changes"`
}

func (a *app) diffCmd() *cobra.Command {
	var o gitstate.DiffOptions
	c := &cobra.Command{
		Use: "diff [SESSION | CHECKPOINT [CHECKPOINT]]", Short: "what a session changed, or one checkpoint compared with another",
		Long: `Diff shows what the session changed since its base. With one checkpoint it compares that with the session's current one;
with two, the first with the second. SESSION@auto is the newest backup of a run. Edits that are in no checkpoint yet are left
out, and named. It writes nothing and takes no lock.`,
		Example: `  wfs diff
  wfs diff csv-export --stat
  wfs diff @3
  wfs diff csv-export@3 csv-export@7`,
		Args: upTo(2),
		RunE: func(c *cobra.Command, args []string) error {
			ctx := c.Context()
			if err := a.Open(ctx); err != nil {
				return err
			}
			from, to, err := a.diffEnds(ctx, args)
			if err != nil {
				return err
			}
			if !a.json {
				a.noteEdits(ctx, to)
				a.page(ctx)
				return a.diffTo(ctx, from, to, o)
			}
			x, err := a.Repo.TreeOf(ctx, from)
			if err != nil {
				return err
			}
			y, err := a.Repo.TreeOf(ctx, to)
			if err != nil {
				return err
			}
			changes, err := a.Repo.Changes(ctx, x, y)
			if err != nil {
				return err
			}
			return a.answer(diffJSON{jsonVersion, from, to, list(changes)})
		},
	}
	c.Flags().BoolVar(&o.Stat, "stat", false, "names and counts only")
	c.Flags().BoolVar(&o.NameOnly, "name-only", false, "names only")
	return c
}

// diffEnds turns arguments into the two commits to compare.
func (a *app) diffEnds(ctx context.Context, args []string) (from, to session.Commit, err error) {
	name := ""
	if len(args) == 1 && args[0] != autoName && !strings.Contains(args[0], "@") {
		if _, _, err := a.Address(ctx, args[0]); err != nil { // no checkpoint, so it may be a session
			if id, err := a.Resolve(ctx, args[0]); err == nil {
				name, args = string(id), nil
			}
		}
	}
	var ends []session.Commit
	var s session.Session
	for _, arg := range args {
		if id, ok, err := a.autoNamed(ctx, arg); err != nil {
			return "", "", err
		} else if ok {
			auto, err := a.auto(ctx, id)
			if err != nil {
				return "", "", err
			}
			if len(args) == 1 { // what it holds beyond the checkpoint
				v, err := a.View(ctx, id)
				if err != nil {
					return "", "", err
				}
				return v.Session.At(v.Session.Current).Code, auto.Code, nil
			}
			ends = append(ends, auto.Code)
			continue
		}
		id, n, err := a.Address(ctx, arg)
		if err != nil {
			return "", "", err
		}
		v, err := a.View(ctx, id)
		if err != nil {
			return "", "", err
		}
		s = v.Session
		ends = append(ends, s.At(n).Code)
	}
	if len(ends) == 2 {
		return ends[0], ends[1], nil
	}
	if len(ends) == 1 {
		return ends[0], s.At(s.Current).Code, nil
	}
	id, err := a.Resolve(ctx, name)
	if err != nil {
		return "", "", err
	}
	v, err := a.View(ctx, id)
	if err != nil {
		return "", "", err
	}
	return v.Session.Base, v.Session.At(v.Session.Current).Code, nil
}
