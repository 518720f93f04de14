package cmd

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/wfs-dev/wfs/cmd/internal/present"
	"github.com/wfs-dev/wfs/cmd/internal/views"
	"github.com/wfs-dev/wfs/internal/safetext"
	"github.com/wfs-dev/wfs/session"
)

// viewsJSON has the views that the flags of wfs show ask for.
type viewsJSON struct {
	Version    int              `json:"version"`
	ID         session.ID       `json:"id"`
	Checkpoint *int             `json:"checkpoint,omitempty"` // only what led to it, from the checkpoint before
	Decisions  []views.Decision `json:"decisions,omitzero"`
	Errors     []views.Error    `json:"errors,omitzero"`
	Metrics    *views.Metrics   `json:"metrics,omitempty"`
	Files      *filesJSON       `json:"files,omitempty"`
	Tools      *views.Tools     `json:"tools,omitempty"`
	Patterns   []views.Pattern  `json:"patterns,omitzero"`
	Shares     []views.Share    `json:"shares,omitzero"` // with the patterns
}

// shown are the views, in the order in which they are printed.
var shown = []struct {
	name, help string
	view       func(v *view, ctx context.Context) error
}{
	{"decisions", "who decided what, and why", (*view).decisions},
	{"errors", "what went wrong", (*view).errors},
	{"metrics", "attempts, time, cost and numbers of gates", (*view).metrics},
	{"files", "changed files, and the checkpoints that changed them", (*view).files},
	{"tools", "the agents' tool calls", (*view).tools},
	{"patterns", "what repeats, and where time and money went", (*view).patterns},
}

// view fills in the JSON of the views, and prints them unless --json is given.
type view struct {
	*app
	s     *session.Session
	facts []views.Fact
	j     viewsJSON
}

// showViews prints the chosen views of a session or, with n >= 0, of its checkpoint n.
func (a *showVerb) showViews(ctx context.Context, id session.ID, n int) error {
	loaded, err := a.View(ctx, id)
	if err != nil {
		return err
	}
	events, err := eventsOf(ctx, a.Workspace, id)
	if err != nil {
		return err
	}
	v := &view{app: a.app, s: &loaded.Session, j: viewsJSON{Version: jsonVersion, ID: id}}
	if v.facts = views.Facts(v.s, events); n >= 0 {
		v.facts, v.j.Checkpoint = views.LeadingTo(v.facts, n), &n
	}
	a.page(ctx)
	printed := false
	for i, chosen := range a.views {
		if !chosen {
			continue
		}
		if !a.json && printed {
			a.out("")
		}
		if printed = true; !a.json {
			a.out("%s  %s", v.name(), shown[i].name)
		}
		if err := shown[i].view(v, ctx); err != nil {
			return err
		}
	}
	if a.json {
		return a.answer(v.j)
	}
	return nil
}

// name returns the session or checkpoint that is shown.
func (v *view) name() string {
	if n := v.j.Checkpoint; n != nil {
		return fmt.Sprintf("%s@%d", v.j.ID, *n)
	}
	return string(v.j.ID)
}

// where returns the columns that say where and when something happened.
func (v *view) where(p views.Place) []any {
	at, phase := "", string(p.Phase)
	if p.Checkpoint != nil {
		at = "@" + itoa(*p.Checkpoint)
	}
	if p.Attempt > 0 {
		phase += " " + itoa(p.Attempt)
	}
	if v.s.Laps && p.Lap > 0 {
		phase += fmt.Sprintf(", lap %d", p.Lap)
	}
	if p.Left {
		phase += ", left"
	}
	return []any{at, phase, p.At.Format(shortTime)}
}

// shortTime is the layout of times in rows, in UTC.
const shortTime = "01-02 15:04"

func (v *view) decisions(context.Context) error {
	v.j.Decisions = views.Decisions(v.facts)
	if v.json {
		return nil
	}
	var rows [][]any
	for _, d := range v.j.Decisions {
		text := d.What
		if d.Why != "" {
			text += ": " + d.Why
		}
		rows = append(rows, append(v.where(d.Place), d.By, safetext.Line(text, 0)))
	}
	v.env.WholeTable(rows)
	return nil
}

func (v *view) errors(context.Context) error {
	v.j.Errors = views.Errors(v.facts)
	if v.j.Checkpoint == nil && v.s.Open != nil {
		last := v.facts[len(v.facts)-1]
		_, driven, err := v.Clone.Session(v.s.ID).Driver()
		if err == nil && !driven && last.Kind() != session.KindInterrupted { // nobody has recorded it yet
			v.j.Errors = append(v.j.Errors, views.Error{Place: last.Place, Kind: "interrupted",
				Text: "the attempt was cut off"})
		}
	}
	if v.json {
		return nil
	}
	if len(v.j.Errors) == 0 {
		v.out("nothing went wrong")
	}
	var rows [][]any
	for _, e := range v.j.Errors {
		rows = append(rows, append(v.where(e.Place), e.Kind, safetext.Line(e.Text, 0)))
	}
	v.env.WholeTable(rows)
	return nil
}

