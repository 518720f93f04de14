// Package decide determines the next step of a session, and why it stops. It is pure: the same session, plan and facts
// give the same decision.
package decide

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/wfs-dev/wfs/internal/safetext"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/session/items"
	"github.com/wfs-dev/wfs/workflows"
)

// WorkingPhase returns the phase in which completed work goes on that a person sends back: the one to which the last
// review sends it back, or the last one in which an agent works and does not review, or the first phase.
func WorkingPhase(w *workflows.Workflow) session.PhaseName {
	for _, ph := range slices.Backward(w.Phases) {
		to := w.Phase(ph.On[workflows.Fail])
		if (ph.Review != nil || ph.Run.Human && ph.Approves == "") && to != nil && to.Name != ph.Name && to.Run.Agent {
			return to.Name
		}
	}
	for _, ph := range slices.Backward(w.Phases) {
		if ph.Run.Agent && ph.Review == nil {
			return ph.Name
		}
	}
	return w.Start
}

// Facts are the inputs of Decide besides the session: observations, and the user's options for this run.
type Facts struct {
	Now         time.Time
	Tree        session.Tree        // tree of the files, when no attempt is open
	RunID       string              // id for the run of the next attempt
	Started     int                 // attempts that this run has started
	MaxAttempts int                 // 0: no limit
	Until       session.PhaseName   // stop when an attempt of this run has passed this phase; "": do not
	Auto        bool                // agree automatically that all work is done
	Ignore      bool                // ignore processes of an earlier run that are still alive
	Stop        string              // id of a request to stop after the current attempt's checkpoint
	Woken       bool                // a request asked to end the current wait
	Cut         session.Interrupted // why the run is being interrupted, if it is
	Day         Day                 // today
	Elsewhere   Elsewhere           // usage of other sessions
	Locks       []string            // names of git locks that exist now
}

// Effect is the single next step.
type Effect string

const (
	EffectRun        Effect = "run"        // run the agent or command of the open attempt
	EffectJudge      Effect = "judge"      // judge the files of the open attempt
	EffectCheckpoint Effect = "checkpoint" // make the checkpoint of the open attempt
	EffectSave       Effect = "save"       // checkpoint without judging (interrupted), then stop
	EffectKeep       Effect = "keep"       // checkpoint without judging, then decide again
	EffectSleep      Effect = "sleep"      // wait until Waiting.Until
	EffectAgain      Effect = "again"      // nothing to do: decide again
	EffectBlock      Effect = "block"      // save the files as an auto-save, append Block, and stop
	EffectStop       Effect = "stop"
)

// Decision has the events to append and the next step.
type Decision struct {
	Events []session.Body
	Effect Effect
	Block  session.BlockedBy // the block to append, with EffectBlock
}

// Decide determines the next step of a session that is being driven. It is pure.
func Decide(s *session.Session, p *workflows.Plan, f Facts) Decision {
	if s.Open != nil {
		return decideOpen(s, p, f)
	}
	if s.Conclude {
		if d, done := Conclusion(s, p, f); done {
			return d
		}
	}
	if s.Phase == workflows.Done && s.Status == session.StatusRunning {
		return judgeAgain(s, p, f)
	}
	switch s.Status {
	case session.StatusCompleted, session.StatusFinished, session.StatusAbandoned, session.StatusBlocked:
		return do(EffectStop)
	case session.StatusWaiting:
		w := s.Waiting
		switch {
		case w.Reason == session.WaitHuman:
			return do(EffectStop)
		case !f.Woken && !Waited(w, f.Now) && (w.Limited == nil || Instead(s, p, f) == nil) &&
			(w.Cause != session.CauseCalls || tooFast(s, p, f) != nil):
			if f.Stop != "" {
				return stop(stopped(f))
			}
			return do(EffectSleep)
		}
	}
	return start(s, p, f)
}

// Conclusion determines whether the attempt whose checkpoint was just made stops the session, or ends the item or the
// work because nothing is left to do. It returns false if the session simply continues.
func Conclusion(s *session.Session, p *workflows.Plan, f Facts) (Decision, bool) {
	switch d := s.Last; {
	case d.Class == session.ClassAsked:
		return stop(WaitsForAnswer(s)), true
	case d.Verdict == session.Blocked:
		return stop(Blocked(session.BlockGate, "wfs run", d.Reason)), true
	case d.NothingLeft && (f.Auto || agree(p) == workflows.AgreeAuto) && !insists(s):
		return do(EffectAgain, session.Agreed{By: "auto"}), true
	case d.NothingLeft:
		return stop(session.Waiting{Reason: session.WaitHuman, Ask: isItDone(s), Agree: true}), true
	}
	return Decision{}, false
}

