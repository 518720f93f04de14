package cmd

import (
	"slices"

	"github.com/spf13/cobra"

	"github.com/wfs-dev/wfs/session"
)

type logJSON struct {
	Version     int                  `json:"version"`
	ID          session.ID           `json:"id"`
	Current     int                  `json:"current"`
	Checkpoints []session.Checkpoint `json:"checkpoints"` // newest first
}

func (a *app) logCmd() *cobra.Command {
	var most int
	c := &cobra.Command{
		Use: "log [SESSION]", Short: "the checkpoints of a session, newest first",
		Long: `Log lists a session's checkpoints, also those that it has gone back from: their numbers are never reused and
their commits stay reachable. The star marks where the session's branch stands. It writes nothing and takes no lock.`,
		Example: "  wfs log\n  wfs log csv-export -n 5 --json",
		Args:    upTo(1),
		RunE: func(c *cobra.Command, args []string) error {
			ctx := c.Context()
			if err := a.open(ctx); err != nil {
				return err
			}
			id, err := a.resolve(ctx, first(args))
			if err != nil {
				return err
			}
			v, err := a.view(ctx, id)
			if err != nil {
				return err
			}
			s := &v.Session
			list := slices.Clone(s.Checkpoints)
			slices.Reverse(list)
			if most > 0 {
				list = list[:min(most, len(list))]
			}
			if a.json {
				return a.answer(logJSON{jsonVersion, id, s.Current, list})
			}
			a.page(ctx)
			for _, c := range list {
				a.line(checkpointLine(s, c))
			}
			return nil
		},
	}
	c.Flags().IntVarP(&most, "max-count", "n", 0, "at most this many")
	return c
}
