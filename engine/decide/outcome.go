package decide

import (
	"fmt"
	"hash/fnv"
	"strings"
	"time"

	"github.com/wfs-dev/wfs/internal/safetext"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
)

// These are the waiting times if the provider reports none, and the total waiting times after which the session is
// blocked until the user acts. The longest known usage window of a provider is a week. If a provider reports a longer
// wait than maxWait, wfs does not believe it: it waits as if no time was reported, and tries again. A longer wait that
// an agent asks for is cut to maxWait.
const (
	DefaultWait  = 15 * time.Minute // for a usage limit, or an agent that asks to wait
	longestWait  = 2 * time.Hour    // DefaultWait doubles up to this
	firstPause   = 30 * time.Second // for trouble at the provider
	longestPause = 15 * time.Minute // firstPause doubles up to this
	maxWait      = 8 * 24 * time.Hour

	pausePatience = 12 * time.Hour // in total, for trouble at the provider
	limitPatience = maxWait        // in total, for all other waits

	// clockSlack is how far the clock may be set back without ending a wait.
	clockSlack = 10 * time.Minute
)

// Waited reports whether a wait is over: its time has come, or the clock was set back so far that the end of the wait
// is further away now than when the wait began.
func Waited(w *session.Waiting, now time.Time) bool {
	longest := time.Duration(w.Longest) * time.Second
	if w.Longest == 0 { // written by an older wfs
		longest = maxWait
	}
	left := w.Until - now.Unix()
	return left <= 0 || left > int64((longest+clockSlack)/time.Second)
}

// decideRun determines the step after the end of the open attempt's run. Failures of the provider, or of the agent's
// set-up, say nothing about the work: they use up no attempt, and the changes so far are kept without being judged.
func decideRun(s *session.Session, p *workflows.Plan, f Facts) Decision {
	o, r := s.Open, s.Open.Run
	if len(r.Survivors) > 0 && !f.Ignore {
		// make no checkpoint, because these processes may keep writing
		return Decision{Effect: EffectBlock, Block: Blocked(session.BlockSurvivors, "wfs run",
			"the agent left processes running:"+Numbers(r.Survivors))}
	}
	switch r.Outcome {
	case session.OutcomeOK, session.OutcomeCapped, session.OutcomeDenied, session.OutcomeRefused:
		return do(EffectJudge)
	case session.OutcomeInterrupted:
		return do(EffectSave, interrupted(f))
	case session.OutcomeWait, session.OutcomeLimit, session.OutcomeRateLimited, session.OutcomeOverloaded:
		return hindered(s, p, f)
	case session.OutcomeAsk:
		return do(EffectSave, session.Waiting{Reason: session.WaitHuman, Ask: r.Ask})
	case session.OutcomeNotStarted:
		// another try cannot help, because the session keeps the same command
		return stop(Blocked(session.BlockRunner, "wfs edit --agent 'ANOTHER COMMAND'",
			withPrinted(r, safetext.OneLine(fmt.Sprintf("the agent could not start (exit %d) %s", r.Exit, r.Note), 300))...))
	case session.OutcomeAuth, session.OutcomeBilling, session.OutcomeConfig:
		var card *workflows.Card
		if ph := p.Workflow.Phase(o.Phase); ph != nil {
			card = p.AgentOf(By(ph, o.Agent)).Card
		}
		return do(EffectSave, cannotWork(r, card))
	}
	// The run has failed in another way: for example, it hung or ran out of context. If it changed nothing, there is
	// nothing to judge.
	if o.After == o.Tree {
		return do(EffectAgain, session.Voided{Why: VoidedWhy(*r)})
	}
	return do(EffectJudge)
}

// JudgedNext reports whether the run of the open attempt has ended, so that the next `wfs run` first judges its files.
func JudgedNext(s *session.Session) bool {
	return s.Open != nil && s.Open.Run != nil && decideRun(s, &workflows.Plan{}, Facts{}).Effect == EffectJudge
}