// isItDone returns the question after a lap in which the agent found nothing left to do.
func isItDone(s *session.Session) string {
	item, is := "", "Is the work done?"
	if i := s.Item(); i != "" {
		item, is = fmt.Sprintf(" for %q", i), "Is this item done?"
	}
	ask := "the agent added no test and says that nothing is left to do" + item
	named := ""
	if s.LastResult != nil {
		named = safetext.OneLine(s.LastResult.NothingLeft, 200)
	}
	switch {
	case named == "" && insists(s):
		return fmt.Sprintf("the agent added no further test%s in %d attempts, and does not say that anything is missing. %s",
			item, s.At(s.Current).Attempt, is)
	case named == "":
		return "the attempt changed nothing, and the agent does not say that anything is missing. " + is
	case s.Last.Shown != "":
		return fmt.Sprintf("%s: the existing test %s, which passes, should show it. %s", ask, s.Last.Shown, is)
	}
	return fmt.Sprintf("%s: it names %q, but no existing test of that name passes. %s", ask, named, is)
}

func stopped(f Facts) session.Paused {
	return session.Paused{Why: "stopped on request", Request: f.Stop}
}

// interrupted returns the event of an interrupted run. If f has no reason for the interruption, the process of the run
// died.
func interrupted(f Facts) session.Interrupted {
	if f.Cut.Why == "" {
		return session.Interrupted{Why: "killed"}
	}
	return f.Cut
}

func agree(p *workflows.Plan) workflows.Agree {
	if p.Workflow.Laps == nil {
		return ""
	}
	return p.Workflow.Laps.Agree
}

func do(e Effect, events ...session.Body) Decision { return Decision{Events: events, Effect: e} }

func stop(b session.Body) Decision { return do(EffectStop, b) }

// Blocked returns the event that blocks a session until the user acts. `hint` is the command to type.
func Blocked(why session.BlockReason, hint string, evidence ...string) session.BlockedBy {
	return session.BlockedBy{Reason: why, Hint: hint, Evidence: evidence}
}

// Asking returns the event by which a session waits for a person's approval or rejection.
func Asking(question string) session.Waiting {
	return session.Waiting{Reason: session.WaitHuman, Ask: question, Approve: true}
}

// start decides to begin the next attempt, or else to stop or to wait, with the reason.
func start(s *session.Session, p *workflows.Plan, f Facts) Decision {
	ph := p.Workflow.Phase(s.Phase)
	if ph == nil { // the session is back at a checkpoint from before the workflow was replaced
		return stop(Blocked(session.BlockGate, "wfs edit --phase "+string(p.Workflow.Phases[0].Name),
			fmt.Sprintf("the workflow has no phase %q", s.Phase)))
	}
	if ph.Run.Human {
		return stop(Asking(Question(ph)))
	}
	if limit := withDefaults(ph.Limits).FailedRuns; s.Failed >= limit {
		return stop(Blocked(session.BlockRunner, "wfs run", withPrinted(s.LastResult,
			fmt.Sprintf("%d runs in a row failed and changed nothing: %s", s.Failed, s.Why))...))
	}
	if laps := p.Workflow.Laps; laps != nil && len(s.Items) == 0 && s.Lap > maxLaps(laps) && !items.After(s, s.Lap) {
		return stop(Blocked(session.BlockLimit, "wfs finish",
			fmt.Sprintf("%d laps are done, the workflow's maximum", s.Lap-1)))
	}
	if ask := asksPerson(s, ph); ask != "" {
		return stop(Asking(ask))
	}
	if b := tampered(s, p); b != nil {
		return stop(b)
	}
	state, why := Trip(ph.Limits, s.Visit)
	if state == BreakerOpen {
		return stop(tripped(s, why))
	}
	ph, other := halfOpen(ph, state)
	limit := Instead(s, p, f)
	if limit != nil {
		other = p.AgentOf(ph).OnLimit.Agent
		ph = By(ph, other)
	}
	warn, over := budget(s, p, f)
	if over != nil {
		return stop(*over)
	}
	if f.Stop != "" {
		return stop(stopped(f))
	}
	if f.MaxAttempts > 0 && f.Started >= f.MaxAttempts {
		return stop(session.Paused{Why: fmt.Sprintf("stopped after %d %s, as requested", f.Started,
			safetext.Word(f.Started, "attempt", "attempts"))})
	}
	if c := s.Judged(); f.Until != "" && f.Started > 0 && c != nil && c.Phase == f.Until && c.Verdict == session.Pass &&
		c.Next != c.Phase {
		return stop(session.Paused{Why: fmt.Sprintf("stopped after %s has passed, as requested", f.Until)})
	}
	if w := tooFast(s, p, f); w != nil && runner(ph, p) == "agent" {
		return do(EffectAgain, append(warn, *w)...)
	}
	return do(EffectRun, append(warn, session.AttemptStarted{
		Number: s.Runs + 1, Phase: s.Phase, Lap: s.Lap, Attempt: s.Visit.Attempts + 1, RunID: f.RunID, Tree: f.Tree,
		Runner: runner(ph, p), HalfOpen: state == BreakerHalfOpen, Agent: other, Limited: limit, Locks: f.Locks,
		Meanwhile: meanwhile(s, ph),
	})...)
}

