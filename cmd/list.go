package cmd

import (
	"cmp"
	"context"
	"errors"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"github.com/wfs-dev/wfs/cmd/internal/present"
	"github.com/wfs-dev/wfs/gitstate/refs"
	"github.com/wfs-dev/wfs/gitstate/worktree"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows/spelling"
	"github.com/wfs-dev/wfs/workspace/check"
)

type listJSON struct {
	Version  int               `json:"version"`
	Sessions []present.Session `json:"sessions"`
}

// statuses are the valid values of list --status.
var statuses = []string{
	string(session.StatusCreated), string(session.StatusRunning), string(session.StatusPaused), string(
		session.StatusInterrupted),
	string(session.StatusWaiting), string(session.StatusBlocked), string(session.StatusCompleted),
	string(session.StatusFinished),
	string(session.StatusAbandoned), string(present.Unreadable),
}

type listVerb struct {
	*app
	status                    string
	merged, noMerged, deleted bool
	// remember returns a row that was read before if it is still right, and else calls `read`; nil: it always reads
	remember func(id session.ID, tip session.Commit, read func() present.Session) present.Session
}

func (a *listVerb) command() *cobra.Command {
	c := &cobra.Command{
		Use: "list", Short: "all sessions of this repository", Aliases: []string{"ls"},
		Long: "List shows every session of the repository, most recent first. A star marks the one that is checked out here, a plus\nthose in other work trees. It writes nothing and takes no lock.\n\n" +
			"With --merged or --no-merged it checks which work a branch of yours has, be it merged, squashed,\n" +
			"rebased or cherry-picked. That takes a moment.",
		Example: "  wfs list\n  wfs list --status blocked --json\n  wfs list --merged\n  wfs list --deleted",
		Args:    noArgs,
		RunE:    with(a.run),
	}
	c.Flags().StringVar(&a.status, "status", "", "only sessions with this `status`")
	c.Flags().BoolVar(&a.merged, "merged", false, "only sessions whose work is merged, and into what")
	c.Flags().BoolVar(&a.noMerged, "no-merged", false, "only sessions whose work is not merged")
	c.Flags().BoolVar(&a.deleted, "deleted", false, "sessions that were deleted, and are kept until wfs gc")
	return c
}

func (a *listVerb) run(ctx context.Context, _ []string) error {
	if err := a.checkFlags(); err != nil {
		return err
	}
	if err := a.Open(ctx); err != nil {
		return err
	}
	if a.deleted {
		return a.listDeleted(ctx)
	}
	list, err := a.sessions(ctx, !a.json)
	if err == nil && (a.merged || a.noMerged) {
		list, err = a.withFate(ctx, list)
	}
	if err != nil {
		return err
	}
	list = slices.DeleteFunc(list, func(s present.Session) bool { return a.status != "" && string(s.Status) != a.status })
	if a.json {
		return a.answer(listJSON{jsonVersion, list})
	}
	a.noteAbsent(ctx, len(list))
	a.env.List(list)
	return nil
}

// checkFlags returns an error for an unknown status, and for flags that exclude each other.
func (a *listVerb) checkFlags() error {
	if a.status != "" && !slices.Contains(statuses, a.status) {
		e := usage("", "--status %q: it is one of %s", a.status, strings.Join(statuses, ", "))
		if near := spelling.Suggest(a.status, statuses); near != "" {
			e.Hint = "wfs list --status " + near
		}
		return e
	}
	if a.merged && a.noMerged {
		return usage("wfs list --help", "--merged and --no-merged exclude each other")
	}
	return nil
}

// noteAbsent explains why the list, which has n sessions, may be shorter than the user expects: sessions on a remote
// were not fetched, or there are none at all.
func (a *listVerb) noteAbsent(ctx context.Context, n int) {
	if remote, command := a.SomeRemote(ctx); remote != "" {
		a.note("%s has sessions that were not fetched: %s", remote, command)
	}
	if n == 0 && !a.merged && !a.noMerged && a.status == "" {
		a.note("no sessions; begin one: %s", a.newCommand(ctx))
	}
}

// sessions describes all sessions. If `brief` is set, it fills in only the fields that List prints, which may come from
// a cache. A session that cannot be read is in the list with the reason.
func (a *listVerb) sessions(ctx context.Context, brief bool) ([]present.Session, error) {
	list := []present.Session{}
	all, err := a.Repo.Sessions(ctx)
	if errors.Is(err, refs.ErrBrokenRef) {
		list, err = a.damagedSessions(ctx, err)
	}
	if err != nil {
		return nil, err
	}
	trees, err := a.Repo.Worktrees(ctx)
	if err != nil {
		return nil, err
	}
	list, damaged := make([]present.Session, 0, len(all)), list
	for id := range all {
		list = append(list, present.Session{ID: id})
	}
	var wait sync.WaitGroup
	for part := range slices.Chunk(list, len(list)/runtime.GOMAXPROCS(0)+1) {
		wait.Go(func() {
			for i, s := range part {
				in := a.On(trees, s.ID)
				if a.remember == nil {
					part[i] = a.describeAt(ctx, s.ID, all[s.ID], in, brief)
					continue
				}
				part[i] = a.remember(s.ID, all[s.ID], func() present.Session {
					j := a.describeAt(ctx, s.ID, all[s.ID], in, true)
					if j.Of == nil && !j.Status.Final() &&
						j.Status != session.StatusCreated && j.Status != present.Unreadable {
						return a.describeAt(ctx, s.ID, all[s.ID], in, false) // the page shows more of it than the list
					}
					return j
				})
				a.placed(&part[i], in)
			}
		})
	}
	wait.Wait()
	list = append(list, damaged...)
	slices.SortFunc(list, func(x, y present.Session) int {
		return cmp.Or(y.UpdatedAt.Compare(x.UpdatedAt), cmp.Compare(x.ID, y.ID))
	})
	return list, nil
}

// describeAt describes a session from its ledger at the commit `tip`. `in` is the work tree that has the session
// checked out, or nil.
func (a *listVerb) describeAt(ctx context.Context, id session.ID, tip session.Commit, in *worktree.Worktree, brief bool,
) present.Session {
	var j present.Session
	if brief && a.Clone.Session(id).Row(tip, &j) && j.Status != session.StatusRunning {
		a.placed(&j, in)
		return j
	}
	v, err := a.Engine.Load(ctx, id, tip)
	if err == nil {
		err = a.SeeInterrupted(&v.Session)
	}
	if err != nil {
		return present.Unread(id, err, "wfs show "+string(id))
	}
	return a.describe(&v.Session, in)
}

// damagedSessions lists the sessions whose ledger ref cannot be read. It is for the case that reading all sessions has
// failed with err. If no ledger ref is the cause, it returns err.
func (a *listVerb) damagedSessions(ctx context.Context, err error) ([]present.Session, error) {
	list := []present.Session{}
	_, broken, e := a.Repo.OurRefs(ctx)
	for _, b := range broken {
		if id := check.SessionOf(b.Ref); id != "" && b.Ref == session.LedgerOf(id) {
			list = append(list, present.Unread(id, b.Err, check.RepairCommand))
		}
	}
	if e != nil || len(list) == 0 {
		return nil, err
	}
	return list, nil
}
