package phases

import (
	"cmp"
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/wfs-dev/wfs/internal/agents"
	"github.com/wfs-dev/wfs/internal/durable"
	"github.com/wfs-dev/wfs/internal/proc"
	"github.com/wfs-dev/wfs/internal/safetext"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
)

// ErrorsFile is what an agent with a card wrote to its standard error. OutputFile holds the rest of what it printed.
const ErrorsFile = "stderr.log"

// maxErrors is how much of the end of its standard error a decoder is given, in bytes.
const maxErrors = 16 << 10

// runAgent runs an agent by its card. A conversation that is not there any more is no failure of the attempt: a new one
// begins at once, with all that it needs to know.
func (r *Runner) runAgent(ctx context.Context, req session.RunRequest, brief []byte, out *output) (session.RunResult, error) {
	res, lost, err := r.converse(ctx, req, brief, 1, out)
	if err != nil || !lost {
		return res, err
	}
	out.note("conversation " + req.Conversation.ID + " no longer exists here: starting a new one")
	req.Conversation = nil
	if brief, err = r.writeBrief(req); err != nil {
		return session.RunResult{}, err
	}
	again, lost, err := r.converse(ctx, req, brief, 2, out)
	again.Millis += res.Millis
	again.CostUSD += res.CostUSD
	if lost {
		again.Outcome = session.OutcomeFailed
	}
	return again, err
}

// converse is one process of an agent. lost says that the conversation that was to go on is not there.
func (r *Runner) converse(ctx context.Context, req session.RunRequest, brief []byte, try int, out *output) (res session.RunResult, lost bool, err error) {
	agent, card := req.Plan.Agent, req.Plan.Agent.Card
	w := &watched{req: &req, to: out.events, signs: &proc.Signs{Settle: r.Settle, Moved: r.moved(ctx)}}
	options := agents.Options{Now: func() int64 { return r.Now().Unix() }, Emit: w.event}
	if c := req.Conversation; c != nil {
		options.Before = spentOf(c.Total)
	}
	decoder, ok := agents.New(card.Decoder, options)
	if !ok {
		return notStarted(out, "the agent card of "+card.Name+" has a decoder that this version of wfs does not know: "+card.Decoder), false, nil
	}
	errs, err := newLog(filepath.Join(req.RunDir, ErrorsFile), r.MaxLog)
	if err != nil {
		return res, false, err
	}
	defer func() { _ = errs.Close() }()

	argv, stdin, why := AgentCommand(req, brief, conversationID(req.Started.RunID, try))
	if why != "" {
		return notStarted(out, why), false, nil
	}
	for name, text := range card.Files {
		if err := writeCardFile(filepath.Join(req.RunDir, CardDir), name, text); err != nil {
			return res, false, err
		}
	}
	if len(card.Answer) > 0 {
		if err := durable.WriteCache(filepath.Join(req.RunDir, SchemaFile), []byte(schemaOf(req)), 0o600); err != nil {
			return res, false, err
		}
	}
	who, err := json.Marshal(session.Conversation{Agent: card.Name, Place: r.place()})
	if err == nil {
		err = durable.WriteCache(filepath.Join(req.RunDir, AgentFile), who, 0o600)
	}
	if err != nil {
		return res, false, err
	}
	said := &ending{}
	told := io.Writer(said)
	if warnings := agents.NewWarnings(card.Decoder, options); warnings != nil {
		told = both{said, warnings}
	}
	stdout, stderr := r.Secrets.Stream(both{both{out.log, decoder}, out.events}), r.Secrets.Stream(both{both{errs, told}, out.events})
	p, err := r.start(ctx, req, proc.Spec{
		Argv: argv, Env: r.agentEnv(req), Stdin: stdin, Stdout: stdout, Stderr: stderr,
		Idle: agent.Idle, Timeout: timeout(req), Signs: w.signs, Interrupt: card.Interrupt,
	})
	_, _ = stdout.Close(), stderr.Close()
	if err != nil {
		return res, false, err
	}
	o := decoder.End(exitOf(p, said.String()))
	if o.Version == "" && p.Ended != proc.NotStarted {
		o.Version = r.version(context.WithoutCancel(ctx), card)
	}
	res, lost = r.ended(req, p, o, w, out)
	if !res.Outcome.Orderly() && p.Ended != proc.NotStarted {
		res.Printed = r.lastLines(said.String())
	}
	return res, lost && req.Conversation != nil, nil
}

