package cmd

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/wfs-dev/wfs/cmd/internal/present"
	"github.com/wfs-dev/wfs/engine"
	"github.com/wfs-dev/wfs/engine/transition"
	"github.com/wfs-dev/wfs/session"
)

func dryFlag(c *cobra.Command, dry *bool) {
	c.Flags().BoolVar(dry, "dry-run", false, "only show what would change")
}

// planJSON is the JSON output of a dry run: what a command that moves files would do.
type planJSON struct {
	Version int        `json:"version"`
	Session session.ID `json:"session"`
	// name of the operation, or "" if there is nothing to do
	Would      string           `json:"would,omitempty"`
	Checkpoint *int             `json:"checkpoint,omitempty"`
	Head       string           `json:"head,omitempty"` // branch that HEAD would be on
	Changes    []session.Change `json:"changes"`
	InTheWay   []session.Skip   `json:"in_the_way"`
	baseJSON                    // only for wfs finish
}

// preview prints what a command that moves files would do, for --dry-run.
type preview struct {
	*app
	id session.ID
}

// of computes a preview by calling `ask`, and prints it.
func (a preview) of(ctx context.Context, ask func(*engine.Look) (transition.Preview, error)) error {
	look, err := a.Engine.Look(ctx, a.id, a.Clone.Session(a.id).ExcludeFile())
	if err != nil {
		return err
	}
	p, err := ask(look)
	if err != nil {
		return err
	}
	return a.say(p, baseJSON{})
}

func (a preview) say(p transition.Preview, base baseJSON) error {
	j := planJSON{Version: jsonVersion, Session: a.id, Would: p.What, Head: strings.TrimPrefix(p.Head, "refs/heads/"),
		Changes: list(p.Move.Changes), InTheWay: list(p.Move.InTheWay), baseJSON: base}
	if p.At >= 0 {
		j.Checkpoint = &p.At
	}
	if a.json {
		return a.answer(j)
	}
	signs := map[string]string{"A": "+ create", "D": "- delete", "M": "~ change", "T": "~ change"}
	for _, c := range j.Changes {
		a.out("%s  %s", signs[c.Status], c.Path)
	}
	for _, s := range j.InTheWay {
		a.out("! in the way  %s (%s)", s.Path, s.Why)
	}
	if p.What == "" {
		a.out("there is nothing to do; nothing was moved")
		return nil
	}
	where := ""
	if j.Head != "" {
		where = ", and HEAD would go to " + j.Head
	}
	if n := len(j.InTheWay); n > 0 {
		where = ", but it would be refused because of " + present.N(n, "file") + " in the way"
	}
	a.out("%s: %s would change%s; nothing was moved", p.What, present.N(len(j.Changes), "file"), where)
	return nil
}
