package agents

import (
	"encoding/json"
	"strings"
)

// Bounds of what is kept of a whole run.
const (
	maxWord    = 200 // bytes of an id, a name, a version
	maxMessage = 500 // bytes of why a run failed
	maxOpen    = 256 // calls of tools whose result is to come
	maxDenials = 50
)

// reading is what all decoders of JSON streams have in common: finding the objects, and keeping count.
type reading struct {
	values
	o       Options
	out     Outcome
	calls   []Tool // begun, and without a result so far; the oldest first
	refused map[string]bool
	prose   string // the last line that was no JSON
	fatal   Class
	why     string // it is so
}

// start lets the decoder get every object and every line that is none.
func (r *reading) start(o Options, object func([]byte)) {
	if o.Now == nil {
		o.Now = func() int64 { return 0 }
	}
	r.o = o
	r.value = object
	r.noise = func(line []byte) {
		if s := oneLine(string(line), maxMessage); s != "" {
			r.prose = s
		}
		r.o.Emit(Event{Kind: Other})
	}
}

// decode reads an object into a struct. What has another type than expected stays empty.
func decode(b []byte, into any) { _ = json.Unmarshal(b, into) }

// other tells that the run lives.
func (r *reading) other() { r.o.Emit(Event{Kind: Other}) }

// begin notes whose conversation this is.
func (r *reading) begin(conversation, model, version string) {
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

// say passes on words of the agent's. Those of an agent that it called itself are not the last ones of the run.
func (r *reading) say(s string, its bool) {
	if s = strings.TrimSpace(bounded(s, MaxText)); s == "" {
		r.other()
		return
	}
	if its {
		r.out.Last = s
	}
	r.o.Emit(Event{Kind: Text, Text: s})
}

func (r *reading) think(s string) {
	r.o.Emit(Event{Kind: Thinking, Text: strings.TrimSpace(bounded(s, MaxText))})
}

// call notes that a tool is used.
func (r *reading) call(id, name string, action Action, detail string) Tool {
	t := Tool{ID: bounded(id, maxWord), Name: bounded(name, maxWord), Action: action, Detail: oneLine(detail, MaxDetail)}
	r.out.Tools++
	if len(r.calls) == maxOpen {
		r.calls = append(r.calls[:0], r.calls[1:]...)
	}
	r.calls = append(r.calls, t)
	r.o.Emit(Event{Kind: ToolCall, Tool: t})
	return t
}

// called finds an open call.
func (r *reading) called(id string) (Tool, bool) {
	id = bounded(id, maxWord)
	for _, t := range r.calls {
		if t.ID == id {
			return t, true
		}
	}
	return Tool{ID: id}, false
}

// back tells that a call has its result.
func (r *reading) back(id string, failed bool, said string) Tool {
	t, _ := r.called(id)
	for i := range r.calls {
		if r.calls[i].ID == t.ID {
			r.calls = append(r.calls[:i], r.calls[i+1:]...)
			break
		}
	}
	e := Event{Kind: ToolResult, Tool: t, Failed: failed}
	if failed && !r.refused[t.ID] {
		e.Text = lastLine(said)
	}
	r.o.Emit(e)
	return t
}

// deny notes a call that nobody was there to permit; each once.
func (r *reading) deny(t Tool) {
	if t.ID != "" {
		if r.refused[t.ID] {
			return
		}
		if r.refused == nil {
			r.refused = map[string]bool{}
		}
		if len(r.refused) < maxDenials {
			r.refused[t.ID] = true
		}
	}
	if len(r.out.Denials) < maxDenials {
		r.out.Denials = append(r.out.Denials, t)
	}
	r.o.Emit(Event{Kind: Denial, Tool: t})
}

// retry tells of a request that the agent repeats. One that cannot come to anything is Fatal.
func (r *reading) retry(t Retrying, c Class) {
	if c != Auth && c != Billing {
		c = ""
	}
	t.Error = oneLine(t.Error, maxMessage)
	r.fatal, r.why = c, t.Says()
	r.o.Emit(Event{Kind: Retry, Retrying: t, Fatal: c})
}

// fail sets how the run went, when it did not go well.
func (r *reading) fail(c Class, message string) {
	r.out.Class, r.out.Message = c, oneLine(inner(message), maxMessage)
}

// ended concludes from how the process ended, where the stream says nothing.
func (r *reading) ended(e Exit) {
	v := judge(0, e.Stderr+"\n"+r.prose, r.o.Now())
	said := r.prose
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
	case e.Code == 126 || e.Code == 127: // a shell's words for a program that cannot be run, or is not there
		r.fail(Config, said)
	case v.class != "" && (e.Code != 0 || v.class == LimitHit):
		r.fail(v.class, said)
		r.out.RetryAt = v.at
	case e.Code != 0:
		r.fail(Crashed, said)
	default:
		r.fail(NoResult, said)
	}
}

// askedToStop tells the signals that people and systems end programs with from those of a crash. SIGKILL is one of a
// crash: where wfs sends it, Stopped is set, and else it was the kernel, for want of memory.
func askedToStop(e Exit) bool {
	switch e.Signal {
	case "SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT":
		return true
	case "":
		return e.Code == 130 || e.Code == 143 || e.Code == 129
	}
	return false
}

// inner is the message in an error that is JSON, or has some in it.
func inner(s string) string {
	_, rest, ok := strings.Cut(s, `"message":`)
	if !ok {
		_, rest, ok = strings.Cut(s, `{"detail":`)
	}
	if !ok {
		return s
	}
	var text string
	if json.NewDecoder(strings.NewReader(rest)).Decode(&text) != nil || text == "" {
		return s
	}
	return text
}

// oneLine makes one line of a text, of at most so many bytes, without colours and control characters.
func oneLine(s string, most int) string {
	s = bounded(s, 4*most)
	if len(s) <= most && isOneLine(s) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == 0x1b && i+1 < len(s) && s[i+1] == '[': // to the letter that ends the sequence
			for i += 2; i < len(s) && (s[i] < 0x40 || s[i] > 0x7e); i++ {
			}
		case s[i] < ' ' || s[i] == 0x7f:
			b.WriteByte(' ')
		default:
			b.WriteByte(s[i])
		}
	}
	return strings.TrimSpace(bounded(strings.Join(strings.Fields(b.String()), " "), most))
}

// isOneLine reports whether a text is as oneLine would leave it; most are.
func isOneLine(s string) bool {
	space := true // before the first byte there must be none either
	for i := range len(s) {
		if s[i] < ' ' || s[i] >= 0x7f || s[i] == ' ' && space {
			return false
		}
		space = s[i] == ' '
	}
	return !space || s == ""
}

// lastLine is the last line with something on it.
func lastLine(s string) string {
	s = strings.TrimSpace(s)
	return oneLine(s[strings.LastIndexByte(s, '\n')+1:], maxMessage)
}
