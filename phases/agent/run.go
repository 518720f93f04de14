// Package agent runs the agent, command or script of a phase, and reports how the run ended.
package agent

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/wfs-dev/wfs/internal/agents"
	"github.com/wfs-dev/wfs/internal/durable"
	"github.com/wfs-dev/wfs/internal/redact"
	"github.com/wfs-dev/wfs/phases/brief"
	"github.com/wfs-dev/wfs/phases/process"
	"github.com/wfs-dev/wfs/phases/report"
	"github.com/wfs-dev/wfs/session"
)

// Names of the files that a run leaves in its directory, outside Git.
const (
	BriefFile  = "brief.md"
	ResultFile = "result.json"
	OutputFile = "output.log"
)

// Runner runs one attempt: it writes the brief, runs the agent, command or script, and reports how the run ended. It
// does not judge the work.
type Runner struct {
	Root    string   // top of the work tree, absolute
	Environ []string // of wfs; runs see the part that DefaultEnv allows
	Temp    string   // parent of runs' temporary directories, outside of all repositories; "": they get none
	Now     func() time.Time
	Secrets *redact.Redactor // removed from all that a run leaves, shows and answers; may be nil
	// Report receives lines for the terminal, without control characters. May be nil.
	Report func(line string)
	// Watch receives the agent's events one at a time, as they happen. Texts may contain control characters. nil: the
	// agent's text goes to Report.
	Watch func(agents.Event)
	// Prober finds the versions of agents that do not report theirs. May be nil.
	Prober *Prober
	// Settings are git settings for agents that may not push: keys and values in turn.
	Settings []string
	// Closing Hurry kills a run that is being stopped, without further grace. May be nil.
	Hurry  <-chan struct{}
	Grace  time.Duration // between TERM and KILL; 0 is proc.DefaultGrace
	Settle time.Duration // silence after an agent's final message before it is stopped; 0 is that of proc.Signs
	MaxLog int64         // bytes; 0 is DefaultMaxLog
}

// Run briefs and runs the agent or command of the request's phase. An error means that the outcome of the run is
// unknown; a command that fails, hangs or does not exist is a result.
func (r *Runner) Run(ctx context.Context, req session.RunRequest) (session.RunResult, error) {
	req.Plan.Agent = *req.Plan.AgentOf(&req.Phase) // from here on there is only one agent
	if !r.goesOn(ctx, req) {
		req.Conversation = nil
	}
	remove, err := r.laySpec(&req)
	if err != nil {
		return session.RunResult{}, fmt.Errorf("could not write the specification to %s: %w",
			brief.DocumentsDir(req.Session.ID), err)
	}
	defer remove()
	brief, err := r.writeBrief(req)
	if err != nil {
		return session.RunResult{}, err
	}
	if err := os.RemoveAll(filepath.Join(req.RunDir, ResultFile)); err != nil {
		return session.RunResult{}, err
	}
	log, err := process.NewLog(filepath.Join(req.RunDir, OutputFile), r.MaxLog)
	if err != nil {
		return session.RunResult{}, err
	}
	events, err := r.newRunLog(req.RunDir)
	if err != nil {
		_ = log.Close()
		return session.RunResult{}, err
	}
	out := newOutput(log, events, r.Secrets, events.said)
	res, err := (&attempt{r, req, brief, out}).run(ctx)
	res = worded(res, req)
	if err := process.Clean(filepath.Join(req.RunDir, ResultFile), r.Secrets); err != nil {
		r.say("the answer of the run could not be saved without secrets: " + process.Reason(err))
	}
	if err := out.Close(); err != nil {
		r.say("could not write the log of the run: " + process.Reason(err))
	}
	return res, err
}

// writeBrief writes the brief and stores it as the agent receives it.
func (r *Runner) writeBrief(req session.RunRequest) ([]byte, error) {
	brief := []byte(r.Secrets.String(string(r.brief(req))))
	return brief, durable.WriteCache(filepath.Join(req.RunDir, BriefFile), brief, 0o600)
}

// attempt is one run: its request, and the destination of its output.
type attempt struct {
	*Runner
	req   session.RunRequest
	brief []byte
	out   *output
}

func (a *attempt) run(ctx context.Context) (session.RunResult, error) {
	agent, run := a.req.Plan.Agent, a.req.Phase.Run
	switch {
	case run.Agent && agent.Card != nil:
		return a.runAgent(ctx)
	case run.Agent && agent.Script != "":
		return a.runScript(ctx)
	case run.Agent && !agent.Command.IsZero():
		return a.runCommand(ctx, agent.Command)
	case !run.Agent && !run.Command.IsZero():
		return a.runCommand(ctx, run.Command)
	}
	return session.RunResult{}, fmt.Errorf("phase %s has neither an agent nor a command", a.req.Phase.Name)
}

// brief renders the brief, with the note and test output that the newest judged attempt left in its run's directory.
// Another clone does not have these, and the brief omits them.
func (r *Runner) brief(req session.RunRequest) []byte {
	f := brief.Found{RuleFiles: r.unloadedRules(req)}
	if req.Session.LastRun == "" {
		return brief.Render(req, f)
	}
	dir := filepath.Join(filepath.Dir(req.RunDir), req.Session.LastRun)
	var err error
	if f.Failures, err = report.ReadFailures(dir); err != nil {
		r.say("cannot read the output of the last gates: " + process.Reason(err))
	}
	if text, err := durable.ReadFile(filepath.Join(dir, ResultFile), maxResult); err == nil {
		if a, err := parseResult(text, r.Now); err == nil {
			f.Note = a.note
		}
	}
	// for an agent that does not answer by that file
	if l := req.Session.LastResult; f.Note == "" && l != nil && (l.Agent != "" || l.Unread) {
		f.Note = l.Note
	}
	return brief.Render(req, f)
}

func (r *Runner) say(line string) {
	if r.Report != nil {
		r.Report(r.Secrets.String(line))
	}
}
