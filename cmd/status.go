package cmd

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/wfs-dev/wfs/workspace"
)

// statusVerb is `wfs status`, and also `wfs` without a command.
type statusVerb struct {
	*app
	seen  bool // record that the user has seen the changes outside
	short bool // one short line
}

func (a *statusVerb) command() *cobra.Command {
	c := &cobra.Command{
		Use: "status [SESSION]", Short: "where a session stands, and what to type next",
		Long: `Status shows what happened in a session, where it stands, and what to type next: what wfs alone prints
of the current one. It writes nothing and takes no lock.

Changes outside the session during a run (branches, pushes, git settings, .wfs) are shown until they are
reverted, or until you confirm with --seen.

--short prints one line for a shell's prompt: the session, its phase, the number of the attempt in progress, and
its status. It prints nothing if no session is current, and is fast: it starts no git.`,
		Example: "  wfs status\n  wfs status csv-export --json\n  wfs status --short",
		Args:    upTo(1),
		RunE:    with(a.run),
	}
	c.Flags().BoolVar(&a.seen, "seen", false, "record that you have seen what changed outside of the session")
	c.Flags().BoolVar(&a.short, "short", false, "one line for a prompt; nothing if no session is current")
	return c
}

func first(args []string) string {
	if len(args) == 0 {
		return ""
	}
	return args[0]
}

func (a *statusVerb) run(ctx context.Context, args []string) error {
	if a.short {
		return a.sayShort(ctx, first(args))
	}
	if a.seen {
		if err := a.sawAll(ctx, first(args)); err != nil {
			return err
		}
	}
	if err := a.Open(ctx); err != nil {
		return err
	}
	id, err := a.Resolve(ctx, first(args))
	if err != nil {
		return err
	}
	return a.tellOf(ctx, id)
}

// noCurrent prints the list of sessions. It is for a user who is on a branch that belongs to no session.
func (a *statusVerb) noCurrent(ctx context.Context) error {
	list, err := (&listVerb{app: a.app}).sessions(ctx, false)
	if err != nil {
		return err
	}
	if a.json {
		return a.answer(listJSON{jsonVersion, list})
	}
	if len(list) == 0 {
		a.sayNone(ctx)
		return nil
	}
	head, err := a.Repo.Head(ctx)
	if err != nil {
		return err
	}
	where := "on " + strings.TrimPrefix(head.Ref, "refs/heads/")
	if head.Ref == "" {
		where = "detached"
	}
	a.out("no session is current: HEAD is %s", where)
	completes := a.sayHalfMoved(ctx, nil)
	if err := sayLeftBehind(ctx, a.Workspace, head.Ref, a.out); err != nil {
		return err
	}
	a.env.List(list)
	if len(completes) > 0 {
		a.next(completes)
		return nil
	}
	for _, d := range list {
		if !d.Status.Final() {
			a.next(d.Next)
			return nil
		}
	}
	a.next([]string{a.newCommand(ctx)})
	return nil
}

// sayNone prints how to create a session, in a repository that has none.
func (a *statusVerb) sayNone(ctx context.Context) {
	if _, err := os.Lstat(filepath.Join(a.Repo.Root(), filepath.FromSlash(workspace.ConfigPath))); err != nil {
		a.out("wfs is not set up in this repository")
		a.next([]string{"wfs init", "wfs help"})
		return
	}
	a.out("no session yet")
	a.next([]string{a.newCommand(ctx), "wfs --help"})
}