// cannotWork returns the block after a failure that another try cannot fix. `card` describes the agent program,
// including how to log in; nil if it is unknown.
func cannotWork(r *session.RunResult, card *workflows.Card) session.BlockedBy {
	who := agentOf(r)
	b := Blocked(session.BlockRunner, "wfs run")
	switch r.Outcome {
	case session.OutcomeAuth:
		b.Evidence = []string{worded(who+" is not logged in, or its key is rejected", r.Message)}
		b.Hint = "log in to " + who + ", then wfs run"
		if c := card; c != nil && c.Login != "" {
			command, other, _ := strings.Cut(c.Login, "(") // for example "codex login   (or …)"
			b.Hint = strings.TrimSpace(command) + " && wfs run"
			if other = strings.TrimSuffix(strings.TrimSpace(other), ")"); other != "" {
				b.Evidence = append(b.Evidence, "log in, "+other)
			}
		}
	case session.OutcomeBilling:
		b.Evidence = []string{worded(who+" has no credit left", r.Message), "once there is credit again: wfs run"}
	default:
		b.Evidence = []string{worded(who+" does not work with this configuration", r.Message),
			"fix agent: in the configuration (see wfs agent check), then:"}
		b.Hint = "wfs edit --reload && wfs run"
	}
	b.Evidence = withPrinted(r, b.Evidence...)
	return b
}

// hindered returns the decision to wait until the provider lets the agent work again, or to block the session after it
// has waited too long in total.
func hindered(s *session.Session, p *workflows.Plan, f Facts) Decision {
	o, r := s.Open, s.Open.Run
	h := session.Hindered{Runs: 1}
	if s.Hindered != nil {
		h = *s.Hindered
	}
	effect := EffectAgain
	if o.After != o.Tree {
		effect = EffectKeep
	}
	w := session.Waiting{Reason: session.WaitLimit}
	patience := limitPatience
	var pause time.Duration
	jitter := chance(s)
	switch who := agentOf(r); r.Outcome {
	case session.OutcomeWait:
		w.Cause, w.Why, jitter = session.CauseAsked, worded("the agent asked to wait", r.Note), 0
		pause = DefaultWait
		if r.WaitUntil != 0 {
			pause = min(max(time.Unix(r.WaitUntil, 0).Sub(f.Now).Round(time.Second), 0), maxWait)
		}
	case session.OutcomeLimit:
		w.Cause, w.Why = session.CauseLimit, worded(who+" has reached a usage limit", r.Message)
		pause = told(r.WaitUntil, f.Now, doubled(DefaultWait, longestWait, h.Runs))
		if r.WaitUntil > 0 && r.WaitUntil <= f.Now.Unix() && h.Runs == 1 {
			pause, jitter = 0, 0 // the limit is over already; but an agent that reports it once more has to wait
		}
	default:
		w.Cause, w.Why = session.CauseOverloaded, worded(who+"'s provider is unavailable", r.Message)
		if r.Outcome == session.OutcomeRateLimited {
			w.Cause, w.Why = session.CauseRateLimited, worded(who+" is rate limited", r.Message)
		}
		patience = pausePatience
		pause = doubled(firstPause, longestPause, h.Runs)
		pause = max(pause, told(r.WaitUntil, f.Now, pause))
	}
	if time.Duration(h.Waited)*time.Second >= patience {
		return do(EffectSave, Blocked(session.BlockRunner, "wfs run", withPrinted(r, w.Why,
			fmt.Sprintf("%d runs in a row ended like this, over %d hours of waiting", h.Runs, h.Waited/3600))...))
	}
	pause += time.Duration(jitter * float64(min(pause/4, 2*time.Minute)))
	w.Until = f.Now.Add(pause).Unix()
	w.Longest = max(1, int64(pause/time.Second))
	if r.Outcome == session.OutcomeLimit && pause > shortWait {
		limited(s, p, f, &w)
	}
	if h.Runs > 1 && w.Cause != session.CauseAsked {
		w.Why += fmt.Sprintf(" (%d runs in a row)", h.Runs)
	}
	return do(effect, w)
}