// timeout is how long a run may take: as its agent may, and as a budget leaves.
func timeout(req session.RunRequest) time.Duration {
	most := req.Plan.Agent.Timeout
	if left := req.LeftTime; left > 0 && (most <= 0 || left < most) {
		return left
	}
	return most
}

// start runs what is given in the work tree, with all that runs of agents and commands have in common.
func (r *Runner) start(ctx context.Context, req session.RunRequest, spec proc.Spec) (proc.Result, error) {
	spec.Dir, spec.Grace, spec.Hurry, spec.Marker = r.Root, r.Grace, r.Hurry, runMarker(req.Started.RunID)
	temp := r.newTempDir(req.Started.RunID)
	defer temp.remove()
	spec.Env = temp.environ(spec.Env)
	keepBegan(req.RunDir)
	lock, err := durable.TryLock(filepath.Join(req.RunDir, LockFile), nil)
	if err != nil {
		return proc.Result{}, err
	}
	defer lock.Release()
	spec.ExtraFiles = append(temp.files(), lock.File())
	return proc.Run(ctx, spec)
}

// exitOf tells a decoder how a process ended. One that was stopped because it had said its last word ended, as far as
// its conclusion goes, by itself.
func exitOf(p proc.Result, stderr string) agents.Exit {
	switch p.Ended {
	case proc.Exited:
		return agents.Exit{Code: p.Exit, Signal: p.Signal, Stderr: stderr}
	case proc.Settled, proc.Left:
		return agents.Exit{Stderr: stderr}
	}
	return agents.Exit{Code: p.Exit, Signal: p.Signal, Stopped: true, Stderr: stderr}
}

// ended draws the conclusion: how the process was ended, then what its stream says, then what it claims.
func (r *Runner) ended(req session.RunRequest, p proc.Result, o agents.Outcome, w *watched, out *output) (res session.RunResult, lost bool) {
	out.flush()
	card := req.Plan.Agent.Card
	if p.Ended == proc.NotStarted {
		res = notStarted(out, p.StartError)
		res.Agent = card.Name
		return res, false
	}
	class := o.Class
	if dead := w.why(); dead.class != "" && (class == agents.Interrupted || class == agents.NoResult || class == agents.Crashed) {
		class, o.RetryAt = dead.class, dead.until
		if dead.said != "" {
			o.Message = dead.said
		}
	}
	if class == agents.Interrupted && (p.Ended == proc.Exited || p.Ended == proc.Settled || p.Ended == proc.Left) { // wfs has stopped nobody
		class, o.Message = agents.Crashed, strings.TrimSpace("it was interrupted, not by wfs. "+o.Message)
	}
	a := claimOf(o, readResult(filepath.Join(req.RunDir, ResultFile), r.Secrets, r.Now), r.Now)
	res = session.RunResult{
		Outcome: outcomeOf(class), Exit: p.Exit, Millis: p.Millis, Survivors: p.Survivors,
		Note: a.note, WaitUntil: o.RetryAt, CostUSD: o.Spent.USD,
		Agent: card.Name, AgentVersion: clipped(o.Version), Model: clipped(o.Model), Conversation: clipped(o.Conversation), Place: r.place(),
		Tokens: tokensOf(o.Spent), Total: session.Total{CostUSD: o.Total.USD, Tokens: tokensOf(o.Total)},
		Turns: o.Turns, Tools: o.Tools, Denials: len(o.Denials), Denied: denied(o.Denials), Refused: refused(o.Denials, req.Plan.Agent), Message: safetext.Line(o.Message, maxShown),
	}
	if res.CostUSD == 0 {
		res.CostUSD = a.cost
	}
	good := class == agents.OK || class == agents.Denied
	if good {
		res.Done, res.NotDone, res.Unread, res.Review, res.TestChange = a.done, a.not, a.unread, a.review, a.change
		res.NothingLeft = a.left
		switch {
		case a.ask != "":
			res.Outcome, res.Ask = session.OutcomeAsk, a.ask
		case a.waits:
			res.Outcome, res.WaitUntil = session.OutcomeWait, a.until
		}
	}
	r.stopped(req, p, class, w, &res, out)
	if !good && res.Message != "" {
		out.note("it ended as " + string(res.Outcome) + ": " + res.Message)
	}
	return res, class == agents.Lost
}

