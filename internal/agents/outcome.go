package agents

import "encoding/json"

// Class says how an agent's run ended. The engine decides by it what to do next. OK only means that the agent ended
// normally; whether its work is done, the gates decide.
type Class string

const (
	OK          Class = "ok"
	Denied      Class = "denied"       // ended normally, but tool calls were refused for lack of a permission
	Capped      Class = "capped"       // reached the maximum of turns or money that wfs gave it
	LimitHit    Class = "limit"        // a usage limit: wait until RetryAt
	RateLimited Class = "rate_limited" // too many requests: wait a little
	Overloaded  Class = "overloaded"   // a failure of the provider or the network: wait a little
	Auth        Class = "auth"         // not logged in, or the provider refused the key
	Billing     Class = "billing"      // the account has no credit
	Config      Class = "config"       // flags, model or settings are wrong
	TooLong     Class = "too_long"     // the context is full: a new conversation is needed
	Lost        Class = "lost"         // the conversation that the run should continue does not exist here
	Refused     Class = "refused"      // the model declined to do the work
	Interrupted Class = "interrupted"  // ended by a signal or a request to stop
	Crashed     Class = "crashed"
	NoResult    Class = "no_result" // exit code 0, but no report of how the run ended
)

// Exit describes how the agent's process ended.
type Exit struct {
	Code    int    // exit code, as in a shell: 128 plus the number of a signal
	Signal  string // the signal that ended it, as "SIGTERM"; "" for none
	Stopped bool   // wfs stopped it: a time-out, Ctrl-C, or a stop at the end of a turn
	Stderr  string // the last part of standard error
}

// Use counts the calls of one tool. Calls of further tools, if there are very many names, are summed under the name "".
type Use struct {
	Name   string
	Calls  int
	Failed int // calls whose result is an error
}

// Outcome is the conclusion about an agent's run.
type Outcome struct {
	Class        Class
	Message      string // the reason, in the agent's words, as one line; "" with OK
	RetryAt      int64  // when to try again, in Unix seconds; 0: unknown
	Conversation string
	Version      string
	Model        string
	Spent        Spent // usage of this process alone
	Total        Spent // usage of the whole conversation, if the agent reports that; Options.Before of the next run
	Turns        int
	Tools        int // number of tool calls
	Uses         []Use
	Denials      []Tool
	Last         string          // the agent's last message, at most MaxText bytes
	Structured   json.RawMessage // the agent's answer in the requested schema; nil: none
}
