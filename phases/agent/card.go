package agent

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/wfs-dev/wfs/internal/agents"
	"github.com/wfs-dev/wfs/internal/durable"
	"github.com/wfs-dev/wfs/internal/lazyregexp"
	"github.com/wfs-dev/wfs/internal/proc"
	"github.com/wfs-dev/wfs/internal/safetext"
	"github.com/wfs-dev/wfs/phases/brief"
	"github.com/wfs-dev/wfs/phases/process"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/session/cost"
	"github.com/wfs-dev/wfs/workflows"
)

// ErrorsFile is the file with the standard error of an agent that has a card. Its standard output is in OutputFile. A
// card describes an agent program: its command, its options and the format of its output.
const ErrorsFile = "stderr.log"

// maxErrors limits how much of the end of standard error is read, in bytes.
const maxErrors = 16 << 10

// runAgent runs an agent as its card says. If the conversation to resume no longer exists, it starts a new one at
// once, with a full brief, so that the attempt does not fail for this reason.
func (a *attempt) runAgent(ctx context.Context) (session.RunResult, error) {
	res, lost, err := a.converse(ctx, 1)
	if err != nil || !lost {
		return res, err
	}
	a.out.note("conversation " + a.req.Conversation.ID + " no longer exists here: starting a new one")
	a.req.Conversation = nil
	if a.brief, err = a.writeBrief(a.req); err != nil {
		return session.RunResult{}, err
	}
	again, lost, err := a.converse(ctx, 2)
	again.Millis += res.Millis
	again.CostUSD += res.CostUSD
	if lost {
		again.Outcome = session.OutcomeFailed
	}
	return again, err
}

// converse runs an agent's program once. `lost` is set if the conversation that it should resume does not exist.
func (a *attempt) converse(ctx context.Context, try int) (res session.RunResult, lost bool, err error) {
	agent, card := a.req.Plan.Agent, a.req.Plan.Agent.Card
	w := &watched{req: &a.req, to: a.out.events, signs: &proc.Signs{Settle: a.Settle, Moved: a.moved(ctx)}}
	options := agents.Options{Now: func() int64 { return a.Now().Unix() }, Emit: w.event}
	if c := a.req.Conversation; c != nil {
		options.Before = spentOf(c.Total)
	}
	decoder, ok := agents.New(card.Decoder, options)
	if !ok {
		return a.notStarted("the agent card of " + card.Name + " has a decoder that this version of wfs does not know: " +
			card.Decoder), false, nil
	}
	errs, err := process.NewLog(filepath.Join(a.req.RunDir, ErrorsFile), a.MaxLog)
	if err != nil {
		return res, false, err
	}
	defer func() { _ = errs.Close() }()
	argv, stdin, why := AgentCommand(a.req, a.brief, conversationID(a.req.Started.RunID, try))
	if why != "" {
		return a.notStarted(why), false, nil
	}
	if err := a.writeFiles(card); err != nil {
		return res, false, err
	}
	var input io.Reader
	if stdin != nil {
		input = bytes.NewReader(stdin)
	}
	if listens(a.req) {
		if w.notes, err = a.newNotes(stdin); err != nil {
			return res, false, err
		}
		input = w.notes.in
	}
	told := io.Writer(errs)
	if warnings := agents.NewWarnings(card.Decoder, options); warnings != nil {
		told = io.MultiWriter(errs, warnings)
	}
	stdout := a.Secrets.Stream(io.MultiWriter(a.out.log, decoder))
	stderr := a.Secrets.Stream(told)
	p, err := a.start(ctx, proc.Spec{Argv: argv, Env: append(a.env(card.Env), card.Environ(agent.Allow)...),
		Stdin: input, Stdout: stdout, Stderr: stderr, Signs: w.signs, Interrupt: card.Interrupt})
	_, _ = stdout.Close(), stderr.Close()
	given := w.notes.end()
	if err != nil {
		return res, false, err
	}
	said := errs.Tail(maxErrors)
	o := decoder.End(exitOf(p, said))
	if o.Version == "" && p.Ended != proc.NotStarted {
		o.Version = a.version(context.WithoutCancel(ctx), card)
	}
	res, lost = a.ended(p, o, w)
	if res.Outcome == session.OutcomeOK { // what an agent read that died, or had to stop, the next attempt gets as well
		res.Given = given
	}
	if !res.Outcome.Orderly() && p.Ended != proc.NotStarted {
		res.Printed = process.LastLines(said, session.MaxPrinted, process.MaxShown)
	}
	return res, lost && a.req.Conversation != nil, nil
}