// meanwhile returns how many notes of unknown authors the brief of the next attempt contains. Reviewers see none: the
// agent under review may have written one.
func meanwhile(s *session.Session, ph *workflows.Phase) int {
	if ph.Review != nil {
		return 0
	}
	return len(s.Meanwhile)
}

// Question returns the question of a human phase: the first line of its brief.
func Question(ph *workflows.Phase) string {
	if ask := safetext.OneLine(safetext.FirstLine(strings.TrimSpace(ph.Brief)), 300); ask != "" {
		return string(ph.Name) + ": " + ask
	}
	return string(ph.Name) + ": look at the work, then approve or reject it"
}

// RunnerPerson is the runner of an attempt that starts no agent: the work tree is judged as it is.
const RunnerPerson = "person"

// judgeAgain decides to judge work that was edited after it was complete. The edits count as an attempt, without an
// agent, at the phase whose pass ends the lap or the work.
func judgeAgain(s *session.Session, p *workflows.Plan, f Facts) Decision {
	var last workflows.Phase
	for _, ph := range p.Workflow.Phases {
		if to := ph.On[workflows.Pass]; to == workflows.Done || to == workflows.NextLap {
			last = ph
		}
	}
	return do(EffectJudge,
		session.AttemptStarted{Number: s.Runs + 1, Phase: last.Name, Lap: s.Lap, Attempt: 1, RunID: f.RunID, Tree: f.Tree,
			Runner: RunnerPerson},
		session.RunEnded{RunResult: session.RunResult{Outcome: session.OutcomeOK}, Tree: f.Tree})
}

func maxLaps(l *workflows.Laps) int {
	if l.Max > 0 {
		return l.Max
	}
	return workflows.DefaultMaxLaps
}

func runner(ph *workflows.Phase, p *workflows.Plan) string {
	switch {
	case !ph.Run.Agent:
		return "command"
	case p.AgentOf(ph).Script != "":
		return "script"
	}
	return "agent"
}

// decideOpen determines the next step of an open attempt.
func decideOpen(s *session.Session, p *workflows.Plan, f Facts) Decision {
	switch o := s.Open; {
	case o.Decided != nil:
		return do(EffectCheckpoint)
	case o.Judgement != nil:
		return do(EffectCheckpoint, conclude(s, p))
	case o.Run == nil:
		return do(EffectRun)
	default:
		return decideRun(s, p, f)
	}
}

// LapAfter returns the lap after the current one, 0 when the checklist has no further item. Without a checklist, a
// workflow that writes no tests has only one lap, because nothing could show that another lap has nothing left to do.
func LapAfter(s *session.Session, p *workflows.Plan) int {
	switch {
	case len(s.Items) > 0 || p.Workflow.Red() == nil:
		return items.Next(s)
	case items.After(s, s.Lap): // the work was sent back from a phase after the laps
		return 0
	}
	return s.Lap + 1
}

// EndLap returns the phase and the lap that follow when the current lap ends.
func EndLap(s *session.Session, p *workflows.Plan) (session.PhaseName, int) {
	if lap := LapAfter(s, p); lap > 0 {
		return p.Workflow.LapStart(), lap
	}
	return items.AfterLaps(s, s.Items)
}

// onlyUnchanged reports whether the attempt fails only because a gate requires a change that the attempt has not made.
func onlyUnchanged(j *session.Judgement) bool {
	return j.Class == session.ClassUnchanged && !slices.ContainsFunc(j.Gates, func(g session.GateResult) bool {
		return g.Verdict != session.Pass && g.Class != session.ClassUnchanged
	})
}

// idleLap reports whether an attempt of a lap after the first has changed no file, and thereby counts as a report that
// nothing is left to do, because most agents then only say that they are done. Without a checklist that is the first
// attempt, unless its brief contains notes: it has to do what they require. Else it is the last one before the breaker
// opens.
func idleLap(s *session.Session) bool {
	o, r := s.Open, s.Open.Run
	if items.LapsJudged(s) == 0 || o.Judgement.Tree != s.LapTree || r.Outcome != session.OutcomeOK ||
		r.NotDone || r.Unread || r.Denials > 0 || r.TestChange != "" {
		return false
	}
	return o.HalfOpen || len(s.Items)+o.Told+o.Said+o.AttemptStarted.Meanwhile+s.Visit.Attempts == 0
}

