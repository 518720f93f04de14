// Package agents reads what coding agents print while they work: one decoder for each kind of stream, one vocabulary of
// events for all of them, and one conclusion about how a run went. It runs nothing and writes nothing.
//
// What an agent says is untrusted: texts in events are bounded, but neither stripped of control sequences nor redacted.
// Whoever shows or keeps one does that.
package agents

import (
	"fmt"
	"strings"
)

// Kind is what an event tells.
type Kind string

// The vocabulary. What a stream has beyond it is Other, which keeps a run alive and nothing else.
const (
	Started    Kind = "started"     // a conversation began or goes on: Conversation, Model, Version
	Text       Kind = "text"        // the agent speaks: Text
	Thinking   Kind = "thinking"    // Text, which may be empty
	ToolCall   Kind = "tool_call"   // Tool
	ToolResult Kind = "tool_result" // Tool (its ID, and what is known of the call), Failed
	Usage      Kind = "usage"       // Spent: what is known to be used up by now, in this process
	Denial     Kind = "denial"      // Tool: a call that nobody was there to permit
	Limit      Kind = "limit"       // Limited
	Compaction Kind = "compaction"  // the agent shortened its context
	Retry      Kind = "retry"       // Retrying: the agent's own request failed, and it tries again
	Result     Kind = "result"      // the agent ended a turn, or all of them: Text, Failed; there may be several
	Other      Kind = "other"       // unknown, or of no interest
)

// Progress tells an event that shows work from one that only shows life.
func (k Kind) Progress() bool {
	switch k {
	case Retry, Other, Limit, Usage:
		return false
	}
	return true
}

// Event is one thing that an agent did or met. Its JSON is what a run's log and `wfs run --json` have.
type Event struct {
	Kind         Kind     `json:"kind"`
	Text         string   `json:"text,omitempty"` // at most MaxText bytes, cut at a rune
	Tool         Tool     `json:"tool,omitzero"`
	Failed       bool     `json:"failed,omitempty"`
	Conversation string   `json:"conversation,omitempty"` // the agent's own id of it, to go on with
	Model        string   `json:"model,omitempty"`
	Version      string   `json:"version,omitempty"` // of the agent, where the stream tells
	Spent        Spent    `json:"spent,omitzero"`
	Limited      Limited  `json:"limit,omitzero"`
	Retrying     Retrying `json:"retry,omitzero"`
	// what it will come to however long it goes on: it can be stopped at once
	Fatal Class `json:"fatal,omitempty"`
}

// Map returns the event with every text in it that an agent may have taken from anywhere passed through a function.
func (e Event) Map(f func(string) string) Event {
	e.Text, e.Tool.Name, e.Tool.Detail, e.Retrying.Error = f(e.Text), f(e.Tool.Name), f(e.Tool.Detail), f(e.Retrying.Error)
	return e
}

// MaxText bounds the text of one event, in bytes.
const MaxText = 4 << 10

// Tool is one call of a tool, in words that all agents share.
type Tool struct {
	ID     string `json:"id,omitempty"`
	Name   string `json:"name,omitempty"` // as the agent calls it: "Bash", "edit"
	Action Action `json:"action,omitempty"`
	Detail string `json:"detail,omitempty"` // the command, or the path, in one line of at most MaxDetail bytes
}

// MaxDetail bounds what is told of a tool call, in bytes.
const MaxDetail = 400

// Action is what a tool does to the world.
type Action string

const (
	Runs    Action = "runs"   // a command
	Writes  Action = "writes" // a file
	Reads   Action = "reads"  // files, listings, searches
	Fetches Action = "fetches"
	Does    Action = "does" // anything else
)

// Spent is what a run used up.
type Spent struct {
	USD        float64 `json:"usd,omitempty"`
	Input      int64   `json:"input,omitempty"` // tokens, without those from a cache
	Output     int64   `json:"output,omitempty"`
	CacheRead  int64   `json:"cache_read,omitempty"`
	CacheWrite int64   `json:"cache_write,omitempty"`
}

// Plus adds.
func (s Spent) Plus(t Spent) Spent {
	return Spent{s.USD + t.USD, s.Input + t.Input, s.Output + t.Output, s.CacheRead + t.CacheRead,
		s.CacheWrite + t.CacheWrite}
}

// since takes away what was used up before. When there was more of something before, the count has begun anew, and
// nothing is taken away.
func (s Spent) since(before Spent) Spent {
	d := s.Plus(Spent{-before.USD, -before.Input, -before.Output, -before.CacheRead, -before.CacheWrite})
	if d.USD < -1e-9 || min(d.Input, d.Output, d.CacheRead, d.CacheWrite) < 0 {
		return s
	}
	d.USD = max(0, d.USD)
	return d
}

// Tokens is the sum of all tokens.
func (s Spent) Tokens() int64 { return s.Input + s.Output + s.CacheRead + s.CacheWrite }

// Limited is a limit of the provider's, as the agent reports it.
type Limited struct {
	Status   string  `json:"status"`              // "allowed", "warning" or "rejected"
	ResetsAt int64   `json:"resets_at,omitempty"` // Unix seconds; 0: it did not say
	Window   string  `json:"window,omitempty"`    // "five_hour", "seven_day"
	Used     float64 `json:"used,omitempty"`      // share of the window, 0 to 1
}

// Retrying is a request that the agent repeats by itself.
type Retrying struct {
	Attempt     int    `json:"attempt,omitempty"`
	Of          int    `json:"of,omitempty"`
	Status      int    `json:"status,omitempty"` // of HTTP; 0: none
	Error       string `json:"error,omitempty"`  // the agent's word for it
	DelayMillis int64  `json:"delay_ms,omitempty"`
}

// Says is the agent's word, with the status that it leaves out.
func (r Retrying) Says() string {
	if status := fmt.Sprint(r.Status); r.Status > 0 && !strings.Contains(r.Error, status) {
		return strings.TrimSpace(r.Error + " (HTTP " + status + ")")
	}
	return r.Error
}
