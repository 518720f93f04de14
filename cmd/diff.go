package cmd

import (
	"context"
	"strings"

	"github.com/wfs-dev/wfs/gitstate/object"

	"github.com/spf13/cobra"

	"github.com/wfs-dev/wfs/session"
)

type diffJSON struct {
	Version int              `json:"version"`
	From    session.Commit   `json:"from"`
	To      session.Commit   `json:"to"`
	Changes []session.Change `json:"changes"`
}

type diffVerb struct {
	*app
	o object.DiffOptions
}

func (a *diffVerb) command() *cobra.Command {
	c := &cobra.Command{
		Use:   "diff [SESSION | CHECKPOINT [CHECKPOINT]]",
		Short: "what a session changed, or one checkpoint compared with another",
		Long: `Diff shows what the session changed since its base. With one checkpoint it compares that with the
session's current one; with two, the first with the second. SESSION@auto is the newest backup of a run. Edits
that are in no checkpoint yet are left out, and named. It writes nothing and takes no lock.`,
		Example: `  wfs diff
  wfs diff csv-export --stat
  wfs diff @3
  wfs diff csv-export@3 csv-export@7`,
		Args: upTo(2),
		RunE: with(a.run),
	}
	c.Flags().BoolVar(&a.o.Stat, "stat", false, "names and counts only")
	c.Flags().BoolVar(&a.o.NameOnly, "name-only", false, "names only")
	return c
}

func (a *diffVerb) run(ctx context.Context, args []string) error {
	if err := a.Open(ctx); err != nil {
		return err
	}
	from, to, err := a.ends(ctx, args)
	if err != nil {
		return err
	}
	if !a.json {
		a.noteEdits(ctx, to)
		a.page(ctx)
		return a.diffTo(ctx, from, to, a.o)
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
}

// ends turns the arguments into the two commits to compare. With one argument, the other end is the current checkpoint;
// without any, the diff shows the session's whole work.
func (a *diffVerb) ends(ctx context.Context, args []string) (from, to session.Commit, err error) {
	var ends []session.Commit
	name, auto := "", false
	for _, arg := range args {
		code, id, isAuto, err := a.commitNamed(ctx, arg)
		if err != nil {
			var is bool
			if name, is = a.sessionAlone(ctx, args); !is {
				return "", "", err
			}
			break
		}
		ends, name, auto = append(ends, code), string(id), isAuto
	}
	if len(ends) == 2 {
		return ends[0], ends[1], nil
	}
	v, err := a.OpenView(ctx, name)
	if err != nil {
		return "", "", err
	}
	now := v.Session.At(v.Session.Current).Code
	if len(ends) == 0 {
		return v.Session.Base, now, nil
	}
	if auto { // the changes since the checkpoint
		return now, ends[0], nil
	}
	return ends[0], now, nil
}

// sessionAlone returns the session that a single argument names. `is` is false if the arguments are something else.
func (a *diffVerb) sessionAlone(ctx context.Context, args []string) (name string, is bool) {
	if len(args) != 1 || strings.Contains(args[0], "@") {
		return "", false
	}
	id, err := a.Resolve(ctx, args[0])
	return string(id), err == nil
}

// commitNamed returns the commit of the checkpoint or the automatic backup that `text` names. It also returns its
// session, and whether it is a backup.
func (a *diffVerb) commitNamed(ctx context.Context, text string) (code session.Commit, id session.ID, isAuto bool,
	err error) {
	id, isAuto, err = autoNamed(ctx, a.Workspace, text)
	if err != nil {
		return "", id, isAuto, err
	}
	if isAuto {
		auto, err := autoSaveOf(ctx, a.Workspace, id)
		if err != nil {
			return "", id, true, err
		}
		return auto.Code, id, true, nil
	}
	id, n, err := a.Address(ctx, text)
	if err != nil {
		return "", id, false, err
	}
	v, err := a.View(ctx, id)
	if err != nil {
		return "", id, false, err
	}
	return v.Session.At(n).Code, id, false, nil
}
