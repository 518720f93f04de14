package cmd

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/wfs-dev/wfs/gitstate"
	"github.com/wfs-dev/wfs/session"
)

// How much a finding matters.
const (
	findBlocks = "blocks" // something does not work, or the next command could do harm: exit 4
	findWarns  = "warns"  // nothing is wrong yet
	findTells  = "tells"  // nothing has to be done
)

// finding is one thing that the doctor says.
type finding struct {
	Level   string     `json:"level"`
	About   string     `json:"about"` // ledger, journal, file, ref, branch, objects, lock, left-over, work tree, clone, git, config, disk, hook, proof
	Session session.ID `json:"session,omitempty"`
	Where   string     `json:"where"`             // path, ref or setting
	What    string     `json:"what"`              // is wrong
	Follows string     `json:"follows,omitempty"` // from it
	Next    string     `json:"next,omitempty"`    // command to type
	Done    string     `json:"done,omitempty"`    // what --repair did
	Undo    string     `json:"undo,omitempty"`    // and how to take it back
	Kept    string     `json:"kept,omitempty"`    // why --repair left it alone

	mend func(context.Context) (done, undo string, err error) // nil: only a person can
	lock session.ID                                           // whose lock mending needs, "" for none but the work tree's
	free bool                                                 // nobody can have it open, and no lock is needed
}

type doctorJSON struct {
	Version  int       `json:"version"`
	OK       bool      `json:"ok"` // nothing blocks, or nothing does any more
	Repaired bool      `json:"repaired"`
	Sessions int       `json:"sessions"`
	Turns    int       `json:"turns"` // ledger commits that were read
	Refs     int       `json:"refs"`
	Findings []finding `json:"findings"`
}

const repairCommand = "wfs doctor --repair"

func (a *app) doctorCmd() *cobra.Command {
	var repair bool
	c := &cobra.Command{
		Use: "doctor", Short: "check for problems and suggest fixes",
		Long: `Doctor checks everything that wfs stores: refs and session histories (every event is read), journals, locks, notes and
caches, the operation log, leftovers of killed processes, git settings that would delete or publish sessions, and the
disk. For each problem it prints its effect and the command that fixes it. Without
--repair it writes nothing and takes no lock.

With --repair, what is damaged is moved aside (to NAME.corrupt-1; the latest three of a name are kept) and recreated
from refs. Nothing is reset: files, branches and HEAD stay as they are. A deleted branch of a session
is not restored; doctor prints the command.

The exit code is 4 when a problem blocks a command, else 0.`,
		Example: "  wfs doctor\n  wfs doctor --json\n  wfs doctor --repair",
		Args:    noArgs,
		RunE:    func(c *cobra.Command, _ []string) error { return a.doctor(c.Context(), repair) },
	}
	c.Flags().BoolVar(&repair, "repair", false, "move damaged files aside, and recreate them")
	return c
}

func (a *app) doctor(ctx context.Context, repair bool) error {
	if err := a.openFor(ctx, repair); err != nil {
		return err
	}
	var mended []finding
	if repair {
		var err error
		if mended, err = a.repairAll(ctx); err != nil {
			return err
		}
	}
	e := &examination{a: a, ctx: ctx, since: a.env.Now()}
	if err := e.all(); err != nil {
		return err
	}
	j := doctorJSON{Version: jsonVersion, OK: true, Repaired: repair, Sessions: e.sessions, Turns: e.turns, Refs: e.refs, Findings: []finding{}}
	for _, f := range e.found {
		if i := slices.IndexFunc(mended, func(m finding) bool { return m.same(f) }); i >= 0 {
			f.Kept = mended[i].Kept
			mended = slices.Delete(mended, i, i+1)
		}
		j.OK = j.OK && f.Level != findBlocks
		j.Findings = append(j.Findings, f)
	}
	slices.SortStableFunc(j.Findings, func(x, y finding) int { return rankOfLevel(x.Level) - rankOfLevel(y.Level) })
	j.Findings = list(append(mended, j.Findings...))
	if a.json {
		if err := a.answer(j); err != nil {
			return err
		}
	} else {
		a.sayDoctor(j)
	}
	if !j.OK {
		return exitWith(exitBlocked)
	}
	return nil
}

func rankOfLevel(level string) int {
	return slices.Index([]string{findBlocks, findWarns, findTells}, level)
}

// same reports whether two findings are about one thing, before and after it was mended.
func (f finding) same(g finding) bool {
	return f.Done == "" && f.About == g.About && f.Where == g.Where && f.What == g.What
}

// sayDoctor prints one line for each finding, and one when there are none.
func (a *app) sayDoctor(j doctorJSON) {
	for _, f := range j.Findings {
		if f.Done != "" {
			a.out("repaired: %s: %s: %s", f.Where, f.What, f.Done)
			if f.Undo != "" {
				a.out("  to undo it: %s", f.Undo)
			}
			continue
		}
		text := fmt.Sprintf("%s: %s: %s", f.Level, f.Where, f.What)
		if f.Follows != "" {
			text += "; " + f.Follows
		}
		switch {
		case f.Kept != "":
			text += fmt.Sprintf(" (left alone: %s)", f.Kept)
		case f.Next != "":
			text += ". Type: " + f.Next
		}
		a.out("%s", strings.ReplaceAll(text, "\n", " "))
	}
	looked := fmt.Sprintf("%d %s with %d %s, %d %s", j.Sessions, plural(j.Sessions, "session", "sessions"),
		j.Turns, plural(j.Turns, "turn", "turns"), j.Refs, plural(j.Refs, "ref", "refs"))
	open := slices.ContainsFunc(j.Findings, func(f finding) bool { return f.Done == "" })
	switch {
	case !open:
		a.out("no problems found: %s", looked)
	case j.OK:
		a.out("no blocking problems: %s", looked)
	}
}

// examination is one look at everything.
type examination struct {
	a        *app
	ctx      context.Context
	since    time.Time
	said     string
	found    []finding
	sessions int
	turns    int
	refs     int
	tips     map[session.ID]session.Commit
	cut      bool // what was found is in the way of everything else
}

func (e *examination) add(f finding) { e.found = append(e.found, f) }

// all looks at everything, what the rest is built upon first.
func (e *examination) all() error {
	for _, part := range []struct {
		name string
		look func() error
	}{
		{"paths of refs", e.places}, {"git and its settings", e.git}, {"the disk", e.disk}, {"refs", e.refsOfOurs}, {"reflogs", e.lostRefs}, {"files of this clone", e.files}, {"the clone", e.clone},
		{"sessions", e.allSessions}, {"objects", e.objects}, {"the operation log", e.operations}, {"work trees", e.workTrees},
		{"locks", e.locks}, {"leftovers", e.leftovers}, {"hooks of agents", e.hooks},
	} {
		e.progress("checking " + part.name)
		err := part.look()
		if e.cut {
			return nil
		}
		if errors.Is(err, gitstate.ErrBrokenRef) && len(e.found) > 0 {
			continue // said of the ref, or of its place
		}
		if err != nil {
			return fmt.Errorf("%s cannot be checked: %w", part.name, err)
		}
	}
	return nil
}

// progress says what is looked at, once it takes longer than a second.
func (e *examination) progress(what string) {
	if e.a.env.Now().Sub(e.since) > time.Second && what != e.said {
		e.said = what
		e.a.note("%s …", what)
	}
}
