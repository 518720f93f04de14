package cmd

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/wfs-dev/wfs/cmd/internal/present"
	"github.com/wfs-dev/wfs/cmd/internal/present/live"
	"github.com/wfs-dev/wfs/gitstate/object"
	"github.com/wfs-dev/wfs/internal/safetext"
	"github.com/wfs-dev/wfs/session"
)

// out prints the answer of a command on standard output.
func (a *app) out(format string, args ...any) { a.env.Out(format, args...) }

// note prints progress on standard error. With --json it prints nothing.
func (a *app) note(format string, args ...any) { a.env.Note(format, args...) }

// answer prints a value as JSON on one line. The first answer also reports operations of killed commands that this
// command completed.
func (a *app) answer(v any) error {
	data, err := json.Marshal(v)
	if err == nil && len(a.done) > 0 {
		data, err = a.withRecovered(data)
	}
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(a.env.Stdout, string(data))
	return err
}

// next prints suggested next commands.
func (a *app) next(commands []string) { a.env.Next(commands) }

// list returns an empty slice instead of nil, because JSON output should have [] and not null.
func list[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}

// diffTo prints a diff. If standard output is a terminal, diffTo removes control sequences from the diff, because its
// text comes from the repository.
func (a *app) diffTo(ctx context.Context, from, to session.Commit, o object.DiffOptions) error {
	o.Color = a.env.Colours(a.env.StdoutTTY)
	if !a.env.StdoutTTY {
		return a.Repo.DiffTo(ctx, string(from), string(to), o, a.env.Stdout)
	}
	t := &present.Terminal{To: a.env.Stdout}
	if err := a.Repo.DiffTo(ctx, string(from), string(to), o, t); err != nil {
		return err
	}
	return t.Close()
}

func unix(sec int64) time.Time { return time.Unix(sec, 0) }

func plural(n int, one, many string) string { return safetext.Word(n, one, many) }

func itoa(n int) string { return strconv.Itoa(n) }

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// showProgress shows the progress of gates. The caller ends the display by calling `done`.
func (a *app) showProgress() (done func()) {
	w := a.Engine.Works.(*works)
	before, count := w.report, w.count
	d, end := live.ShowDoing(&a.env.Screen)
	w.report, w.count = d.Say, d.Counted
	return func() {
		end()
		w.report, w.count = before, count
	}
}