// stopped says why a process had to be stopped. What it met before, a limit say, is the better reason where it is known.
func (r *Runner) stopped(req session.RunRequest, p proc.Result, class agents.Class, w *watched, res *session.RunResult, out *output) {
	agent := req.Plan.Agent
	switch p.Ended {
	case proc.Cancelled:
		res.Outcome, res.Done = session.OutcomeInterrupted, false
		out.note("interrupted")
	case proc.Timeout:
		res.Outcome, res.Done = session.OutcomeTimeout, false
		if timeout(req) != agent.Timeout {
			res.Outcome = session.OutcomeCapped
		}
		out.note("not done after " + timeout(req).String() + ": stopped")
	case proc.Settled:
		out.note("it finished but did not exit: stopped")
	case proc.Left:
		res.LeftRunning = true
		out.note("it finished but left a process running in the background: stopped after a minute")
	case proc.Idle, proc.Hung:
		res.Done = false
		res.Outcome = session.OutcomeHung
		if p.Ended == proc.Idle {
			res.Outcome = session.OutcomeIdle
		}
		if cause := w.cause(class); cause != "" {
			res.Outcome = outcomeOf(cause)
		}
		out.note("no activity for " + agent.Idle.String() + ": stopped")
	}
}

func notStarted(out *output, why string) session.RunResult {
	out.note(why)
	return session.RunResult{Outcome: session.OutcomeNotStarted, Exit: -1, Note: clipped(why)}
}

// outcomeOf is the engine's word for a class.
func outcomeOf(c agents.Class) session.Outcome {
	switch c {
	case agents.Crashed, agents.Lost:
		return session.OutcomeFailed
	case agents.LimitHit:
		return session.OutcomeLimit
	}
	return session.Outcome(c) // the others are the same words: a test holds that
}

// denied names the tools that nobody was there to permit, each once.
func denied(calls []agents.Tool) []string {
	var names []string
	for _, c := range calls {
		if name := safetext.Line(c.Name, maxShown); !slices.Contains(names, name) && len(names) < session.MaxNamed {
			names = append(names, name)
		}
	}
	return names
}

// onlyRead are beginnings of commands that claude runs by itself.
var onlyRead = []string{"cat", "cd", "echo", "find", "grep", "head", "ls", "pwd", "sort", "tail", "true", "wc",
	"git diff", "git log", "git show", "git status"}

var (
	singleQuoted = regexp.MustCompile(`'[^']*'`)
	substituted  = regexp.MustCompile("[$][A-Za-z0-9_({@*#?!]|`")
)

// refused are the beginnings of the commands that nobody was there to permit: of several in one, the first that is not
// among those that are allowed.
func refused(calls []agents.Tool, agent workflows.Agent) []session.RefusedCommand {
	var list []session.RefusedCommand
	for _, c := range calls {
		text, substitutes := "", false
		for _, part := range strings.FieldsFunc(c.Detail, func(r rune) bool { return strings.ContainsRune("&|;", r) }) {
			words := workflows.Command{Shell: part}.Beginning()
			may := slices.ContainsFunc(agent.Allow, func(word string) bool {
				command, ok := permitted(agent.Card, word)
				return ok && strings.HasPrefix(words+" ", command+" ")
			})
			claude := agent.Card.Decoder == "claude"
			if claude && substituted.MatchString(singleQuoted.ReplaceAllString(part, "")) {
				text, substitutes = safetext.Line(part, maxShown), true
				break
			}
			reads := claude && slices.ContainsFunc(onlyRead, func(command string) bool { return strings.HasPrefix(words+" ", command+" ") })
			if words != "" && words != "cd" && !may && !reads && text == "" {
				text = words
			}
		}
		whole := safetext.Line(c.Detail, maxShown)
		i := slices.IndexFunc(list, func(r session.RefusedCommand) bool { return r.Text == text && (text != "" || r.Whole == whole) })
		switch {
		case c.Action != agents.Runs || whole == "":
		case i >= 0:
			list[i].Times++
		case len(list) < session.MaxNamed:
			if whole == text {
				whole = ""
			}
			list = append(list, session.RefusedCommand{Text: text, Times: 1, Whole: whole, Variable: substitutes})
		}
	}
	return list
}

