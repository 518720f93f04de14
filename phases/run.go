package phases

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/wfs-dev/wfs/internal/agents"
	"github.com/wfs-dev/wfs/internal/durable"
	"github.com/wfs-dev/wfs/internal/proc"
	"github.com/wfs-dev/wfs/internal/redact"
	"github.com/wfs-dev/wfs/phases/report"
	"github.com/wfs-dev/wfs/session"
)

// Names of what a run leaves in its directory, outside Git.
const (
	BriefFile  = "brief.md"
	ResultFile = "result.json"
	OutputFile = "output.log"
)

// Runner carries out one attempt: it briefs whoever works in a phase, runs it, and says how the run ended. What
// the work is worth is for the judge.
type Runner struct {
	Root    string   // top of the work tree, absolute
	Environ []string // of wfs; runs see what DefaultEnv lets through
	Temp    string   // where runs get temporary directories of their own, outside of all repositories; "": they get none
	Now     func() time.Time
	Secrets *redact.Redactor // taken out of all that a run leaves, shows and answers; nil takes nothing out
	// Report gets lines for the terminal, without control characters. May be nil.
	Report func(line string)
	// Watch gets what the agent does as it does it, one event at a time. Texts may hold control characters. nil: what
	// it says goes to Report.
	Watch func(agents.Event)
	// Prober knows the versions of agents that do not tell theirs. May be nil.
	Prober *Prober
	// Settings are settings of git's for runs of agents that may not push, in turn a key and its value.
	Settings []string
	// Hurry, when closed, kills a run that is being stopped without further grace. May be nil.
	Hurry  <-chan struct{}
	Grace  time.Duration // between TERM and KILL; 0 is proc.DefaultGrace
	Settle time.Duration // silence after an agent's last word before it is stopped; 0 is that of proc.Signs
	MaxLog int64         // bytes; 0 is DefaultMaxLog
}

// Run briefs and runs whoever works in the request's phase. An error means that it could not be found out how the run
// went; a command that fails, hangs or does not exist is a result.
func (r *Runner) Run(ctx context.Context, req session.RunRequest) (session.RunResult, error) {
	req.Plan.Agent = *req.Plan.AgentOf(&req.Phase) // from here on there is one agent only
	if !r.goesOn(ctx, req) {
		req.Conversation = nil
	}
	remove, err := r.laySpec(&req)
	if err != nil {
		return session.RunResult{}, fmt.Errorf("could not write the specification to %s: %w",
			DocumentsDir(req.Session.ID), err)
	}
	defer remove()
	brief, err := r.writeBrief(req)
	if err != nil {
		return session.RunResult{}, err
	}
	if err := os.RemoveAll(filepath.Join(req.RunDir, ResultFile)); err != nil {
		return session.RunResult{}, err
	}
	log, err := newLog(filepath.Join(req.RunDir, OutputFile), r.MaxLog)
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
	if err := cleanLeft(filepath.Join(req.RunDir, ResultFile), r.Secrets); err != nil {
		r.say("the answer of the run could not be saved without secrets: " + reason(err))
	}
	if err := out.Close(); err != nil {
		r.say("could not write the log of the run: " + reason(err))
	}
	return res, err
}

// writeBrief keeps the brief as it is given to whoever works.
func (r *Runner) writeBrief(req session.RunRequest) ([]byte, error) {
	brief := []byte(r.Secrets.String(string(r.brief(req))))
	return brief, durable.WriteCache(filepath.Join(req.RunDir, BriefFile), brief, 0o600)
}

// attempt is one run: what is asked for, and where its output goes.
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

// LockFile is the file in a run's directory whose lock the run's processes inherit. Held, one of them lives; free, none
// need be dead: some programs close what they inherit.
const LockFile = "lock"

// BeganFile is the file in a run's directory that says when its first process began (proc.Moment).
const BeganFile = "began"

// Alive lists the processes of a run, and of the gates that judged it, that still live: those that have its id in their
// environment, and those that hold its lock, which macOS does not name.
func (r *Runner) Alive(id session.ID, runDir, runID string) []session.Process {
	ids, held := r.living(runDir, runID)
	const looks = 100
	for n := 0; held && len(ids) == 0 && n < looks; n++ {
		time.Sleep(maxExit / looks)
		ids, held = r.living(runDir, runID)
	}
	if held && len(ids) == 0 {
		return []session.Process{{}}
	}
	slices.Sort(ids)
	var all []session.Process
	own := r.own(id, runDir, runID)
	for _, pid := range slices.Compact(ids) {
		p := proc.Named(pid)
		all = append(all, session.Process{PID: p.PID, Command: p.Command, Own: own.Holds(pid)})
	}
	return all
}

// maxExit is how long a process may take to exit: a large one with several threads shows neither its
// environment nor its files by then, and still holds the lock.
const maxExit = time.Second

