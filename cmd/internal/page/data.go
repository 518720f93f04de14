package page

import (
	"cmp"
	"context"
	"fmt"
	"html/template"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/wfs-dev/wfs/cmd/internal/board"
	"github.com/wfs-dev/wfs/cmd/internal/present"
	"github.com/wfs-dev/wfs/cmd/internal/report"
	"github.com/wfs-dev/wfs/cmd/internal/svg"
	"github.com/wfs-dev/wfs/cmd/internal/views"
	"github.com/wfs-dev/wfs/internal/agents"
	"github.com/wfs-dev/wfs/internal/safetext"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
)

// Repo is a repository whose sessions the page shows.
type Repo struct {
	Key  string // names it in addresses
	Name string
	Dir  string // its main work tree, or the repository itself if it has none
	Gone bool   // it was moved or removed
}

// Row is a session on the board.
type Row = present.Session

// State says where a session is. A form has it as it was when the page was made.
type State struct {
	Seq    int64  // number of the newest event
	Edits  string // changes with the edits in the work tree that are in no checkpoint
	Driven bool   // a run is in progress
	Away   bool   // no work tree has the session checked out: it can be read, and not run or decided
}

// Seen returns what a form has of a state.
func (s State) Seen() string { return fmt.Sprint(s.Seq, " ", s.Edits) }

// Session is all that the page of a session shows.
type Session struct {
	Repo    Repo
	State   State
	Story   present.Story
	Text    string // what `wfs status` prints
	Visits  []views.Visit
	Metrics views.Metrics
	Errors  []views.Error
	Matrix  views.Matrix
	Older   int // how many attempts the matrix leaves out
	Plan    *workflows.Plan
	Agent   []agents.Record // the newest actions of the agent that works now
	Brief   string          // what it was told
	Earlier int             // how many older entries of the time line are left out
}

// Checkpoint is all that the page of a checkpoint shows.
type Checkpoint struct {
	Repo    Repo
	ID      session.ID
	Number  int
	On      int // the checkpoint that it was made on
	Last    int // the newest checkpoint of the session
	State   State
	Subject string
	Text    string // what `wfs show` prints about it
	Brief   string // as the agent got it; "" if its log is gone
	Output  string // what an agent printed whose output wfs does not understand
	Run     *present.Run
}

// Diff is the difference of two checkpoints.
type Diff struct {
	Repo     Repo
	ID       session.ID
	From, To string // numbers of checkpoints, or "base"
	Numbers  []int  // all checkpoints
	State    State
	Edits    []string // files that an approval takes in, and that no checkpoint has
	Waits    bool     // a person can approve or reject the newest checkpoint, and that is shown
	HTML     template.HTML
}

// Group is a column of the board: the sessions in some states.
type Group struct {
	Name string
	Rows []BoardRow
}

// BoardRow is a session on the board, with its repository.
type BoardRow struct {
	Repo Repo
	Row
}

// Board is what the board shows.
type Board struct {
	Groups []Group
	Repos  []Repo
	Failed []string // repositories that could not be read, and why
}

func (s *Server) boards(ctx context.Context) Board {
	b := Board{Repos: s.Source.Repositories()}
	for _, name := range board.Groups {
		b.Groups = append(b.Groups, Group{Name: strings.ToUpper(name[:1]) + name[1:]})
	}
	lists, errs := make([][]Row, len(b.Repos)), make([]error, len(b.Repos))
	var wait sync.WaitGroup
	for i, repo := range b.Repos {
		if !repo.Gone {
			wait.Go(func() { lists[i], errs[i] = s.Source.Board(ctx, repo) })
		}
	}
	wait.Wait()
	for i, repo := range b.Repos {
		if errs[i] != nil {
			b.Failed = append(b.Failed, repo.Dir+": "+errs[i].Error())
		}
		for _, row := range lists[i] {
			g := &b.Groups[board.GroupOf(row.Status, row.Waiting, runs(&row))]
			g.Rows = append(g.Rows, BoardRow{repo, row})
		}
	}
	for _, g := range b.Groups {
		slices.SortStableFunc(g.Rows, func(x, y BoardRow) int { return y.UpdatedAt.Compare(x.UpdatedAt) })
	}
	return b
}