// insists reports whether several attempts have left the lap as it was, none of which says that nothing is left to do.
// Only a person can agree to that.
func insists(s *session.Session) bool {
	c := s.At(s.Current)
	return s.LastResult != nil && s.LastResult.NothingLeft == "" && c != nil && c.Attempt > 1
}

// conclude turns the judgement of the open attempt into a decision: the verdict, the next phase, and whether the
// attempt made progress.
func conclude(s *session.Session, p *workflows.Plan) session.Decided {
	j, run := s.Open.Judgement, s.Open.Run
	d := session.Decided{Verdict: j.Verdict, Class: j.Class, Reason: j.Reason, Next: s.Phase, NextLap: s.Lap}
	if d.Progress = j.Verdict == session.Pass; !d.Progress {
		d.Step = stepOf(s, j)
		d.Progress = d.Step != ""
	}
	said := run != nil && run.Done
	left := run != nil && (run.NothingLeft != "" || idleLap(s)) && p.Workflow.Laps != nil &&
		s.Phase == p.Workflow.LapStart()
	if left && (j.Class == session.ClassNothingAdded && len(j.Beside) == 0 || onlyUnchanged(j)) {
		d.Verdict, d.NothingLeft, d.Shown, d.Progress = session.Pass, true, j.Shown, true
		return d
	}
	if j.Verdict == session.Blocked {
		if j.Class == session.ClassAsked {
			d.Progress, d.Step = false, ""
		}
		if j.Class == session.ClassAsked && !goesBack(s, p, &d) {
			d.Question = j.Question
		}
		return d
	}
	if run != nil && run.Rejected && s.Last != nil && s.Last.Class == session.ClassAsked {
		d.Question = s.Last.Question
	}
	d.Refuted = said && j.Verdict == session.Fail
	if heard(s, p.Workflow.Phase(s.Open.Phase), &d) || goesBack(s, p, &d) {
		return d
	}
	if to := failedElsewhere(s, p, j); to != "" && d.Verdict == session.Fail {
		d.Next = to
		return d
	}
	target, err := Next(&p.Workflow, s.Phase, d.Verdict)
	if err != nil { // the plan was checked; only an edited ledger gets here
		d.Verdict, d.Reason = session.Blocked, err.Error()
		return d
	}
	if ph := leftOut(p, target, j); ph != nil && d.Verdict == session.Pass {
		d.TooSmall, target = ph.Name, ph.On[workflows.Pass]
	}
	d.Next = target
	switch finished := s.Open.Runner == RunnerPerson && !run.Approved; { // the work was complete before; see judgeAgain
	case target == workflows.NextLap && finished:
		d.LapEnded, d.Next = true, workflows.Done
	case target == workflows.NextLap:
		d.LapEnded = true
		d.Next, d.NextLap = EndLap(s, p)
	case s.Lap == 0 && target == p.Workflow.LapStart():
		d.LapEnded, d.NextLap = true, 1
	}
	ph := p.Workflow.Phase(s.Phase)
	d.Approve = d.Verdict == session.Pass && ph != nil && ph.Approve
	return d
}

// Completes reports whether the judgement j of the open attempt completes the work, perhaps after a person agrees.
func Completes(s *session.Session, p *workflows.Plan, j session.Judgement) bool {
	open, after := *s.Open, *s
	open.Judgement, after.Open = &j, &open
	d := conclude(&after, p)
	return d.Verdict == session.Pass && (d.Next == workflows.Done || d.NothingLeft && items.Next(s) == 0 && s.Then == "")
}

// failedElsewhere returns the phase that repairs the work when the first failed gate belongs to another phase than the
// current one: the phase that follows a failure of that other phase. It returns "" if this gate belongs to the current
// phase, or if no gate failed.
func failedElsewhere(s *session.Session, p *workflows.Plan, j *session.Judgement) session.PhaseName {
	own := p.Workflow.Phase(s.Open.Phase)
	if own == nil || j.Verdict != session.Fail {
		return ""
	}
	at := slices.IndexFunc(j.Gates, func(r session.GateResult) bool { return r.Verdict != session.Pass })
	if at < 0 || slices.ContainsFunc(own.Gates, func(g workflows.Gate) bool { return g.Name == j.Gates[at].Gate }) {
		return ""
	}
	for _, ph := range p.Workflow.Phases {
		if slices.ContainsFunc(ph.Gates,
			func(g workflows.Gate) bool { return g.Name == j.Gates[at].Gate && g.Expect != workflows.ExpectRed }) {
			if to := ph.On[workflows.Fail]; p.Workflow.Phase(to) != nil {
				return to
			}
		}
	}
	return WorkingPhase(&p.Workflow)
}

// Waits reports whether a gate may be skipped until the work is complete, because it applies to certain paths only or
// runs at a certain time.
func Waits(g workflows.Gate) bool { return len(g.Paths) > 0 || g.When != "" }