// told returns the time left until a reported moment. It returns `otherwise` if the moment is unknown, is in the past,
// or is implausibly far away.
func told(until int64, now time.Time, otherwise time.Duration) time.Duration {
	left := until - now.Unix()
	if until == 0 || left <= 0 || left > int64(maxWait/time.Second) {
		return otherwise
	}
	return time.Duration(left) * time.Second
}

// doubled returns the pause after `runs` runs in a row. It doubles with each run, from `first` up to `longest`.
func doubled(first, longest time.Duration, runs int) time.Duration {
	return min(longest, first<<min(max(runs-1, 0), 20))
}

// chance returns a number from 0 to 1 that differs for each run of each session. It keeps sessions that wait for the
// same moment from starting together.
func chance(s *session.Session) float64 {
	h := fnv.New32a()
	fmt.Fprintf(h, "%s %d", s.ID, s.Runs)
	return float64(h.Sum32()%1000) / 1000
}

// VoidedWhy describes the end of a run that changed nothing.
func VoidedWhy(r session.RunResult) string {
	return worded(agentOf(&r)+" "+Ended(r)+" and changed nothing", r.Message)
}

// Ended describes the end of a run as an action of its agent.
func Ended(r session.RunResult) string {
	switch r.Outcome {
	case session.OutcomeOK, session.OutcomeFailed:
		return fmt.Sprintf("exited %d", r.Exit)
	case session.OutcomeNotStarted:
		return "could not start"
	case session.OutcomeAsk:
		return "asks a question"
	case session.OutcomeWait:
		return "asked to wait"
	case session.OutcomeInterrupted:
		return "was interrupted"
	case session.OutcomeLimit:
		return "reached a usage limit"
	case session.OutcomeRateLimited:
		return "is rate limited"
	case session.OutcomeOverloaded:
		return "could not reach its provider"
	case session.OutcomeAuth:
		return "is not logged in"
	case session.OutcomeBilling:
		return "has no credit left"
	case session.OutcomeConfig:
		return "does not work with this configuration"
	case session.OutcomeIdle:
		return "was stopped after too long without output"
	case session.OutcomeHung:
		return "was stopped after too long without progress"
	case session.OutcomeTimeout:
		return "was stopped after its time limit"
	case session.OutcomeNoResult:
		return fmt.Sprintf("exited %d without a result", r.Exit)
	case session.OutcomeTooLong:
		return "ran out of context"
	case session.OutcomeCapped:
		return "reached its limit of turns, cost or time"
	case session.OutcomeDenied:
		return fmt.Sprintf("exited %d; ", r.Exit) + Denied(r)
	case session.OutcomeRefused:
		return "stopped: the model declined"
	}
	return fmt.Sprintf("exited %d (%s)", r.Exit, r.Outcome)
}

// Denied describes the calls that a run was not permitted to make.
func Denied(r session.RunResult) string {
	what := fmt.Sprintf("%d %s not permitted", r.Denials, safetext.Word(r.Denials, "call was", "calls were"))
	if len(r.Denied) > 0 {
		what += ": " + strings.Join(r.Denied, ", ")
	}
	return what
}

// withPrinted appends the last lines of a run's output to evidence, if they say more than the run's message.
func withPrinted(r *session.RunResult, evidence ...string) []string {
	if r == nil || len(r.Printed) == 0 || len(r.Printed) == 1 && r.Printed[0] == r.Message {
		return evidence
	}
	evidence = append(evidence, agentOf(r)+"'s last output:")
	for _, line := range r.Printed {
		evidence = append(evidence, "  "+line)
	}
	return evidence
}

func agentOf(r *session.RunResult) string {
	if r.Agent != "" {
		return r.Agent
	}
	return "the agent"
}

// worded joins the description of an event and the agent's message about it.
func worded(what, message string) string {
	if message = safetext.OneLine(message, 300); message != "" {
		what += ": " + message
	}
	return what
}