// writeFiles writes files into the run's directory: those that the card has for the agent, the schema of the answer,
// and the name and place of the agent.
func (a *attempt) writeFiles(card *workflows.Card) error {
	who, err := json.Marshal(session.Conversation{Agent: card.Name, Place: a.place()})
	if err != nil {
		return err
	}
	files := map[string]string{AgentFile: string(who)}
	for name, text := range card.Files {
		files[filepath.Join(CardDir, name)] = text
	}
	if len(card.Answer) > 0 {
		files[SchemaFile] = brief.Schema(a.req)
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if err := writeBeside(filepath.Join(a.req.RunDir, name), files[name]); err != nil {
			return err
		}
	}
	return nil
}

// timeout returns how long a run may take: the agent's time limit, or the time left in the budget if that is shorter.
func (a *attempt) timeout() time.Duration {
	most := a.req.Plan.Agent.Timeout
	if left := a.req.LeftTime; left > 0 && (most <= 0 || left < most) {
		return left
	}
	return most
}

// start runs a command in the work tree. It sets everything that is the same for agents and commands.
func (a *attempt) start(ctx context.Context, spec proc.Spec) (proc.Result, error) {
	id, dir := a.req.Started.RunID, a.req.RunDir
	spec.Dir, spec.Grace, spec.Hurry, spec.Marker = a.Root, a.Grace, a.Hurry, runMarker(id)
	spec.Idle, spec.Timeout = a.req.Plan.Agent.Idle, a.timeout()
	temp := a.newTempDir(id)
	defer temp.remove()
	spec.Env = temp.environ(spec.Env)
	process.KeepBegan(dir)
	lock, err := durable.TryLock(filepath.Join(dir, LockFile), nil)
	if err != nil {
		return proc.Result{}, err
	}
	defer lock.Release()
	spec.ExtraFiles = append(temp.files(), lock.File())
	return proc.Run(ctx, spec)
}

// exitOf describes for a decoder how a process ended. A process that wfs stopped after its final message counts as
// ended by itself.
func exitOf(p proc.Result, stderr string) agents.Exit {
	switch p.Ended {
	case proc.Exited:
		return agents.Exit{Code: p.Exit, Signal: p.Signal, Stderr: stderr}
	case proc.Settled, proc.Left:
		return agents.Exit{Stderr: stderr}
	}
	return agents.Exit{Code: p.Exit, Signal: p.Signal, Stopped: true, Stderr: stderr}
}

// ended makes the result of a run from the end of the process, the output stream, and the agent's claims.
func (a *attempt) ended(p proc.Result, o agents.Outcome, w *watched) (res session.RunResult, lost bool) {
	a.out.flush()
	card := a.req.Plan.Agent.Card
	if p.Ended == proc.NotStarted {
		res = a.notStarted(p.StartError)
		res.Agent = card.Name
		return res, false
	}
	class := reasonOf(p, &o, w.why())
	said := claimOf(o, readResult(filepath.Join(a.req.RunDir, ResultFile), a.Secrets, a.Now), a.Now)
	res = session.RunResult{
		Outcome: outcomeOf(class), Exit: p.Exit, Millis: p.Millis, Survivors: p.Survivors,
		Note: said.note, WaitUntil: o.RetryAt, CostUSD: o.Spent.USD,
		Agent: card.Name, AgentVersion: clipped(o.Version), Model: clipped(o.Model),
		Conversation: clipped(o.Conversation), Place: a.place(),
		Tokens: tokensOf(o.Spent), Total: cost.Total{CostUSD: o.Total.USD, Tokens: tokensOf(o.Total)},
		Turns: o.Turns, Tools: o.Tools, ToolUse: a.toolUse(o.Uses),
		Denials: len(o.Denials), Denied: denied(o.Denials),
		Refused: refused(o.Denials, a.req.Plan.Agent), Message: process.Shown(o.Message),
	}
	if res.CostUSD == 0 {
		res.CostUSD = said.cost
	}
	good := class == agents.OK || class == agents.Denied
	if good {
		claims(said, &res)
	}
	a.stopped(p, w.cause(class), &res)
	if !good && res.Message != "" {
		a.out.note("it ended as " + string(res.Outcome) + ": " + res.Message)
	}
	return res, class == agents.Lost
}

