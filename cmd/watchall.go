package cmd

import (
	"context"
	"maps"
	"os"
	"slices"
	"time"

	"github.com/wfs-dev/wfs/cmd/internal/board"
	"github.com/wfs-dev/wfs/cmd/internal/present"
	"github.com/wfs-dev/wfs/cmd/internal/present/live"
	"github.com/wfs-dev/wfs/internal/screen"
	"github.com/wfs-dev/wfs/session"
)

// watchAll shows all sessions: on a board, or as lines. It reports false if the command line is about the current
// session, and then shows nothing.
func (a *watchVerb) watchAll(ctx context.Context, much live.How) (done bool, err error) {
	if err := a.Open(ctx); err != nil {
		return true, err
	}
	out := a.terminal()
	switch {
	case a.wait && !a.all, much != live.Ordinary:
		return false, nil
	case !a.all && out == nil:
		if here, err := a.Current(ctx); err != nil || here != "" {
			return false, err
		}
	}
	l := &looker{app: a.app, seen: map[session.ID]*looked{}}
	if _, err := l.look(ctx); err != nil {
		return true, err
	}
	switch {
	case len(l.seen) == 0 && !a.json && !a.wait:
		(&statusVerb{app: a.app}).sayNone(ctx)
		return true, nil
	case out != nil:
		return true, a.board(ctx, l, out)
	}
	return true, a.lines(ctx, l)
}

// terminal returns the terminal on which a board can be drawn, nil if there is none.
func (a *watchVerb) terminal() *os.File {
	to, ok := a.env.Stdout.(*output)
	in, isFile := a.env.Stdin.(*os.File)
	if !ok || !isFile || a.json || !a.env.StdinTTY || !a.env.StdoutTTY ||
		!present.Draws(a.env.Get) || !screen.Foreground(in) {
		return nil
	}
	out, _ := to.file()
	return out
}

// lines prints a line for each session, and one whenever a session changes, until no run is in progress.
func (a *watchVerb) lines(ctx context.Context, l *looker) error {
	printed := map[session.ID]board.Row{}
	for {
		running := false
		for _, id := range slices.Sorted(maps.Keys(l.seen)) {
			k := l.seen[id]
			running = running || k.runs
			if l.fill(ctx, []session.ID{id}); !k.changed {
				continue
			}
			row := l.row(k)
			if row.Updated = (time.Time{}); k.runID != "" {
				row.Now = "" // what the agent does changes all the time
			}
			if old, known := printed[id]; !known || !sameRow(old, row) {
				printed[id] = row
				if err := a.say(k); err != nil {
					return err
				}
			}
		}
		if !running && !a.wait {
			return a.sayEnd()
		}
		select {
		case <-ctx.Done():
			return exitWith(a.signals.exitCode())
		case <-time.After(lookBoardEvery):
		}
		gone, err := l.look(ctx)
		if err != nil {
			return err
		}
		for _, id := range gone {
			delete(printed, id)
			if a.json {
				err = a.answer(present.Stream{Version: jsonVersion, Type: "deleted", Text: string(id)})
			} else {
				a.env.Short("%s  deleted", id)
			}
			if err != nil {
				return err
			}
		}
	}
}

func sameRow(x, y board.Row) bool {
	same := slices.Equal(x.About, y.About)
	x.About, y.About = nil, nil
	return same && x.Status == y.Status && x.At == y.At && x.Attempt == y.Attempt && x.Now == y.Now && x.Here == y.Here
}

// say prints a session, as a line or as JSON.
func (a *watchVerb) say(k *looked) error {
	if a.json {
		j := k.j
		if k.s != nil {
			j = a.describe(k.s, k.in)
		}
		return a.answer(present.Stream{Version: jsonVersion, Type: "session", Session: &j})
	}
	if k.s == nil {
		a.env.Line(present.Join(string(k.id), "  ", present.Status(k.j.Status), ": "+k.j.Why))
		return nil
	}
	a.env.Line(present.Join(string(k.id), "  ", present.Standing(k.s)))
	return nil
}

func (a *watchVerb) sayEnd() error {
	code := exitOK
	if !a.json {
		return nil
	}
	return a.answer(present.Stream{Version: jsonVersion, Type: "end", Exit: &code})
}
