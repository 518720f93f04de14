// Package agents decodes the output of coding agents while they work. There is one decoder for each kind of stream. All
// decoders emit the same kinds of events, and end with the same kind of conclusion about the run. The package starts no
// process and writes no file.
//
// An agent's output is untrusted. The package limits the size of texts in events, but it does not remove control
// sequences or secrets from them. The caller must do that before it shows or stores a text.
package agents

import (
	"fmt"
	"strings"
)

// Kind is the type of an event.
type Kind string

// All kinds of events, each with the fields of Event that it sets. Anything else in a stream becomes Other, which only
// shows that the agent is alive.
const (
	Started    Kind = "started"     // Conversation, Model, Version: a conversation began or continues
	Text       Kind = "text"        // Text: the agent writes to the user
	Thinking   Kind = "thinking"    // Text, which may be empty: the agent's reasoning
	ToolCall   Kind = "tool_call"   // Tool: the agent calls a tool
	ToolResult Kind = "tool_result" // Tool (only its ID if the call was not seen), Failed: a call ended
	Usage      Kind = "usage"       // Spent: the usage that this process has reported so far
	Denial     Kind = "denial"      // Tool: a call that was refused for lack of a permission
	Limit      Kind = "limit"       // Limited: a usage limit of the provider
	Compaction Kind = "compaction"  // the agent shortened its context
	Retry      Kind = "retry"       // Retrying: the agent's request to its provider failed, and the agent tries again
	Result     Kind = "result"      // Text, Failed: the agent ended a turn or its work; there may be several
	Taken      Kind = "taken"       // Message: the agent has read a message that it got while it worked
	Other      Kind = "other"       // unknown or irrelevant
)

// Progress reports whether events of this kind show that the agent makes progress. Other kinds only show that it is
// alive.
func (k Kind) Progress() bool {
	switch k {
	case Retry, Other, Limit, Usage:
		return false
	}
	return true
}

// Event is one step of an agent, or something that happened to it, such as a limit. Run logs and `wfs run --json`
// contain events as JSON.
type Event struct {
	Kind         Kind     `json:"kind"`
	Text         string   `json:"text,omitempty"` // at most MaxText bytes, cut between runes
	Tool         Tool     `json:"tool,omitzero"`
	Failed       bool     `json:"failed,omitempty"`
	Conversation string   `json:"conversation,omitempty"` // the agent's id of the conversation, for continuing it
	Model        string   `json:"model,omitempty"`
	Message      string   `json:"message,omitempty"` // id of a message, see Message
	Version      string   `json:"version,omitempty"` // the agent's version, if the stream reports it
	Spent        Spent    `json:"spent,omitzero"`
	Limited      Limited  `json:"limit,omitzero"`
	Retrying     Retrying `json:"retry,omitzero"`
	// set if the run can be stopped now: it will end with this class even if it continues
	Fatal Class `json:"fatal,omitempty"`
}

// Map returns a copy of the event with f applied to each text that the agent may have influenced.
func (e Event) Map(f func(string) string) Event {
	e.Text, e.Tool.Name, e.Tool.Detail, e.Retrying.Error = f(e.Text), f(e.Tool.Name), f(e.Tool.Detail), f(e.Retrying.Error)
	return e
}

// MaxText is the maximum size of a text in an event, in bytes.
const MaxText = 4 << 10

// Tool is one tool call, described in the same way for all agents.
type Tool struct {
	ID     string `json:"id,omitempty"`
	Name   string `json:"name,omitempty"` // the agent's name of the tool: "Bash", "edit"
	Action Action `json:"action,omitempty"`
	Detail string `json:"detail,omitempty"` // the command, or the path, as one line of at most MaxDetail bytes
}

// MaxDetail is the maximum size of Tool.Detail, in bytes.
const MaxDetail = 400

// Action is the effect that a tool has.
type Action string

const (
	Runs    Action = "runs"   // runs a command
	Writes  Action = "writes" // writes a file
	Reads   Action = "reads"  // reads or lists files, or searches in them
	Fetches Action = "fetches"
	Does    Action = "does" // has any other effect
)

// Spent is the usage of a run.
type Spent struct {
	USD        float64 `json:"usd,omitempty"`
	Input      int64   `json:"input,omitempty"` // tokens, without those from a cache
	Output     int64   `json:"output,omitempty"`
	CacheRead  int64   `json:"cache_read,omitempty"`
	CacheWrite int64   `json:"cache_write,omitempty"`
}

// Plus returns the sum of s and t.
func (s Spent) Plus(t Spent) Spent {
	return Spent{s.USD + t.USD, s.Input + t.Input, s.Output + t.Output, s.CacheRead + t.CacheRead,
		s.CacheWrite + t.CacheWrite}
}

// since returns s minus `before`. If any value in `before` is larger, the agent has started counting again from 0, and
// since returns s.
func (s Spent) since(before Spent) Spent {
	d := s.Plus(Spent{-before.USD, -before.Input, -before.Output, -before.CacheRead, -before.CacheWrite})
	if d.USD < -1e-9 || min(d.Input, d.Output, d.CacheRead, d.CacheWrite) < 0 {
		return s
	}
	d.USD = max(0, d.USD)
	return d
}

// Tokens returns the number of tokens of all types.
func (s Spent) Tokens() int64 { return s.Input + s.Output + s.CacheRead + s.CacheWrite }

// Limited describes a usage limit of the provider, as the agent reports it.
type Limited struct {
	Status   string  `json:"status"`              // "allowed", "warning" or "rejected"
	ResetsAt int64   `json:"resets_at,omitempty"` // when the limit ends, in Unix seconds; 0: not reported
	Window   string  `json:"window,omitempty"`    // the period that the limit counts: "five_hour", "seven_day"
	Used     float64 `json:"used,omitempty"`      // used share of the limit, 0 to 1
}

// Retrying describes a failed request that the agent repeats without wfs.
type Retrying struct {
	Attempt     int    `json:"attempt,omitempty"`
	Of          int    `json:"of,omitempty"`
	Status      int    `json:"status,omitempty"` // HTTP status; 0: none
	Error       string `json:"error,omitempty"`  // the agent's error message
	DelayMillis int64  `json:"delay_ms,omitempty"`
}

// Says returns the agent's error message, followed by the HTTP status if the message does not contain it.
func (r Retrying) Says() string {
	if status := fmt.Sprint(r.Status); r.Status > 0 && !strings.Contains(r.Error, status) {
		return strings.TrimSpace(r.Error + " (HTTP " + status + ")")
	}
	return r.Error
}