// reasonOf returns the class that says why a run ended. If wfs stopped the run, wfs's reason replaces an unclear one.
// A run that was interrupted, but not by wfs, counts as crashed.
func reasonOf(p proc.Result, o *agents.Outcome, dead useless) agents.Class {
	class := o.Class
	if dead.class != "" && slices.Contains([]agents.Class{agents.Interrupted, agents.NoResult, agents.Crashed}, class) {
		class, o.RetryAt = dead.class, dead.until
		o.Message = cmp.Or(dead.said, o.Message)
	}
	if class == agents.Interrupted && slices.Contains([]proc.Ended{proc.Exited, proc.Settled, proc.Left}, p.Ended) {
		class, o.Message = agents.Crashed, strings.TrimSpace("it was interrupted, not by wfs. "+o.Message)
	}
	return class
}

// claims adds to the result what the agent says about its work.
func claims(said answer, res *session.RunResult) {
	res.Done, res.NotDone, res.Unread, res.Review = said.done, said.not, said.unread, said.review
	res.TestChange, res.NothingLeft = said.change, said.left
	switch {
	case said.ask != "":
		res.Outcome, res.Ask = session.OutcomeAsk, said.ask
	case said.waits:
		res.Outcome, res.WaitUntil = session.OutcomeWait, said.until
	}
}

// stopped adds to the result why wfs stopped the process. `cause` is a known earlier problem, such as a rate limit; it
// replaces the outcome of a process that was stopped for inactivity.
func (a *attempt) stopped(p proc.Result, cause agents.Class, res *session.RunResult) {
	agent, out := a.req.Plan.Agent, a.out
	switch p.Ended {
	case proc.Cancelled:
		res.Outcome, res.Done = session.OutcomeInterrupted, false
		out.note("interrupted")
	case proc.Timeout:
		res.Outcome, res.Done = session.OutcomeTimeout, false
		if a.timeout() != agent.Timeout {
			res.Outcome = session.OutcomeCapped
		}
		out.note("not done after " + a.timeout().String() + ": stopped")
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
		if cause != "" {
			res.Outcome = outcomeOf(cause)
		}
		out.note("no activity for " + agent.Idle.String() + ": stopped")
	}
}

func (a *attempt) notStarted(why string) session.RunResult {
	a.out.note(why)
	return session.RunResult{Outcome: session.OutcomeNotStarted, Exit: -1, Note: clipped(why)}
}

// outcomeOf returns the session's outcome for the class of a run's end.
func outcomeOf(c agents.Class) session.Outcome {
	switch c {
	case agents.Crashed, agents.Lost:
		return session.OutcomeFailed
	case agents.LimitHit:
		return session.OutcomeLimit
	}
	return session.Outcome(c) // all other names are equal, as a test checks
}

// Limits of RunResult.ToolUse: names, and characters of a name.
const (
	maxToolNames = 20
	maxToolName  = 40
)

// toolUse returns the counts that may be recorded: most calls first, under short names without secrets and control
// characters.
func (a *attempt) toolUse(uses []agents.Use) []session.ToolUse {
	const others = "others"
	byName := map[string]session.ToolUse{}
	add := func(name string, calls, failed int) {
		u := byName[name]
		byName[name] = session.ToolUse{Name: name, Calls: u.Calls + calls, Failed: u.Failed + failed}
	}
	for _, u := range uses {
		add(cmp.Or(safetext.Line(a.Secrets.String(u.Name), maxToolName), others), u.Calls, u.Failed)
	}
	list := slices.SortedFunc(maps.Values(byName), func(x, y session.ToolUse) int {
		return cmp.Or(cmp.Compare(y.Calls, x.Calls), strings.Compare(x.Name, y.Name))
	})
	list = slices.DeleteFunc(list, func(u session.ToolUse) bool { return u.Name == others })
	named := list[:min(len(list), maxToolNames)]
	for _, u := range list[len(named):] {
		add(others, u.Calls, u.Failed)
	}
	if rest, ok := byName[others]; ok {
		named = append(named, rest)
	}
	return named
}

// denied returns the names of tools, each once, whose use was refused because no person was there to permit it.
func denied(calls []agents.Tool) []string {
	var names []string
	for _, c := range calls {
		if name := process.Shown(c.Name); !slices.Contains(names, name) && len(names) < session.MaxNamed {
			names = append(names, name)
		}
	}
	return names
}

// onlyRead lists the beginnings of commands that claude runs without asking for permission.
var onlyRead = []string{"cat", "cd", "echo", "find", "grep", "head", "ls", "pwd", "sort", "tail", "true", "wc",
	"git diff", "git log", "git show", "git status"}

var (
	singleQuoted = lazyregexp.New(`'[^']*'`)
	substituted  = lazyregexp.New("[$][A-Za-z0-9_({@*#?!]|`")
)

