package cmd

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/wfs-dev/wfs/internal/agents"
	"github.com/wfs-dev/wfs/session"
)

// hookLogJSON is the JSON output of wfs hook log.
type hookLogJSON struct {
	Version       int            `json:"version"`
	ID            session.ID     `json:"id"`
	Conversations []conversation `json:"conversations"` // newest first
}

// conversation is one conversation between a user and an agent, with the agent's actions.
type conversation struct {
	Name   string          `json:"conversation"`
	At     time.Time       `json:"at"` // time of its newest event
	Logs   string          `json:"logs"`
	Events []agents.Record `json:"events"`
}

// hookLogVerb is `wfs hook log`.
type hookLogVerb struct{ *app }

func (a *hookLogVerb) command() *cobra.Command {
	return &cobra.Command{
		Use: "log [SESSION]", Short: "show what agents did while you worked with them yourself",
		Long: `Log tells what the hooks have written down in a session, one conversation after the other, the newest
first. It comes from logs on this machine, outside Git, which wfs gc removes one day. It writes nothing and
takes no lock.`,
		Example: "  wfs hook log\n  wfs hook log csv-export --json",
		Args:    upTo(1),
		RunE:    with(a.run),
	}
}

func (a *hookLogVerb) run(ctx context.Context, args []string) error {
	id, err := a.OpenNamed(ctx, first(args))
	if err != nil {
		return err
	}
	list, err := a.conversations(id)
	if err != nil {
		return err
	}
	if a.json {
		return a.answer(hookLogJSON{jsonVersion, id, list})
	}
	if len(list) == 0 {
		a.out("no agent has called wfs in %s", id)
		a.next([]string{a.typed("wfs hook install")})
		return nil
	}
	a.page(ctx)
	for _, c := range list {
		a.out("%s  %s  %d %s", c.At.UTC().Format("2006-01-02 15:04 UTC"), c.Name, len(c.Events),
			plural(len(c.Events), "event", "events"))
		a.env.Records(c.Events)
	}
	return nil
}

// conversations reads the logs that the hooks wrote for a session.
func (a *hookLogVerb) conversations(id session.ID) ([]conversation, error) {
	one, err := a.Clone.Session(id).RunDir(hookedRun)
	if err != nil {
		return nil, err
	}
	dirs, err := filepath.Glob(one + "*")
	if err != nil {
		return nil, err
	}
	list := []conversation{}
	for _, dir := range dirs {
		info, err := os.Lstat(dir)
		if err != nil || !info.IsDir() {
			continue
		}
		events, err := runEvents(dir)
		if err != nil {
			return nil, err
		}
		c := conversation{Name: strings.TrimPrefix(filepath.Base(dir), hookedRun), At: info.ModTime().UTC(), Logs: dir,
			Events: events}
		if n := len(events); n > 0 {
			c.At = events[n-1].At
		}
		list = append(list, c)
	}
	slices.SortFunc(list, func(x, y conversation) int { return y.At.Compare(x.At) })
	return list, nil
}