func (v *view) metrics(context.Context) error {
	m := views.Measure(v.facts)
	v.j.Metrics = &m
	if v.json {
		return nil
	}
	if len(m.Attempts) == 0 {
		v.out("no attempts")
		return nil
	}
	rows := [][]any{{"phase", "passed", "agent", "gates", "cost", "tokens", "tool calls"}}
	for _, p := range append(m.Phases, m.Total()) {
		row := []any{}
		for _, cell := range p.Cells() {
			row = append(row, cell)
		}
		rows = append(rows, row)
	}
	v.env.Table(rows)
	for _, w := range []struct {
		millis int64
		what   string
	}{{m.Waits.LimitMillis, "limits"}, {m.Waits.PersonMillis, "a person"}} {
		if w.millis >= 1000 {
			v.out("waited %s for %s", present.Lasting(millis(w.millis)), w.what)
		}
	}
	if len(m.Gates) > 0 {
		rows = [][]any{{"gate", "passed", "time"}}
		for _, g := range m.Gates {
			rows = append(rows, []any{g.Name, views.Ratio(g.Passed, g.Attempts), present.Clock(millis(g.GateMillis))})
		}
		v.out("")
		v.env.Table(rows)
	}
	rows = nil
	for _, n := range m.Numbers {
		var values []string
		if n.Base != nil {
			values = append(values, fmt.Sprintf("base %v", *n.Base))
		}
		for _, x := range n.Values {
			if x.Checkpoint != nil {
				values = append(values, fmt.Sprintf("@%d %v", *x.Checkpoint, x.Value))
			}
		}
		rows = append(rows, []any{n.Gate, n.Name, strings.Join(values, ", ")})
	}
	if len(rows) > 0 {
		v.out("")
		v.env.WholeTable(rows)
	}
	return nil
}

func millis(n int64) time.Duration { return time.Duration(n) * time.Millisecond }

func (v *view) tools(context.Context) error {
	t := views.UseOfTools(views.Attempts(v.facts))
	v.j.Tools = &t
	if v.json {
		return nil
	}
	if t.Calls == 0 && len(t.Denied) == 0 {
		v.out("no tool calls; wfs knows them only of agents whose output it understands (wfs agent list)")
		return nil
	}
	rows := [][]any{{"tool", "calls", "failed", "in"}}
	if len(t.Tools) == 0 {
		rows = nil // an older wfs did not record the names
	}
	for _, x := range t.Tools {
		var in []string
		for _, phase := range sortedKeys(x.Phases) {
			in = append(in, fmt.Sprintf("%s %d", phase, x.Phases[phase]))
		}
		rows = append(rows, []any{x.Name, x.Calls, x.Failed, strings.Join(in, ", ")})
	}
	v.env.Table(rows)
	v.out("%s in %s", present.N(t.Calls, "call"), present.N(len(t.Attempts), "attempt"))
	for _, d := range t.Denied {
		v.out("denied: %s, in %s", d.Name, present.N(d.Attempts, "attempt"))
	}
	return nil
}

func (v *view) patterns(context.Context) error {
	m := views.Measure(v.facts)
	v.j.Patterns, v.j.Shares = views.Patterns(m.Attempts), m.Shares()
	if v.json {
		return nil
	}
	if len(v.j.Patterns) == 0 {
		v.out("nothing repeats")
	}
	var rows [][]any
	for _, p := range v.j.Patterns {
		rows = append(rows, []any{p.Kind, safetext.Line(p.Says(), 0) + numbered(p.Checkpoints)})
	}
	for _, what := range []string{"time", "money"} {
		if text := views.SharesText(v.j.Shares, what); text != "" {
			rows = append(rows, []any{what, text})
		}
	}
	v.env.WholeTable(rows)
	return nil
}

// numbered lists checkpoints, such as ": @2, @3".
func numbered(list []int) string {
	const most = 8
	var texts []string
	for _, n := range list[:min(len(list), most)] {
		texts = append(texts, "@"+itoa(n))
	}
	if len(texts) == 0 {
		return ""
	}
	return ": " + strings.Join(texts, ", ") + present.More(len(list)-most)
}

// anyView reports whether a flag asks for a view.
func (a *showVerb) anyView() bool { return slices.Contains(a.views, true) }
