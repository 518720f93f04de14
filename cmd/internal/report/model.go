// Package report writes what happened in sessions into one file for people, as HTML or Markdown.
//
// Of collects what the file says, as a Report. From that follow blocks (headings, tables, lists), and the blocks are
// written in both formats. Blocks have plain text only, and each format escapes it in one place: nothing that an agent
// or a repository wrote can become markup.
package report

import (
	"cmp"
	"html/template"
	"slices"
	"time"

	"github.com/wfs-dev/wfs/cmd/internal/present"
	"github.com/wfs-dev/wfs/cmd/internal/views"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/session/cost"
	"github.com/wfs-dev/wfs/session/items"
	"github.com/wfs-dev/wfs/session/stats"
)

// Report is the output of `wfs report --json`.
type Report struct {
	Version    int               `json:"version"`
	At         time.Time         `json:"at"`                   // when it was made
	WFS        string            `json:"wfs"`                  // version of the wfs that made it
	Agents     []Agent           `json:"agents,omitempty"`     // a comparison of the agents that worked
	Sessions   []Session         `json:"sessions"`             // in the order in which they were named
	Unreadable map[string]string `json:"unreadable,omitempty"` // by session: why it could not be read
}

// Agent compares an agent, with one model, with others.
type Agent struct {
	Agent    string     `json:"agent"`
	Model    string     `json:"model,omitempty"`
	Sessions int        `json:"sessions"` // in which it worked
	Done     int        `json:"done"`     // of those, sessions whose work is completed or handed over
	Attempts int        `json:"attempts"` // judged ones, as wfs stats counts them
	Passed   int        `json:"passed"`
	Claims   int        `json:"claims"` // checked claims that it is done
	True     int        `json:"true"`
	Used     cost.Usage `json:"used,omitzero"`
}

// Session is what a report says of one session.
type Session struct {
	Session present.Story `json:"session"`
	Stands  string        `json:"stands"`         // where it stands, in a line
	Says    []present.Row `json:"says,omitempty"` // the rows below that line
	Asked   []Asked       `json:"asked"`          // what was asked for, and what shows that it is done
	// on the way to the current checkpoint: experiments that tested its passes, and suspicious changes to tests
	Experiments []Experiment        `json:"experiments,omitempty"`
	Tampered    []session.Tampering `json:"tampered,omitempty"`
	Review      *session.Review     `json:"review,omitempty"` // the newest review
	Metrics     views.Metrics       `json:"metrics"`
	Tools       views.Tools         `json:"tools"`
	Patterns    []views.Pattern     `json:"patterns"`
	Shares      []views.Share       `json:"shares"`
	Errors      []views.Error       `json:"errors"`
	Timeline    []views.Visit       `json:"timeline"`
	Commit      session.Commit      `json:"commit,omitempty"` // of the current checkpoint
	Files       []session.FileLines `json:"files"`            // changed from the base to it

	diff   string
	beside template.HTML
	Counts []stats.Stat `json:"-"` // of all phases, one of each agent and model
}

// Asked is something that was asked for: an item of the checklist, or the goal of a session that has none.
type Asked struct {
	Number     int                 `json:"number,omitempty"` // of the item
	Text       string              `json:"text"`
	State      session.ItemState   `json:"state,omitempty"`
	Says       string              `json:"says"` // the state in words
	Tests      []session.TestID    `json:"tests,omitempty"`
	Files      []session.FileLines `json:"files,omitempty"` // changed in its lap
	Checkpoint int                 `json:"checkpoint,omitempty"`
	Commit     session.Commit      `json:"commit,omitempty"`
}

// Experiment is an experiment that tested a pass.
type Experiment struct {
	views.Place
	session.Experiment
}

// Input is what a report needs to know of one session.
type Input struct {
	Story   present.Story
	Closing present.Closing
	Events  []session.Event
	Lines   [][]session.FileLines // of Pairs
	// the changes from the base to the current checkpoint, of a report about this session alone: as a patch, of which
	// the first MostDiff bytes are written, and as HTML
	Diff   string
	Beside template.HTML
}

