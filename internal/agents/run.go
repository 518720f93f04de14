package agents

import (
	"encoding/json"
	"slices"
	"strings"
)

// Maximum sizes of the data that is stored about a run.
const (
	maxWord    = 200 // bytes of an id, a name, a version
	maxMessage = 500 // bytes of the reason for a failure
	maxOpen    = 256 // number of tool calls that have no result yet
	maxNames   = 200 // number of tools whose calls are counted by name
	maxProse   = 1 << 10
	maxLine    = 4 << 20 // bytes of a line. An edit of 3 MB was seen; the events that matter are small
	maxDenials = 50
)

// run is the part that all decoders of JSON streams share. It finds the JSON objects in the output, emits events, and
// counts.
type run struct {
	Lines
	o     Options
	out   Outcome
	agent agent
	turns int
	calls []Tool // tool calls that have no result yet, oldest first
	prose string // the last output line that is not JSON
	fatal Class  // class of the last failed request, if repeating the request cannot help
	why   string // error message that belongs to fatal
}

// End returns the conclusion about the run. It is OK unless the agent's conclusion has another class, or tool calls
// were refused for lack of a permission.
func (r *run) End(e Exit) Outcome {
	r.Flush()
	r.out.Class = OK
	r.agent.conclusion(e)
	if r.turns > 0 {
		r.out.Turns = r.turns
	}
	if len(r.out.Denials) > 0 && r.out.Class == OK {
		var names []string
		for _, t := range r.out.Denials {
			if !slices.Contains(names, t.Name) {
				names = append(names, t.Name)
			}
		}
		r.fail(Denied, "not permitted: "+strings.Join(names, ", "))
	}
	return r.out
}

// decode decodes an object into a struct. If a field has an unexpected type, it stays empty.
func decode(b []byte, into any) { _ = json.Unmarshal(b, into) }

// line decodes the JSON objects in one line. It skips lines that are incomplete or too long.
func (r *run) line(line string) {
	line = strings.TrimSpace(line)
	line = strings.TrimPrefix(line[strings.LastIndexByte(line, '\r')+1:], "\ufeff") // without a progress bar
	switch {
	case line == "":
		return
	case line[0] != '{':
		r.prose = strings.Clone(bounded(line, maxProse))
		r.other()
		return
	}
	d := json.NewDecoder(strings.NewReader(line))
	for object := json.RawMessage(nil); d.Decode(&object) == nil; {
		r.agent.event(object)
	}
}

// other emits an event which only shows that the agent is alive.
func (r *run) other() { r.o.Emit(Event{Kind: Other}) }

// started emits that a conversation began or continues, and stores its id, model and version.
func (r *run) started(conversation, model, version string) {
	set(&r.out.Conversation, conversation)
	set(&r.out.Model, model)
	set(&r.out.Version, version)
	r.o.Emit(Event{Kind: Started, Conversation: r.out.Conversation, Model: r.out.Model, Version: r.out.Version})
}

func set(to *string, s string) {
	if s != "" {
		*to = bounded(s, maxWord)
	}
}

func (r *run) say(s string) {
	if s = words(s); s == "" {
		r.other()
		return
	}
	r.out.Last = s
	r.o.Emit(Event{Kind: Text, Text: s})
}

func words(s string) string { return strings.TrimSpace(bounded(s, MaxText)) }

func (r *run) think(s string) { r.o.Emit(Event{Kind: Thinking, Text: words(s)}) }

func (r *run) used(s Spent) {
	r.out.Spent = s
	r.o.Emit(Event{Kind: Usage, Spent: s})
}

// result emits that the agent ended a turn.
func (r *run) result(text string, failed bool) {
	r.o.Emit(Event{Kind: Result, Text: words(text), Failed: failed})
}

func tool(id, name, detail string) Tool {
	return Tool{bounded(id, maxWord), bounded(name, maxWord), actionOf(name), oneLine(detail, MaxDetail)}
}

// call emits and stores a tool call, unless a stored call has its id.
func (r *run) call(t Tool) {
	if t.ID != "" && r.called(t.ID) >= 0 {
		return
	}
	r.out.Tools++
	r.count(t.Name).Calls++
	r.calls = append(r.calls[max(0, len(r.calls)+1-maxOpen):], t)
	r.o.Emit(Event{Kind: ToolCall, Tool: t})
}