// refused returns the beginnings of commands that were refused because no person was there to permit them. If a line
// has several commands, it returns the first one that the agent may not run.
func refused(calls []agents.Tool, agent workflows.Agent) []session.RefusedCommand {
	var list []session.RefusedCommand
	for _, c := range calls {
		whole := process.Shown(c.Detail)
		if c.Action != agents.Runs || whole == "" {
			continue
		}
		text, substitutes := refusedPart(c.Detail, agent)
		i := slices.IndexFunc(list, func(r session.RefusedCommand) bool {
			return r.Text == text && (text != "" || r.Whole == whole)
		})
		switch {
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

// refusedPart returns the beginning of the first command in a line that the agent may not run; "" if there is none. If
// a command contains a variable or another substitution, it returns that command and true, because claude never
// permits these.
func refusedPart(line string, agent workflows.Agent) (text string, substitutes bool) {
	for _, part := range strings.FieldsFunc(line, func(r rune) bool { return strings.ContainsRune("&|;", r) }) {
		if agent.Card.Decoder == "claude" && substituted.MatchString(singleQuoted.ReplaceAllString(part, "")) {
			return process.Shown(part), true
		}
		if words := Beginning(workflows.Command{Shell: part}); text == "" && words != "" && !allowed(words, agent) {
			text = words
		}
	}
	return text, false
}

// allowed reports whether the agent may run a command that begins with these words.
func allowed(words string, agent workflows.Agent) bool {
	begins := func(command string) bool { return strings.HasPrefix(words+" ", command+" ") }
	return words == "cd" || agent.Card.Decoder == "claude" && slices.ContainsFunc(onlyRead, begins) ||
		slices.ContainsFunc(agent.Allow, func(word string) bool {
			command, ok := brief.Permitted(agent.Card, word)
			return ok && begins(command)
		})
}

func tokensOf(s agents.Spent) cost.Tokens {
	return cost.Tokens{Input: s.Input, Output: s.Output, CacheRead: s.CacheRead, CacheWrite: s.CacheWrite}
}

func spentOf(t cost.Total) agents.Spent {
	return agents.Spent{USD: t.CostUSD, Input: t.Input, Output: t.Output, CacheRead: t.CacheRead, CacheWrite: t.CacheWrite}
}

// watched receives the events of an agent while it runs, and stops the agent if need be.
type watched struct {
	req   *session.RunRequest
	to    *runLog
	signs *proc.Signs
	notes *notes       // nil if the agent takes none while it works
	dead  atomic.Value // useless: why wfs stops the run
	retry atomic.Value // agents.Class: why the agent's latest request failed
}

// useless says why a run is stopped early: to go on would be useless.
type useless struct {
	class agents.Class
	until int64  // when to try again, in Unix seconds; 0: unknown
	said  string // the message of the agent's program
}

// event handles one event. It may be called from several goroutines, because some agents report problems only on
// standard error.
func (w *watched) event(e agents.Event) {
	if e.Kind.Progress() {
		w.signs.Work()
	}
	switch e.Kind {
	case agents.Taken:
		if !w.notes.read(e.Message) {
			return
		}
		w.signs.Said(false)
	case agents.Result:
		w.signs.Said(true)
		w.notes.turnEnded(e.Failed)
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
	w.dead.CompareAndSwap(nil, why) // only the first reason counts
	w.signs.Enough()
}

// over reports whether a run has used more than its budgets allow. It is for agents that do not stop by themselves.
func (w *watched) over(s agents.Spent) bool {
	return w.req.LeftTokens > 0 && s.Tokens() >= w.req.LeftTokens || w.req.LeftUSD > 0 && s.USD >= w.req.LeftUSD
}

func (w *watched) why() useless {
	u, _ := w.dead.Load().(useless)
	return u
}

// cause returns the problem that probably made a run inactive, such as a rate limit; "" if there is none.
func (w *watched) cause(class agents.Class) agents.Class {
	switch class {
	case agents.LimitHit, agents.RateLimited, agents.Overloaded, agents.Auth, agents.Billing:
		return class
	}
	c, _ := w.retry.Load().(agents.Class)
	return c
}

// moved returns a function whose result changes when files in the work tree are written, created or deleted.
func (r *Runner) moved(ctx context.Context) func() string {
	return func() string {
		ctx, cancel := context.WithTimeout(ctx, lookAtMost)
		defer cancel()
		return newest(ctx, r.Root)
	}
}

// lookAtMost limits how long the function of moved may look at a large work tree. If it takes longer, its result is "".
const lookAtMost = 2 * time.Second

// writeBeside writes a file into a run's directory, and creates the file's directory if needed.
func writeBeside(name, text string) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return err
	}
	return durable.WriteCache(name, []byte(text), 0o600)
}
