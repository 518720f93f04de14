package cmd

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/wfs-dev/wfs/engine"
	"github.com/wfs-dev/wfs/internal/safetext"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workspace"
)

func (a *app) statusCmd() *cobra.Command {
	var seen bool
	c := &cobra.Command{
		Use: "status [SESSION]", Short: "where a session stands, and what to type next",
		Long: `Status shows what happened in a session, where it stands, and what to type next: what wfs alone prints of the current one.
It writes nothing and takes no lock.

Changes outside the session during a run (branches, pushes, git settings, .wfs) are shown until they are reverted, or until
you confirm with --seen.`,
		Example: "  wfs status\n  wfs status csv-export --json",
		Args:    upTo(1),
		RunE: func(c *cobra.Command, args []string) error {
			if seen {
				if err := a.sawAll(c.Context(), first(args)); err != nil {
					return err
				}
			}
			if err := a.Open(c.Context()); err != nil {
				return err
			}
			return a.status(c.Context(), first(args))
		},
	}
	c.Flags().BoolVar(&seen, "seen", false, "record that you have seen what changed outside of the session")
	return c
}

func first(args []string) string {
	if len(args) == 0 {
		return ""
	}
	return args[0]
}

func (a *app) status(ctx context.Context, name string) error {
	id, err := a.Resolve(ctx, name)
	if err != nil {
		return err
	}
	return a.tellOf(ctx, id)
}

// sayDriver says who drives a session, and what waits for whoever does.
func (a *app) sayDriver(d sessionJSON) {
	if d.Driver != nil {
		a.out("running: %s (pid %d)", d.Driver.Command, d.Driver.PID)
	}
	if len(d.Alive) > 0 {
		a.out("still alive of its last run: %s", engine.Named(d.Alive))
		run := a.typedFor("wfs run", d.ID, d.Worktree)
		on := run + " --ignore-survivors"
		if slices.ContainsFunc(d.Alive, func(p session.Process) bool { return !p.Own }) {
			a.out("  nothing runs or moves here before they have ended; if they are harmless: %s", on)
		} else {
			a.out("  %s ends them; if they are harmless, and to live on: %s", run, on)
		}
	}
	if n := d.Requests; n > 0 {
		a.out("%d %s not read yet", n, plural(n, "request is", "requests are"))
	}
}

// noCurrent tells what there is when HEAD is on a branch of the user's.
func (a *app) noCurrent(ctx context.Context) error {
	list, err := a.sessions(ctx)
	if err != nil {
		return err
	}
	if a.json {
		return a.answer(listJSON{jsonVersion, list})
	}
	if len(list) == 0 {
		if _, err := os.Lstat(filepath.Join(a.Repo.Root(), filepath.FromSlash(workspace.ConfigPath))); err != nil {
			a.out("wfs is not set up in this repository")
			a.next([]string{"wfs init", "wfs help"})
			return nil
		}
		a.out("no session yet")
		a.next([]string{a.newCommand(ctx), "wfs --help"})
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
	if err := a.sayParked(ctx, head.Ref); err != nil {
		return err
	}
	a.printList(list)
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

// checkpointLine is one checkpoint in a list of them.
func checkpointLine(s *session.Session, c session.Checkpoint) styled {
	mark := " "
	if c.Number == s.Current {
		mark = "*"
	}
	word := string(c.Verdict)
	if word == "" {
		word = string(c.Trigger)
	}
	wide := 9
	for _, c := range s.Checkpoints {
		wide = max(wide, min(16, safetext.Width(string(c.Phase))))
	}
	line := styled{
		{fmt.Sprintf("%s %3d  %s ", mark, c.Number, pad(safetext.Cut(string(c.Phase), wide), wide)), plain},
		{fmt.Sprintf("%-11s", word), verdictColour(c.Verdict)},
		{fmt.Sprintf(" %s  %s", c.Code.Short(), c.Summary), plain},
	}
	if text := costText(c.Used); text != "" {
		line = append(line, span{"  (" + text + ")", plain})
	}
	if c.Incomplete {
		line = append(line, span{"  (incomplete)", notable})
	}
	if below := s.At(c.On); below != nil && c.Number > 0 && len(c.SkippedPhases) > len(below.SkippedPhases) {
		newest := c.SkippedPhases[len(c.SkippedPhases)-1:]
		line = append(line, span{fmt.Sprintf("  (%s before it)", withoutVerdict(newest)), notable})
	}
	if c.Deleted != nil {
		line = append(line, span{fmt.Sprintf("  (deletes %d of %d files)", c.Deleted.Files, c.Deleted.Of), notable})
	}
	return line
}

// shownItems is how many items are listed without being asked for.
const shownItems = 10

// sayItems tells what became of the items of the checklist.
func (a *app) sayItems(d sessionJSON) {
	if d.Items == 0 {
		return
	}
	a.out("items: %d of %d done", d.ItemsDone, d.Items)
	for _, item := range d.ItemStates[:min(len(d.ItemStates), shownItems)] {
		number, says := fmt.Sprintf("  %d  ", item.Number), ": "+item.Says()
		text := safetext.Line(item.Text, 1000)
		if room := a.env.Width - safetext.Width(number+says); room > 20 {
			text = safetext.Cut(text, room)
		}
		a.short("%s%s%s", number, text, says)
	}
	if n := d.Items - shownItems; n > 0 {
		a.out("  and %d more: wfs status %s --json", n, d.ID)
	}
}
