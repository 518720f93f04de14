// Package agents reads the output of coding agents while they work: one decoder for each kind of stream, one set of
// events for all of them, and one conclusion about how a run went. It runs nothing and writes nothing.
//
// An agent's output is untrusted. Texts in events are limited in size, but neither stripped of control sequences nor
// redacted. The caller must do that before it shows or stores a text.
package agents

import (
	"fmt"
	"strings"
)

// Kind is the type of an event.
type Kind string

// All types of events. Anything else in a stream becomes Other, which only shows that the agent is alive.
const (
	Started    Kind = "started"     // a conversation began or continues: Conversation, Model, Version
	Text       Kind = "text"        // the agent writes to the user: Text
	Thinking   Kind = "thinking"    // Text, which may be empty
	ToolCall   Kind = "tool_call"   // Tool
	ToolResult Kind = "tool_result" // Tool (its ID, and the call if it was seen), Failed
	Usage      Kind = "usage"       // Spent: the known usage of this process so far
	Denial     Kind = "denial"      // Tool: a call that needed a permission and was refused
	Limit      Kind = "limit"       // Limited
	Compaction Kind = "compaction"  // the agent shortened its context
	Retry      Kind = "retry"       // Retrying: the agent's own request failed, and it tries again
	Result     Kind = "result"      // the agent ended a turn, or all of them: Text, Failed; there may be several
	Other      Kind = "other"       // unknown or irrelevant
)

// Progress reports whether an event shows work, and not only that the agent is alive.
func (k Kind) Progress() bool {
	switch k {
	case Retry, Other, Limit, Usage:
		return false
	}
	return true
}

// Event is one thing that an agent did or that happened to it. Run logs and `wfs run --json` contain its JSON.
type Event struct {
	Kind         Kind     `json:"kind"`
	Text         string   `json:"text,omitempty"` // at most MaxText bytes, cut at a rune
	Tool         Tool     `json:"tool,omitzero"`
	Failed       bool     `json:"failed,omitempty"`
	Conversation string   `json:"conversation,omitempty"` // the agent's own id, for continuing it
	Model        string   `json:"model,omitempty"`
	Version      string   `json:"version,omitempty"` // of the agent, if the stream reports it
	Spent        Spent    `json:"spent,omitzero"`
	Limited      Limited  `json:"limit,omitzero"`
	Retrying     Retrying `json:"retry,omitzero"`
	// the class that the run will end with even if it continues, so it can be stopped now
	Fatal Class `json:"fatal,omitempty"`
}

// Map returns the event after applying f to all its texts that may come from untrusted input.
func (e Event) Map(f func(string) string) Event {
	e.Text, e.Tool.Name, e.Tool.Detail, e.Retrying.Error = f(e.Text), f(e.Tool.Name), f(e.Tool.Detail), f(e.Retrying.Error)
	return e
}

// MaxText bounds the text of one event, in bytes.
const MaxText = 4 << 10

// Tool is one tool call, in terms that all agents share.
type Tool struct {
	ID     string `json:"id,omitempty"`
	Name   string `json:"name,omitempty"` // the agent's own name for it: "Bash", "edit"
	Action Action `json:"action,omitempty"`
	Detail string `json:"detail,omitempty"` // the command, or the path, in one line of at most MaxDetail bytes
}

// MaxDetail bounds the detail of a tool call, in bytes.
const MaxDetail = 400

// Action is the effect of a tool.
type Action string

const (
	Runs    Action = "runs"   // a command
	Writes  Action = "writes" // a file
	Reads   Action = "reads"  // files, listings, searches
	Fetches Action = "fetches"
	Does    Action = "does" // anything else
)

// Spent is the usage of a run.
type Spent struct {
	USD        float64 `json:"usd,omitempty"`
	Input      int64   `json:"input,omitempty"` // tokens, except those from a cache
	Output     int64   `json:"output,omitempty"`
	CacheRead  int64   `json:"cache_read,omitempty"`
	CacheWrite int64   `json:"cache_write,omitempty"`
}

// Plus returns the sum.
func (s Spent) Plus(t Spent) Spent {
	return Spent{s.USD + t.USD, s.Input + t.Input, s.Output + t.Output, s.CacheRead + t.CacheRead,
		s.CacheWrite + t.CacheWrite}
}

// since subtracts earlier usage. If any earlier value is larger, the count has restarted, and since returns s
// unchanged.
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

// Limited is a limit of the provider, as reported by the agent.
type Limited struct {
	Status   string  `json:"status"`              // "allowed", "warning" or "rejected"
	ResetsAt int64   `json:"resets_at,omitempty"` // Unix seconds; 0: not reported
	Window   string  `json:"window,omitempty"`    // "five_hour", "seven_day"
	Used     float64 `json:"used,omitempty"`      // share of the window, 0 to 1
}

// Retrying is a request that the agent repeats on its own.
type Retrying struct {
	Attempt     int    `json:"attempt,omitempty"`
	Of          int    `json:"of,omitempty"`
	Status      int    `json:"status,omitempty"` // HTTP; 0: none
	Error       string `json:"error,omitempty"`  // the agent's error message
	DelayMillis int64  `json:"delay_ms,omitempty"`
}

// Says returns the agent's error message, with the HTTP status if the message lacks it.
func (r Retrying) Says() string {
	if status := fmt.Sprint(r.Status); r.Status > 0 && !strings.Contains(r.Error, status) {
		return strings.TrimSpace(r.Error + " (HTTP " + status + ")")
	}
	return r.Error
}
