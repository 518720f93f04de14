package cmd

import (
	"context"
	"slices"

	"github.com/wfs-dev/wfs/session/fold"

	"github.com/spf13/cobra"

	"github.com/wfs-dev/wfs/cmd/internal/present"
	"github.com/wfs-dev/wfs/session"
)

type logJSON struct {
	Version     int                  `json:"version"`
	ID          session.ID           `json:"id"`
	Current     int                  `json:"current"`
	Checkpoints []session.Checkpoint `json:"checkpoints"` // newest first
	// BuildsOn is for --graph: it maps each checkpoint's number to the checkpoint that it builds on.
	BuildsOn map[int]int       `json:"builds_on,omitempty"`
	Claims   int               `json:"claims"`            // how often the agent claimed to be done
	Refuted  []session.Refuted `json:"refuted,omitempty"` // claims that were not true

	SkippedPhases []session.SkippedPhase `json:"skipped_phases,omitempty"`
}

type logVerb struct {
	*app
	most          int
	graph, events bool
}

func (a *logVerb) command() *cobra.Command {
	c := &cobra.Command{
		Use: "log [SESSION]", Short: "the checkpoints of a session, newest first",
		Long: `Log lists a session's checkpoints, also those that it has gone back from: their numbers are never reused and
their commits stay reachable. The star marks where the session's branch stands. With --graph they are drawn as a tree,
which shows what builds on what.

With --events it prints the whole history instead, oldest first, one line for each event; with --json each line is an
event as docs/formats.md describes it. It writes nothing and takes no lock.`,
		Example: "  wfs log\n  wfs log --graph\n  wfs log csv-export -n 5 --json\n  wfs log --events --json | jq -r .kind",
		Args:    upTo(1),
		RunE:    with(a.run),
	}
	c.Flags().IntVarP(&a.most, "max-count", "n", 0, "at most this many")
	c.Flags().BoolVar(&a.graph, "graph", false, "draw which checkpoint builds on which")
	c.Flags().BoolVar(&a.events, "events", false, "print every event instead of the checkpoints")
	return c
}

func (a *logVerb) run(ctx context.Context, args []string) error {
	if a.events && a.graph {
		return usage("wfs log --help", "--events and --graph exclude each other")
	}
	if a.events {
		return a.sayEvents(ctx, first(args))
	}
	v, err := a.OpenView(ctx, first(args))
	if err != nil {
		return err
	}
	s := &v.Session
	var below map[int]int
	if a.graph {
		events, err := eventsOf(ctx, a.Workspace, s.ID)
		if err != nil {
			return err
		}
		below = fold.BuildsOn(events)
	}
	list := slices.Clone(s.Checkpoints)
	slices.Reverse(list)
	if a.most > 0 {
		list = list[:min(a.most, len(list))]
	}
	if a.json {
		return a.answer(logJSON{jsonVersion, s.ID, s.Current, list, below, s.Claims, s.StillRefuted(), s.SkippedPhases})
	}
	a.page(ctx)
	if a.graph {
		a.env.Lines(present.DrawTree(s, list, below))
		return nil
	}
	a.env.Checkpoints(s, list)
	return nil
}