func tokensOf(s agents.Spent) session.Tokens {
	return session.Tokens{Input: s.Input, Output: s.Output, CacheRead: s.CacheRead, CacheWrite: s.CacheWrite}
}

func spentOf(t session.Total) agents.Spent {
	return agents.Spent{USD: t.CostUSD, Input: t.Input, Output: t.Output, CacheRead: t.CacheRead, CacheWrite: t.CacheWrite}
}

// agentEnv is the environment of a run of an agent: that of all runs, what its card lets through, and what it sets.
func (r *Runner) agentEnv(req session.RunRequest) []string {
	card := req.Plan.Agent.Card
	req.Plan.Env = append(req.Plan.Env[:len(req.Plan.Env):len(req.Plan.Env)], card.Env...)
	env := r.env(req)
	return append(env, card.Environ(req.Plan.Agent.Allow)...)
}

// watched is what is understood of a stream while it comes.
type watched struct {
	req   *session.RunRequest
	to    *runLog
	signs *proc.Signs
	dead  atomic.Value // useless: there is no use in going on
	retry atomic.Value // agents.Class: why its newest request failed
}

// useless says why a run is stopped before its end.
type useless struct {
	class agents.Class
	until int64  // Unix seconds: when there is use again; 0: unknown
	said  string // the agent's words
}

// event may be called from several goroutines: some agents tell of their trouble on standard error alone.
func (w *watched) event(e agents.Event) {
	if e.Kind.Progress() {
		w.signs.Work()
	}
	switch e.Kind {
	case agents.Result:
		w.signs.Said(true)
	case agents.Usage:
		if w.over(e.Spent) {
			w.stop(useless{class: agents.Capped})
		}
	case agents.Other, agents.Limit:
	case agents.Retry:
		w.signs.Said(false)
		class := cmp.Or(e.Fatal, agents.Overloaded)
		if e.Fatal == "" && e.Retrying.Status == 429 {
			class = agents.RateLimited
		}
		w.retry.Store(class)
		if e.Fatal != "" {
			w.stop(useless{class, e.Limited.ResetsAt, e.Retrying.Says()})
		}
	default:
		w.signs.Said(false)
		w.retry.Store(agents.Class(""))
	}
	w.to.Event(e)
}

func (w *watched) stop(why useless) {
	w.dead.CompareAndSwap(nil, why) // the first reason is the one
	w.signs.Enough()
}

// over reports whether a run used up more than budgets leave for it. An agent that counts by itself ends before that.
func (w *watched) over(s agents.Spent) bool {
	return w.req.LeftTokens > 0 && s.Tokens() >= w.req.LeftTokens || w.req.LeftUSD > 0 && s.USD >= w.req.LeftUSD
}

func (w *watched) why() useless {
	u, _ := w.dead.Load().(useless)
	return u
}

// cause is what a run was waiting for when it was stopped for doing nothing, "" when that is not known.
func (w *watched) cause(class agents.Class) agents.Class {
	switch class {
	case agents.LimitHit, agents.RateLimited, agents.Overloaded, agents.Auth, agents.Billing:
		return class
	}
	c, _ := w.retry.Load().(agents.Class)
	return c
}

// moved looks at the files of the work tree: its answer is another one when some were written, made or deleted since.
func (r *Runner) moved(ctx context.Context) func() string {
	return func() string {
		ctx, cancel := context.WithTimeout(ctx, lookAtMost)
		defer cancel()
		return newest(ctx, r.Root)
	}
}

// lookAtMost bounds a look at a large work tree. One that cannot be looked at in that time says nothing.
const lookAtMost = 2 * time.Second

func writeCardFile(dir, name, text string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	return durable.WriteCache(filepath.Join(dir, name), []byte(text), 0o600)
}
