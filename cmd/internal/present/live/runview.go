package live

import (
	"cmp"
	"strings"
	"time"

	"github.com/wfs-dev/wfs/cmd/internal/present"
	"github.com/wfs-dev/wfs/engine/decide"
	"github.com/wfs-dev/wfs/internal/agents"
	"github.com/wfs-dev/wfs/internal/safetext"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/session/items"
	"github.com/wfs-dev/wfs/workflows"
)

// RunView is the live view of a run: the session's state, the current action and the cost. A nil RunView shows nothing.
type RunView struct {
	*View
	now   func() time.Time
	shown viewing
}

// ShowRun opens the live view of a run. It returns nil if the terminal cannot show one. `hint` says what the user can
// do, such as "Ctrl-C stops it".
func ShowRun(s *present.Screen, hint string) *RunView {
	v := &RunView{now: s.Clock, shown: viewing{began: s.Clock()}}
	v.View = Show(s, func(columns int) []present.Styled { return v.shown.lines(v.now(), hint, columns) })
	if v.View == nil {
		return nil
	}
	return v
}

func (v *RunView) Began(at time.Time) { v.change(func() { v.shown.began = at }) }

// Stands shows a new state of the session. The plan p provides the agent's name, the breaker's limit and the budget.
func (v *RunView) Stands(now *session.Session, p *workflows.Plan) {
	v.change(func() {
		v.shown.plan = p
		v.shown.stands(now)
	})
}

func (v *RunView) Event(e session.Event, now *session.Session) {
	v.change(func() { v.shown.event(e, now, v.now()) })
}

func (v *RunView) Agent(e agents.Event) { v.change(func() { v.shown.agent(e, v.now()) }) }

// Does shows an action of the engine itself, as opposed to an action of the agent.
func (v *RunView) Does(text string) { v.change(func() { v.shown.does(text, v.now()) }) }

// viewing is the data that the live view shows. It holds copies, because the engine changes the originals while the
// view is drawn.
type viewing struct {
	plan  *workflows.Plan
	began time.Time

	phase   session.PhaseName
	lap     string
	attempt int
	targets int // new tests of this lap
	passing int
	tested  bool // the targets have run in this lap, and should pass
	fails   int  // attempts in a row without progress
	most    int

	said  string           // the agent's latest message
	what  string           // the current action
	since time.Time        // when the current action began
	wait  *session.Waiting // nil: not waiting until a limit resets

	before  float64 // cost of the session before this attempt
	cap     float64 // cap on the session's cost, 0: none
	spent   agents.Spent
	tools   int
	denials int
	model   string
	limit   agents.Limited
}

func (s *viewing) does(what string, now time.Time) { s.what, s.since = what, now }

// who returns the agent's name for use in sentences, or "the agent".
func who(plan *workflows.Plan) string {
	if plan != nil && plan.Agent.Use != "" {
		return plan.Agent.Use
	}
	return "the agent"
}

// event updates the data after a session event. `now` is the session's state after the event.
func (s *viewing) event(e session.Event, now *session.Session, at time.Time) {
	switch b := e.Body.(type) {
	case session.AttemptStarted:
		s.attempt = b.Attempt
		s.before, s.spent, s.tools, s.denials, s.said = now.CostUSD, agents.Spent{}, 0, 0, ""
	case session.Judged:
		if red := b.Red(); red != nil || session.CountsOf(b.Gates).Total() > 0 {
			s.passing, s.tested = b.Passing(), red == nil
		}
	}
	if does := begins(e, s.plan); does != "" {
		s.does(does, at)
	}
	s.stands(now)
}

// begins returns the action that follows an event of a run; "" if it is the same as before.
func begins(e session.Event, plan *workflows.Plan) string {
	switch b := e.Body.(type) {
	case session.AttemptStarted:
		if b.Limited != nil {
			return present.Substitute(b)
		}
		return who(plan) + " is working"
	case session.RunEnded:
		return "running the gates"
	case session.Judged:
		return "saving a checkpoint"
	case session.Reopened:
		return "running the gates again"
	case session.Waiting:
		if b.Reason == session.WaitLimit {
			return "waiting for a limit"
		}
	}
	return ""
}

// stands updates the data from the session's state.
func (s *viewing) stands(now *session.Session) {
	lap := items.LapName(now, now.Lap)
	if now.Phase != s.phase || lap != s.lap {
		s.tested = s.tested && lap == s.lap
	}
	s.phase, s.lap, s.targets = now.Phase, lap, len(now.Targets)
	s.wait = nil
	if now.Status == session.StatusWaiting && now.Waiting.Reason == session.WaitLimit {
		w := *now.Waiting
		s.wait = &w
	}
	if now.Open == nil {
		s.before, s.spent = now.CostUSD, agents.Spent{}
	} else {
		s.attempt = now.Open.Attempt
	}
	s.fails, s.most = now.Visit.NoProgress, workflows.DefaultLimits.NoProgress
	if s.plan != nil {
		s.cap = decide.BudgetOf(now, s.plan).Session.USD
		if p := s.plan.Workflow.Phase(now.Phase); p != nil {
			s.most = cmp.Or(p.Limits.NoProgress, s.most)
		}
	}
}

