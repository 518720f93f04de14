package cmd

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/wfs-dev/wfs/cmd/internal/present"
	"github.com/wfs-dev/wfs/cmd/internal/views"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/session/stats"
)

type statsJSON struct {
	Version    int               `json:"version"`
	Sessions   int               `json:"sessions"`
	Unreadable map[string]string `json:"unreadable,omitempty"` // by session: why it could not be read
	Rows       []stats.Stat      `json:"rows"`                 // one row for each agent, model and phase
}

type statsVerb struct{ *app }

func (a *statsVerb) command() *cobra.Command {
	return &cobra.Command{
		Use: "stats [SESSION]", Short: "how often the agent was right, and what it cost",
		Long: `Stats counts the attempts of all sessions, or of one, by agent, model and phase: how many passed, how
often the agent said that it was done and how often that was true, and time, cost and tokens. A claim that was
not checked is not counted, nor is an attempt before its checkpoint, nor a deleted session. It writes nothing
and takes no lock.`,
		Example: "  wfs stats\n  wfs stats csv-export\n  wfs stats --json | jq '.rows[] | select(.true < .claims)'",
		Args:    upTo(1),
		RunE:    with(a.run),
	}
}

func (a *statsVerb) run(ctx context.Context, args []string) error {
	if err := a.Open(ctx); err != nil {
		return err
	}
	ids, err := sessionIDs(ctx, a.Repo)
	if name := first(args); name != "" && err == nil {
		ids = make([]session.ID, 1)
		ids[0], err = a.Resolve(ctx, name)
	}
	if err != nil {
		return err
	}
	j := statsJSON{Version: jsonVersion, Unreadable: map[string]string{}, Rows: []stats.Stat{}}
	for _, id := range ids {
		events, err := a.Engine.History(ctx, id)
		if err == nil && len(events) == 0 {
			err = errors.New("its history has no events")
		}
		if err != nil {
			j.Unreadable[string(id)] = err.Error()
			continue
		}
		j.Sessions++
		j.Rows = stats.Add(j.Rows, stats.Of(events))
	}
	slices.SortFunc(j.Rows, func(x, y stats.Stat) int {
		return cmp.Or(cmp.Compare(x.Agent, y.Agent), cmp.Compare(x.Model, y.Model), cmp.Compare(x.Phase, y.Phase))
	})
	if a.json {
		return a.answer(j)
	}
	a.sayStats(j)
	return nil
}

func (a *statsVerb) sayStats(j statsJSON) {
	for _, id := range sortedKeys(j.Unreadable) {
		a.note("not counted: %s: %s", id, j.Unreadable[id])
	}
	if len(j.Rows) == 0 {
		a.out("no attempts yet")
		return
	}
	var agents []stats.Stat
	total := stats.Stat{Agent: "all"}
	for _, r := range j.Rows {
		agents = stats.Add(agents, []stats.Stat{{Agent: r.Agent, Claims: r.Claims, True: r.True}})
		total = total.Plus(r)
	}
	for _, r := range agents {
		if r.Claims > 0 {
			a.out("%s said done %s; %d %s true", r.Agent, present.N(r.Claims, "time"), r.True, plural(r.True, "was", "were"))
		}
	}
	rows := [][]any{{"agent", "phase", "passed", "claims true", "time", "cost", "tokens"}}
	if len(j.Rows) > 1 {
		j.Rows = append(j.Rows, total)
	}
	for _, r := range j.Rows {
		spent := (time.Duration(r.Used.Millis) * time.Millisecond).Round(time.Second)
		rows = append(rows, []any{strings.TrimSpace(r.Agent + " " + r.Model), r.Phase,
			views.Ratio(r.Passed, r.Attempts), views.Ratio(r.True, r.Claims),
			spent.String(), present.USD(r.Used), present.Count(r.Used.Tokens.Sum())})
	}
	a.env.Table(rows)
}