// count returns the counts of the tool with this name.
func (r *run) count(name string) *Use {
	find := func() int { return slices.IndexFunc(r.out.Uses, func(u Use) bool { return u.Name == name }) }
	i := find()
	if i < 0 && len(r.out.Uses) >= maxNames {
		name = ""
		i = find()
	}
	if i < 0 {
		i, r.out.Uses = len(r.out.Uses), append(r.out.Uses, Use{Name: name})
	}
	return &r.out.Uses[i]
}

// called returns the index of the stored call with this id, or -1.
func (r *run) called(id string) int {
	return slices.IndexFunc(r.calls, func(t Tool) bool { return t.ID == bounded(id, maxWord) })
}

// back emits the result of a tool call, and returns the call.
func (r *run) back(id string, failed bool, said string) Tool {
	t := Tool{ID: bounded(id, maxWord)}
	if i := r.called(id); i >= 0 {
		t = r.calls[i]
		r.calls = slices.Delete(r.calls, i, i+1)
		if failed {
			r.count(t.Name).Failed++
		}
	}
	e := Event{Kind: ToolResult, Tool: t, Failed: failed}
	if failed && !r.denied(t) {
		e.Text = lastLine(said)
	}
	r.o.Emit(e)
	return t
}

func (r *run) denied(t Tool) bool {
	return t.ID != "" && slices.ContainsFunc(r.out.Denials, func(d Tool) bool { return d.ID == t.ID })
}

// deny emits and stores a call that was refused for lack of a permission, once for each call.
func (r *run) deny(t Tool) {
	if r.denied(t) {
		return
	}
	if len(r.out.Denials) < maxDenials {
		r.out.Denials = append(r.out.Denials, t)
	}
	r.o.Emit(Event{Kind: Denial, Tool: t})
}

// retry emits that a request failed and that the agent repeats it.
func (r *run) retry(t Retrying, c Class) {
	if c != Auth && c != Billing {
		c = ""
	}
	t.Error = oneLine(t.Error, maxMessage)
	r.fatal, r.why = c, t.Says()
	r.o.Emit(Event{Kind: Retry, Retrying: t, Fatal: c})
}

// fail sets the class of a run that did not succeed, and the message.
func (r *run) fail(c Class, message string) {
	r.out.Class, r.out.Message = c, oneLine(inner(message), maxMessage)
}

// failed calls fail, with Crashed if the verdict's class is unknown. It also sets when to try again.
func (r *run) failed(v verdict, message string) {
	if v.class == "" {
		v.class = Crashed
	}
	r.fail(v.class, message)
	r.out.RetryAt = v.at
}

// ended finds the class of a run whose stream does not tell it: from the exit code, the signal, and standard error.
func (r *run) ended(e Exit) {
	v := judge(0, e.Stderr+"\n"+r.prose, r.o.Now())
	said := oneLine(r.prose, maxMessage)
	if e.Stderr != "" {
		said = telling(e.Stderr, v.class)
	}
	switch {
	case r.fatal != "":
		r.fail(r.fatal, r.why)
	case e.Stopped:
		r.fail(Interrupted, "")
	case askedToStop(e):
		r.fail(Interrupted, e.Signal)
	case e.Signal != "":
		r.fail(Crashed, "ended by "+e.Signal)
	case e.Code == 126 || e.Code == 127: // a shell exits with these codes if it cannot run or find a program
		r.fail(Config, said)
	case e.Code == 0 && v.class != LimitHit:
		r.fail(NoResult, said)
	default:
		r.failed(v, said)
	}
}

// askedToStop reports whether a person or the system ended the process with a signal that asks it to stop. SIGKILL does
// not count: wfs sets Stopped if it sends SIGKILL, and another SIGKILL is mostly the kernel's, out of memory.
func askedToStop(e Exit) bool {
	if e.Signal == "" {
		return slices.Contains([]int{129, 130, 143}, e.Code)
	}
	return slices.Contains([]string{"SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"}, e.Signal)
}
