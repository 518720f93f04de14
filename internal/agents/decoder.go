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

// decoders are the kinds of streams, as agent cards name them. A new kind is one file and one line here.
var decoders = map[string]func(Options) Decoder{
	"claude":   newClaude,
	"codex":    newCodex,
	"gemini":   newGemini,
	"opencode": newOpencode,
	"text":     newText,
}

// New returns a decoder by its name in agent cards, and false when there is none of that name.
func New(name string, o Options) (Decoder, bool) {
	make, ok := decoders[name]
	if !ok {
		return nil, false
	}
	if o.Emit == nil {
		o.Emit = func(Event) {}
	}
	return make(o), true
}
