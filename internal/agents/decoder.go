package agents

import "io"

// Options are the settings of a decoder.
type Options struct {
	// Now returns the current time in Unix seconds. It is needed where an agent names a time of day ("resets 6:13pm").
	Now func() int64
	// Before is Outcome.Total of the previous run, if this run continues its conversation. Some agents report the usage
	// of the whole conversation; the decoder subtracts Before from it.
	Before Spent
	// Emit is called with every event as soon as it is decoded, in the goroutine that calls Write. It may be nil.
	Emit func(Event)
}

// Decoder decodes the standard output of one agent process. Write accepts bytes in pieces of any size and never fails.
// Call End once, after the last Write; it returns the conclusion.
type Decoder interface {
	io.Writer
	End(Exit) Outcome
}

// agent is the part of a decoder that differs between the kinds of agents.
type agent interface {
	event(object []byte)
	conclusion(Exit) // calls run.fail if the run did not succeed
}

// decoders maps the name of a JSON stream to its constructor. An agent card (the configuration of one agent program:
// its command, flags, output) uses that name. To support a new kind, add a file and a line here.
var decoders = map[string]func(*run) agent{
	"claude":   func(r *run) agent { return &claude{run: r} },
	"codex":    func(r *run) agent { return &codex{run: r} },
	"gemini":   func(r *run) agent { return &gemini{run: r} },
	"opencode": func(r *run) agent { return &opencode{run: r} },
}

// New returns the decoder for a name in agent cards. The result false means that no decoder has that name.
func New(name string, o Options) (Decoder, bool) {
	if o.Emit == nil {
		o.Emit = func(Event) {}
	}
	if o.Now == nil {
		o.Now = func() int64 { return 0 }
	}
	if name == "text" {
		return newText(o), true
	}
	read, ok := decoders[name]
	if !ok {
		return nil, false
	}
	r := &run{o: o}
	r.agent = read(r)
	r.Lines = Lines{Most: maxLine, Line: r.line}
	return r, true
}