// living are the numbers of a run's processes that can be told, and whether one of them holds its lock.
func (r *Runner) living(runDir, runID string) (ids []int, held bool) {
	ids = proc.Marked(runMarker(runID), gateMarker+runDir+string(filepath.Separator))
	lock := filepath.Join(runDir, LockFile)
	held, _, err := durable.Probe(lock)
	if held = held && err == nil && runDir != ""; held {
		holders, _ := proc.Holding(lock)
		for _, p := range holders {
			ids = append(ids, p.PID)
		}
	}
	return ids, held
}

// End ends the processes of a run whose wfs is dead, and of its gates, as far as they are proven to be its own.
func (r *Runner) End(id session.ID, runDir, runID string) []int {
	find := func() []int { return proc.Marked(runMarker(runID), gateMarker+runDir+string(filepath.Separator)) }
	grace := r.Grace
	if grace <= 0 {
		grace = proc.DefaultGrace
	}
	return proc.End(find, r.own(id, runDir, runID), grace, r.Hurry)
}

// own proves a process to be a run's own: it has the marks of the run, session, clone and work tree, and it did
// not begin before the run did. An agent that calls wfs when its wfs is dead would end itself: nothing is
// proven to that one.
func (r *Runner) own(id session.ID, runDir, runID string) proc.Proof {
	since, _ := durable.ReadFile(filepath.Join(runDir, BeganFile), maxBegan)
	marks := r.marks(id, runDir, runID)
	return proc.Proof{Since: string(since), Environ: func(entries []string) bool {
		for _, e := range entries {
			if strings.HasPrefix(e, gateMarker+runDir+string(filepath.Separator)) {
				return !slices.Contains(r.Environ, e)
			}
		}
		missing := func(mark string) bool { return !slices.Contains(entries, mark) }
		return !slices.ContainsFunc(marks, missing) && !slices.Contains(r.Environ, runMarker(runID))
	}}
}

// marks are the entries of the environment that tell one run's processes from all others.
func (r *Runner) marks(id session.ID, runDir, runID string) []string {
	return []string{
		"WFS_BRIEF=" + filepath.Join(runDir, BriefFile),
		"WFS_SESSION=" + string(id),
		"WFS_DOCUMENTS=" + filepath.Join(r.Root, filepath.FromSlash(DocumentsDir(id))),
		runMarker(runID),
	}
}

// maxBegan bounds BeganFile, in bytes.
const maxBegan = 1 << 10

// keepBegan writes down when the first process of a run is about to begin. Without it nothing is proven later.
func keepBegan(runDir string) {
	path := filepath.Join(runDir, BeganFile)
	if _, err := os.Lstat(path); err != nil {
		_ = durable.WriteCache(path, []byte(proc.Moment()), 0o600)
	}
}

func runMarker(runID string) string { return "WFS_RUN_ID=" + runID }

// brief renders the brief with what the newest judged attempt left in its run's directory. That is gone in another
// clone, and the brief then does without.
func (r *Runner) brief(req session.RunRequest) []byte {
	f := found{RuleFiles: r.unloadedRules(req)}
	if req.Session.LastRun == "" {
		return render(req, f)
	}
	dir := filepath.Join(filepath.Dir(req.RunDir), req.Session.LastRun)
	var err error
	if f.failures, err = report.ReadFailures(dir); err != nil {
		r.say("cannot read the output of the last gates: " + reason(err))
	}
	if text, err := durable.ReadFile(filepath.Join(dir, ResultFile), maxResult); err == nil {
		if a, err := parseResult(text, r.Now); err == nil {
			f.Note = a.note
		}
	}
	// one that answers in another way than by that file
	if l := req.Session.LastResult; f.Note == "" && l != nil && (l.Agent != "" || l.Unread) {
		f.Note = l.Note
	}
	return render(req, f)
}

func (r *Runner) say(line string) {
	if r.Report != nil {
		r.Report(r.Secrets.String(line))
	}
}

// output is where a run's output goes, without secrets: all of it to the log, its lines to whoever watches.
type output struct {
	log      *boundedLog
	events   *runLog // nil: nobody but Report is told, as of a set-up
	progress progress
	safe     *redact.Stream
}

func newOutput(log *boundedLog, events *runLog, secrets *redact.Redactor, report func(string)) *output {
	o := &output{log: log, events: events, progress: progress{report: report}}
	o.safe = secrets.Stream(both{log, &o.progress})
	return o
}

func (o *output) Write(p []byte) (int, error) { return o.safe.Write(p) }

// flush passes on the last line, without an end.
func (o *output) flush() {
	_ = o.safe.Close()
	o.progress.flush()
}

// note writes a line of the engine's own.
func (o *output) note(line string) { _, _ = fmt.Fprintf(o, "wfs: %s\n", line) }

func (o *output) Close() error {
	o.flush()
	if o.events == nil {
		return o.log.Close()
	}
	return errors.Join(o.log.Close(), o.events.log.Close())
}
