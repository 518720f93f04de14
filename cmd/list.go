package cmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/wfs-dev/wfs/gitstate"
	"github.com/wfs-dev/wfs/internal/safetext"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
	"github.com/wfs-dev/wfs/workspace/check"
)

type listJSON struct {
	Version  int           `json:"version"`
	Sessions []sessionJSON `json:"sessions"`
}

// unreadable is what list says in place of a status.
const unreadable session.Status = "unreadable"

// statuses are what list can be asked for.
var statuses = []string{
	string(session.StatusCreated), string(session.StatusRunning), string(session.StatusPaused), string(session.StatusInterrupted),
	string(session.StatusWaiting), string(session.StatusBlocked), string(session.StatusCompleted), string(session.StatusFinished),
	string(session.StatusAbandoned), string(unreadable),
}

func (a *app) listCmd() *cobra.Command {
	var status string
	var merged, noMerged, deleted bool
	c := &cobra.Command{
		Use: "list", Short: "all sessions of this repository", Aliases: []string{"ls"},
		Long: "List shows every session of the repository, most recent first. A star marks the one that is checked out here, a plus\nthose in other work trees. It writes nothing and takes no lock.\n\n" +
			"With --merged or --no-merged it checks which work a branch of yours has, be it merged, squashed,\n" +
			"rebased or cherry-picked. That takes a moment.",
		Example: "  wfs list\n  wfs list --status blocked --json\n  wfs list --merged\n  wfs list --deleted",
		Args:    noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if status != "" && !slices.Contains(statuses, status) {
				e := usage("", "--status %q: it is one of %s", status, strings.Join(statuses, ", "))
				if near := workflows.Suggest(status, statuses); near != "" {
					e.Hint = "wfs list --status " + near
				}
				return e
			}
			if err := a.Open(c.Context()); err != nil {
				return err
			}
			if merged && noMerged {
				return usage("wfs list --help", "--merged and --no-merged exclude each other")
			}
			if deleted {
				return a.listDeleted(c.Context())
			}
			list, err := a.sessions(c.Context())
			if err != nil {
				return err
			}
			if merged || noMerged {
				if list, err = a.withFate(c.Context(), list, merged); err != nil {
					return err
				}
			}
			if status != "" {
				list = slices.DeleteFunc(list, func(s sessionJSON) bool { return string(s.Status) != status })
			}
			if a.json {
				return a.answer(listJSON{jsonVersion, list})
			}
			a.sayElsewhere(c.Context())
			if len(list) == 0 && !merged && !noMerged && status == "" {
				a.note("no sessions; begin one: %s", a.newCommand(c.Context()))
			}
			a.printList(list)
			return nil
		},
	}
	c.Flags().StringVar(&status, "status", "", "only sessions with this `status`")
	c.Flags().BoolVar(&merged, "merged", false, "only sessions whose work is merged, and into what")
	c.Flags().BoolVar(&noMerged, "no-merged", false, "only sessions whose work is not merged")
	c.Flags().BoolVar(&deleted, "deleted", false, "sessions that were deleted, and are kept until wfs gc")
	return c
}

// sessions describes every session. One that cannot be read is listed with the reason.
func (a *app) sessions(ctx context.Context) ([]sessionJSON, error) {
	list := []sessionJSON{}
	all, err := a.Repo.Sessions(ctx)
	if errors.Is(err, gitstate.ErrBrokenRef) {
		list, err = a.damagedSessions(ctx, err)
	}
	if err != nil {
		return nil, err
	}
	trees, err := a.Repo.Worktrees(ctx)
	if err != nil {
		return nil, err
	}
	for id, tip := range all {
		v, err := a.Engine.Load(ctx, id, tip)
		if err == nil {
			err = a.SeeInterrupted(&v.Session)
		}
		if err != nil {
			list = append(list, sessionJSON{Version: jsonVersion, ID: id, Name: id.Trailer(), Status: unreadable, Why: err.Error(), Next: []string{"wfs show " + string(id)}})
			continue
		}
		list = append(list, a.describe(&v.Session, a.On(trees, id)))
	}
	slices.SortFunc(list, func(x, y sessionJSON) int {
		return cmp.Or(y.UpdatedAt.Compare(x.UpdatedAt), cmp.Compare(x.ID, y.ID))
	})
	return list, nil
}

// damagedSessions are those whose ledger's ref cannot be read. It returns the error when it is about something else.
func (a *app) damagedSessions(ctx context.Context, err error) ([]sessionJSON, error) {
	list := []sessionJSON{}
	_, broken, e := a.Repo.OurRefs(ctx)
	for _, b := range broken {
		if id := check.SessionOf(b.Ref); id != "" && b.Ref == session.LedgerOf(id) {
			list = append(list, sessionJSON{Version: jsonVersion, ID: id, Name: id.Trailer(), Status: unreadable, Why: b.Err.Error(), Next: []string{check.RepairCommand}})
		}
	}
	if e != nil || len(list) == 0 {
		return nil, err
	}
	return list, nil
}

func (a *app) printList(list []sessionJSON) {
	cut := func(text string, part int) string { // for columns that must leave room for the others
		if a.env.Width == 0 {
			return text
		}
		return safetext.Cut(text, max(12, a.env.Width/part))
	}
	rows := make([][]cell, 0, len(list))
	for _, s := range list {
		mark := " "
		switch {
		case s.Current:
			mark = "*"
		case s.Worktree != "":
			mark = "+"
		}
		at := string(s.Phase)
		if s.Items > 0 {
			at = fmt.Sprintf("%s %d/%d", s.Phase, min(s.Lap, s.Items), s.Items)
		} else if s.Lap > 0 {
			at = fmt.Sprintf("%s lap %d", s.Phase, s.Lap)
		}
		if s.Items > 0 && s.Phase == workflows.Done {
			at = fmt.Sprintf("%d/%d", s.ItemsDone, s.Items)
		} else if s.Status == session.StatusCompleted || s.Status.Final() || s.Status == unreadable {
			at = "-"
		}
		goal := s.headline()
		if s.Status == unreadable {
			goal = s.Why
		}
		switch {
		case s.Gone:
			goal += "  (in " + s.Worktree + ", which is gone)"
		case s.Worktree != "" && !s.Current:
			goal += "  (in " + s.Worktree + ")"
		}
		if s.Became != nil {
			goal += "  (" + becameText(*s.Became) + ")"
		}
		rows = append(rows, []cell{{mark, plain}, {cut(string(s.ID), 3), plain}, {string(s.Status), statusColour(s.Status)}, {cut(at, 5), plain},
			{ago(s.UpdatedAt, a.env.Now()), plain}, {goal, plain}})
	}
	a.table(rows)
}

func unix(sec int64) time.Time { return time.Unix(sec, 0) }
