package agents

import "io"

// Options are settings that a decoder needs before the stream begins.
type Options struct {
	// Now returns Unix seconds, for limits whose end is given in words ("resets 6:13pm").
	Now func() int64
	// Before is the Outcome.Total of the run that this run continues: some agents count whole conversations.
	Before Spent
	// Emit receives every event as it arrives, on the goroutine that calls Write. May be nil.
	Emit func(Event)
}

// Decoder reads the standard output of one process. Write accepts bytes in pieces of any size and never fails. Call End
// once, after the last Write.
type Decoder interface {
	io.Writer
	End(Exit) Outcome
}

// agent reads the stream of one kind of agent.
type agent interface {
	event(object []byte)
	conclusion(Exit) // calls fail if the run did not succeed
}

// decoders maps the names of JSON streams in agent cards to constructors. A new kind is one file and one line here.
var decoders = map[string]func(*run) agent{
	"claude":   func(r *run) agent { return &claude{run: r} },
	"codex":    func(r *run) agent { return &codex{run: r} },
	"gemini":   func(r *run) agent { return &gemini{run: r} },
	"opencode": func(r *run) agent { return &opencode{run: r} },
}

// New returns the decoder that agent cards call name, or false if there is none.
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
