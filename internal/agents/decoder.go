package agents

import "io"

// Options are what a decoder has to know before the stream begins.
type Options struct {
	// Now tells Unix seconds, for limits that are told in words ("resets 6:13pm").
	Now func() int64
	// Before is the Outcome.Total of the run that this one goes on from: some agents count whole conversations.
	Before Spent
	// Emit gets every event as it comes, on the goroutine that writes. May be nil.
	Emit func(Event)
}

// Decoder reads the standard output of one process. Write takes any bytes in any pieces and never fails; End is called
// once, after the last of them.
type Decoder interface {
	io.Writer
	End(Exit) Outcome
}

// agent reads the stream of one kind of agent.
type agent interface {
	event(object []byte)
	conclusion(Exit) // calls fail when the run did not go well
}

// decoders are the kinds of streams of JSON, as agent cards name them. A new kind is one file and one line here.
var decoders = map[string]func(*run) agent{
	"claude":   func(r *run) agent { return &claude{run: r} },
	"codex":    func(r *run) agent { return &codex{run: r} },
	"gemini":   func(r *run) agent { return &gemini{run: r} },
	"opencode": func(r *run) agent { return &opencode{run: r} },
}

// New returns a decoder by its name in agent cards, and false when there is none of that name.
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