func (s *Server) url(r Repo, id session.ID) string {
	return s.root + "/" + url.PathEscape(r.Key) + "/" + url.PathEscape(string(id))
}

// at returns the address of the page of a checkpoint, `<id>@<number>`.
func (s *Server) at(r Repo, checkpoint string) string {
	id, number, _ := strings.Cut(checkpoint, "@")
	return s.url(r, session.ID(id)) + "/at/" + url.PathEscape(number)
}

// functions are what templates can call.
func (s *Server) functions() template.FuncMap {
	return template.FuncMap{
		"url":   s.url,
		"at":    s.at,
		"ago":   func(t time.Time) string { return present.Ago(t, s.Now()) },
		"clean": clean,
		"line":  func(v any) string { return safetext.Line(fmt.Sprint(v), 200) },
		"clock": clock,
		"cost":  present.Cost,
		"title": func(r *Row) string { return safetext.Line(cmp.Or(r.Title, r.Goal), 200) },
		"where": where,
		"why":   s.why,
		"plots": func(d *Session) []report.Drawing { return report.Plots(&d.Metrics) },
		"mark":  mark,
		"short": func(t session.TestID) string { return safetext.Line(string(t), 120) },
		"says":  says,
		"can":   can,
		"graph": graph,
		"minus": func(a, b int) int { return a - b },
	}
}

// graph draws the session's workflow, and where it stands.
func graph(d *Session) template.HTML {
	if d.Plan == nil {
		return ""
	}
	return svg.Workflow(&d.Plan.Workflow, d.Story.Phase)
}

// clock formats a duration. It tells a short one from none.
func clock(millis int64) string {
	if 0 < millis && millis < 1000 {
		return "<0:01"
	}
	return present.Clock(time.Duration(millis) * time.Millisecond)
}

// clean removes what a terminal would not show as text from a longer text.
func clean(s string) string { return safetext.Strip(s) }

// where says in which phase a session is, as `wfs list` does, or how much is done.
func where(r *Row) string {
	if r.Phase == workflows.Done && r.Items > 0 {
		return fmt.Sprintf("%d of %d items done", r.ItemsDone, r.Items)
	}
	return strings.TrimPrefix(r.At(), "-")
}

// why says what a session waits for, or why it does not go on.
func (s *Server) why(r *Row) string {
	if r.Of == nil {
		return r.Why
	}
	lines := append(present.WhyStopped(r.Of, s.Now()), r.Why)
	return strings.Join(lines[:min(len(lines), 2)], " ")
}

// runs reports whether a run drives a session now.
func runs(r *Row) bool { return r.Driver != nil && strings.HasPrefix(r.Driver.Command, "wfs run") }

// mark is the sign of a test's result in the matrix. It does not depend on colours.
func mark(result string) string {
	switch result {
	case "pass":
		return "✓"
	case "fail":
		return "✗"
	case "skip":
		return "–"
	case "error":
		return "!"
	}
	return ""
}

// says is one action of an agent as text, "" for those that say nothing.
func says(r agents.Record) string {
	switch r.Kind {
	case agents.Text:
		return strings.TrimSpace(clean(present.Answered(r.Text)))
	case agents.Usage:
		return ""
	}
	return present.AgentText(r.Event, true)
}

// can reports what a person can do with a session now.
func can(r *Row, what string) bool {
	running, open := runs(r), !r.Status.Final() && r.Status != present.Unreadable
	asks := r.Status == session.StatusWaiting && r.Waiting != nil && r.Waiting.Reason != session.WaitLimit
	stopped := r.Status == session.StatusBlocked && r.Blocked.Reason == session.BlockBreaker
	switch what {
	case "approve":
		return !running && board.Decides(r.Status, r.Waiting)
	case "answer":
		return asks && !board.Decides(r.Status, r.Waiting)
	case "stop":
		return running
	case "run":
		return !running && !asks && !stopped && open && r.Status != session.StatusCompleted
	case "again":
		return !running && stopped
	case "finish":
		return !running && r.Status == session.StatusCompleted
	case "note", "switch":
		return open
	}
	return !running && r.Status != present.Unreadable
}