// Pairs returns the trees between which the changed files are needed: from the base to the current checkpoint, then
// those of the items of the checklist, by number. A pair of equal trees stands for an item that no lap delivered.
func Pairs(s *session.Session, base session.Tree) []session.TreePair {
	way := s.Way()
	pairs := []session.TreePair{{From: base, To: base}}
	if n := len(way); n > 0 {
		pairs[0].To = way[n-1].Tree
	}
	for _, item := range items.States(s) {
		pair := session.TreePair{From: base, To: base}
		for i, c := range way {
			if s.Laps && item.State == session.ItemDelivered && c.Lap == item.Number && c.Number > 0 {
				if pair.From == pair.To && i > 0 {
					pair.From = way[i-1].Tree
				}
				pair.To = c.Tree
			}
		}
		pairs = append(pairs, pair)
	}
	return pairs
}

// Of returns the report about one session.
func Of(in Input) Session {
	s := in.Story.Of
	facts := views.Facts(s, in.Events)
	r := Session{Session: in.Story, Stands: in.Closing.Head.String(), Says: in.Closing.Rows, Tampered: s.TamperedOn(),
		Metrics: views.Measure(facts), Errors: views.Errors(facts), Timeline: views.Timeline(facts),
		diff: in.Diff, beside: in.Beside}
	for _, c := range stats.Of(in.Events) {
		c.Phase = ""
		r.Counts = stats.Add(r.Counts, []stats.Stat{c})
	}
	r.Tools, r.Patterns = views.UseOfTools(r.Metrics.Attempts), views.Patterns(r.Metrics.Attempts)
	r.Shares = r.Metrics.Shares()
	if len(in.Lines) > 0 {
		r.Files = in.Lines[0]
	}
	if s.Status == session.StatusFinished {
		r.Session.Beware = present.NotAsked(s)
	}
	if c := s.At(s.Current); c != nil {
		r.Commit = c.Code
	}
	r.read(facts)
	r.asked(in.Lines)
	return r
}

// read collects from the events what the views leave out.
func (r *Session) read(facts []views.Fact) {
	for _, f := range facts {
		switch b := f.Body.(type) {
		case session.RunEnded:
			r.Review = cmp.Or(b.Review, r.Review)
		case session.Judged:
			for _, x := range b.Experiments {
				if !f.Left && f.Checkpoint != nil && b.Verdict == session.Pass {
					r.Experiments = append(r.Experiments, Experiment{f.Place, x})
				}
			}
		}
	}
}

// asked lists what was asked for. A session without a checklist was asked for its goal.
func (r *Session) asked(lines [][]session.FileLines) {
	d := &r.Session
	s, shown := d.Of, d.Shown()
	for i, item := range items.States(s) {
		a := Asked{Number: item.Number, Text: item.Text, State: item.State, Says: item.Says(),
			Checkpoint: item.Checkpoint}
		if item.Test != "" {
			a.Tests = []session.TestID{item.Test}
		}
		if s.Laps && item.State == session.ItemDelivered {
			a.Tests = shown[item.Number]
			if i+1 < len(lines) {
				a.Files = lines[i+1]
			}
		}
		if c := s.At(a.Checkpoint); c != nil && c.Number > 0 {
			a.Commit = c.Code
		}
		r.Asked = append(r.Asked, a)
	}
	if len(r.Asked) > 0 {
		return
	}
	a := Asked{Text: s.Goal, Says: present.Stands(s), Files: r.Files, Checkpoint: s.Current, Commit: r.Commit}
	for _, names := range shown {
		a.Tests = append(a.Tests, names...)
	}
	slices.Sort(a.Tests)
	a.Tests = slices.Compact(a.Tests)
	r.Asked = []Asked{a}
}

// Add adds a session, and its attempts to the comparison of agents.
func (r *Report) Add(s Session) {
	r.Sessions = append(r.Sessions, s)
	for _, x := range s.Counts {
		i := slices.IndexFunc(r.Agents, func(a Agent) bool { return a.Agent == x.Agent && a.Model == x.Model })
		if i < 0 {
			i, r.Agents = len(r.Agents), append(r.Agents, Agent{Agent: x.Agent, Model: x.Model})
		}
		a := &r.Agents[i]
		a.Sessions++
		if status := s.Session.Status; status == session.StatusCompleted || status == session.StatusFinished {
			a.Done++
		}
		a.Attempts, a.Passed = a.Attempts+x.Attempts, a.Passed+x.Passed
		a.Claims, a.True, a.Used = a.Claims+x.Claims, a.True+x.True, a.Used.Plus(x.Used)
	}
	slices.SortStableFunc(r.Agents, func(x, y Agent) int {
		return cmp.Or(cmp.Compare(x.Agent, y.Agent), cmp.Compare(x.Model, y.Model))
	})
}
