// Package agent runs the agent, command or script of a phase, and reports how the run ended.
package agent

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/wfs-dev/wfs/internal/agents"
	"github.com/wfs-dev/wfs/internal/durable"
	"github.com/wfs-dev/wfs/internal/redact"
	"github.com/wfs-dev/wfs/phases/brief"
	"github.com/wfs-dev/wfs/phases/process"
	"github.com/wfs-dev/wfs/phases/report"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
	"github.com/wfs-dev/wfs/workflows/checklist"
)

// Files in the directory of a run. This directory is not in Git.
const (
	BriefFile  = "brief.md"
	ResultFile = "result.json"
	OutputFile = "output.log"
)

// Runner runs the agent, command or script of one attempt: it writes the brief, starts the program, and reports how
// the run ended. It does not judge the work.
type Runner struct {
	Root    string   // top of the work tree, absolute
	Environ []string // environment of wfs; runs see the part that process.DefaultEnv allows
	Temp    string   // parent directory for runs' temporary directories, outside of all repositories; "": none
	Now     func() time.Time
	Secrets *redact.Redactor // removed from all output, files and answers of a run; may be nil
	// Report receives lines to show in the terminal, without control characters. May be nil.
	Report func(line string)
	// Watch receives the agent's events, one at a time, as they happen. Their texts may contain control characters. If
	// it is nil, the agent's texts are passed to Report.
	Watch func(agents.Event)
	// Pending returns the requests in a session's inbox. May be nil: agents then get no notes while they work.
	Pending func(session.ID) ([]session.Request, error)
	// Prober finds the versions of agents that do not report their version. May be nil.
	Prober *Prober
	// Settings are git settings for agents that may not push: keys and values in turn.
	Settings []string
	// Hurry, when it is closed, kills a run that is being stopped at once, without waiting for Grace. May be nil.
	Hurry  <-chan struct{}
	Grace  time.Duration // time between TERM and KILL; 0: proc.DefaultGrace
	Settle time.Duration // silence after an agent's final message until it is stopped; 0: as in proc.Signs
	MaxLog int64         // limit of a log, in bytes; 0: process.DefaultMaxLog
}

// Run runs the agent, command or script of the request's phase, and returns its result. A program that fails, hangs or
// does not exist is a result. An error means that the outcome is unknown.
func (r *Runner) Run(ctx context.Context, req session.RunRequest) (session.RunResult, error) {
	req.Plan.Agent = *req.Plan.AgentOf(&req.Phase) // from here on it is the phase's agent
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

// writeBrief returns the brief, without secrets, and stores it in BriefFile exactly as the agent receives it.
func (r *Runner) writeBrief(req session.RunRequest) ([]byte, error) {
	brief := []byte(r.Secrets.String(string(r.brief(req))))
	return brief, durable.WriteCache(filepath.Join(req.RunDir, BriefFile), brief, 0o600)
}

// attempt is one run with its request and its output.
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

// brief returns the brief. It contains the next task of the phase's document, and the note and the test output of the last judged attempt, if this clone has the
// directory of that attempt's run.
func (r *Runner) brief(req session.RunRequest) []byte {
	f := brief.Found{RuleFiles: r.unloadedRules(req)}
	for _, g := range req.Phase.Gates {
		if len(f.Tasks) == 0 && slices.Contains(g.Needs, workflows.NeedTicked) {
			path := filepath.Join(r.Root, filepath.FromSlash(brief.DocumentPath(req.Session.ID, g.Document)))
			text, _ := durable.ReadFile(path, maxRules) // a missing document has no tasks
			f.Tasks = checklist.Parse(text)
		}
	}
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
	// An agent that does not answer by that file has its note in the session.
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
