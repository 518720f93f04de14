package cmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/spf13/cobra"

	"github.com/wfs-dev/wfs/internal/safetext"
	"github.com/wfs-dev/wfs/internal/statefile"
	"github.com/wfs-dev/wfs/session"
)

type importVerb struct {
	*app
	session string
	o       newOptions
}

func (a *importVerb) command() *cobra.Command {
	c := &cobra.Command{
		Use: "import FILE", Short: "continue a session of another session manager",
		Long: `Import creates a session that continues where another session manager stopped. FILE is its state, or the
directory with it: loop-state.json (workflow tdd-docs), workflow-session.json or session_status.jsonl (plan), or
sessions.json (nine-step). Goal, specification, documents and phase are taken over. wfs has not judged what was
done before, and says so: the phases before are listed as not judged, and the next one judges what is there.

Completed, failed and halted sessions are refused, and damaged files. FILE and what lies beside it stay as they
are, and out of checkpoints. Uncommitted changes come along, or stay with your branch (--leave).

To bring a session of wfs into another clone, see wfs export.`,
		Example: "  wfs import .prp-session\n  wfs import .workflow/session_status.jsonl\n  wfs import checkpoints/sessions.json --session session-abc123",
		Args: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usage("wfs import --help", "import needs the file of a state")
			}
			return upTo(1)(c, args)
		},
		RunE: with(a.run),
	}
	f := c.Flags()
	f.StringVar(&a.session, "session", "", "`id` of the session, if the file has several")
	f.StringVar(&a.o.agent, "agent", "", "the agent: a `name` (wfs agent list), a command, or script:FILE")
	f.BoolVarP(&a.o.yes, "yes", "y", false, "run the commands of this repository without asking, as wfs trust --yes does")
	f.BoolVar(&a.o.another, "again", false, "create another session with a spec that a session already has")
	f.BoolVar(&a.o.leave, "leave", false, "leave uncommitted changes with your branch")
	return c
}

func (a *importVerb) run(ctx context.Context, args []string) error {
	if err := a.Open(ctx); err != nil {
		return err
	}
	file := a.env.Abs(args[0])
	st, err := statefile.Read(a.Repo.Root(), file, a.session)
	if r, is := errors.AsType[*statefile.Refused](err); is {
		hint := "wfs new " + shellWord(cmp.Or(a.Redact(safetext.Line(r.Goal, 200)), "what you want to build"))
		if r.Spec != "" {
			hint += " --spec " + shellWord(r.Spec)
		}
		if len(r.Choose) > 0 {
			hint = "wfs import " + shellWord(args[0]) + " --session " + shellWord(r.Choose[0])
		}
		return session.Refuse(session.RefuseUsage, hint, "%s", safetext.Line(r.Why, 500))
	}
	if errors.Is(err, fs.ErrNotExist) {
		return usage("wfs import --help", "there is no %s", file)
	}
	if err != nil {
		return err
	}
	if err := a.onBranch(ctx, st, args[0]); err != nil {
		return err
	}
	a.o.goal, a.o.spec, a.o.workflow = a.Redact(safetext.Line(st.Goal, 200)), st.Spec, st.Workflow
	a.o.complexity, a.o.carry = st.Complexity, !a.o.leave
	for _, name := range st.Missing {
		a.note("not found, and not taken over: %s", name)
	}
	return beginNew(ctx, &newborn{app: a.app, o: a.o, imported: imported{st}})
}

// onBranch refuses a state whose work is on another branch than HEAD.
func (a *importVerb) onBranch(ctx context.Context, st *statefile.State, file string) error {
	if st.Branch == "" {
		return nil
	}
	ref := "refs/heads/" + st.Branch
	tip, err := a.Repo.Ref(ctx, ref)
	if err != nil || tip == "" {
		return err
	}
	head, err := a.Repo.Head(ctx)
	if err == nil && head.Ref != ref {
		err = session.Refuse(session.RefuseUsage, fmt.Sprintf("git switch %s && %s", shellWord(st.Branch), a.again()),
			"the work of session %s is on the branch %s", st.ID, st.Branch)
	}
	return err
}