// agent updates the data after an agent event.
func (s *viewing) agent(e agents.Event, at time.Time) {
	switch e.Kind {
	case agents.Started:
		s.model = cmp.Or(e.Model, s.model)
	case agents.Text:
		if text := present.AgentText(e, false); text != "" {
			s.said = text
		}
	case agents.ToolCall:
		s.tools++
	case agents.Denial:
		s.denials++
	case agents.Usage:
		s.spent = e.Spent
	case agents.Limit:
		s.limit = e.Limited
	}
	if does := Does(e); does != "" {
		s.does(who(s.plan)+" "+does, at)
	}
}

// Does returns what the agent does after an event of it, such as "is thinking". It returns "" if that has not changed.
func Does(e agents.Event) string {
	switch e.Kind {
	case agents.Started:
		return "is working"
	case agents.Text:
		if present.AgentText(e, false) != "" {
			return "is thinking"
		}
	case agents.Thinking:
		return "is thinking"
	case agents.ToolCall:
		return toolText(e.Tool)
	case agents.ToolResult:
		return "is thinking (after " + cmp.Or(e.Tool.Name, "a tool") + ")"
	case agents.Denial:
		return "was refused " + present.ToolName(e.Tool)
	case agents.Compaction, agents.Retry, agents.Taken:
		return present.AgentText(e, false)
	case agents.Result:
		return "has finished"
	}
	return ""
}

// lines renders the live view for a terminal of `columns` columns.
func (s *viewing) lines(now time.Time, hint string, columns int) []present.Styled {
	var stands, costs present.Parts
	stands.Add(s.phase != "", "%s", s.phase)
	stands.Add(s.lap != "", "%s", s.lap)
	stands.Add(s.attempt > 0, "attempt %d", s.attempt)
	tests := safetext.Word(s.targets, "test", "tests")
	stands.Add(s.targets > 0 && s.tested, "%d of %d new %s pass", s.passing, s.targets, tests)
	stands.Add(s.targets > 0 && !s.tested, "%d new %s to pass", s.targets, tests)
	stands.Add(s.fails > 0, "%d of %d without progress", s.fails, s.most)

	what, clock := s.what, present.Clock(now.Sub(s.since))
	if s.wait != nil && now.Before(time.Unix(s.wait.Until, 0)) {
		what = present.WaitingUntil(s.wait, now)
		clock = present.Clock(time.Unix(s.wait.Until, 0).Sub(now)) + " left"
	}
	if what == "" {
		what, clock = "starting", ""
	}

	costs.Add(s.spent.USD > 0, "$%.2f", s.spent.USD)
	all := s.before + s.spent.USD
	costs.Add(s.cap > 0, "$%.2f of $%.2f in all", all, s.cap)
	costs.Add(s.cap == 0 && s.before > 0, "$%.2f in all", all)
	costs.Add(s.limit.Status != "" && s.limit.Status != "allowed", "%s", present.LimitText(s.limit))
	costs.Add(s.denials > 0, "%d refused", s.denials)
	costs.Add(s.spent.Tokens() > 0, "%s tokens", present.Count(s.spent.Tokens()))
	costs.Add(s.tools > 0, "%s", present.N(s.tools, "tool call"))
	costs.Add(s.model != "", "%s", safetext.Line(s.model, 40))
	lines := []present.Styled{viewLine(stands, present.Clock(now.Sub(s.began)), columns)}
	if s.said != "" {
		lines = append(lines, viewLine([]string{`"` + s.said + `"`}, "", columns))
	}
	return append(lines, viewLine([]string{what}, clock, columns), viewLine(append(costs, hint), "", columns))
}

// viewEdge begins each line of the live view, so that users can tell it from printed lines.
const viewEdge = "│ "

// viewLine joins parts into one line, with a clock at the right edge of the terminal. If the line is too long, viewLine
// drops parts from the end; if the first part alone is too long, it cuts that part.
func viewLine(parts []string, clock string, columns int) present.Styled {
	room := columns - safetext.Width(viewEdge)
	if clock != "" && room > safetext.Width(clock)+20 {
		room -= safetext.Width(clock) + 2
	} else {
		clock = ""
	}
	text := ""
	for i, part := range parts {
		if i > 0 {
			part = "  " + part
		}
		if i > 0 && safetext.Width(text+part) > room {
			break
		}
		text += part
	}
	text = safetext.Cut(text, room)
	if clock != "" {
		clock = strings.Repeat(" ", room-safetext.Width(text)+2) + clock
	}
	return present.Join(safetext.Cut(viewEdge+text+clock, columns))
}

// toolText describes a tool call: "runs go test ./...".
func toolText(t agents.Tool) string {
	if t.Detail == "" || t.Action == agents.Does || t.Action == "" {
		return "uses " + present.ToolName(t)
	}
	return string(t.Action) + " " + safetext.Line(t.Detail, present.ShownLine)
}
