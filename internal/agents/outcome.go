package agents

import "encoding/json"

// Class says how a run went, as far as the engine needs it. OK means that the agent ended normally; the gates decide
// whether the work is done.
type Class string

const (
	OK          Class = "ok"
	Denied      Class = "denied"       // ended normally, but calls were refused for lack of permission
	Capped      Class = "capped"       // reached the cap of turns or money that it was started with
	LimitHit    Class = "limit"        // a usage limit: wait until RetryAt
	RateLimited Class = "rate_limited" // too many requests: wait a little
	Overloaded  Class = "overloaded"   // trouble at the provider or in the network: wait a little
	Auth        Class = "auth"         // not logged in, or the key was refused
	Billing     Class = "billing"      // no credit
	Config      Class = "config"       // flags, model or settings that cannot work
	TooLong     Class = "too_long"     // the context is full: a new conversation is needed
	Lost        Class = "lost"         // the conversation to continue does not exist here
	Refused     Class = "refused"      // the model declined
	Interrupted Class = "interrupted"  // ended by a signal or a request to stop
	Crashed     Class = "crashed"
	NoResult    Class = "no_result" // exit 0, but no report of how it ended
)

// Exit describes how the process of a run ended.
type Exit struct {
	Code    int    // as in a shell: 128 plus the number of a signal
	Signal  string // "" for none
	Stopped bool   // by wfs: a time-out, Ctrl-C, or a stop at the end of a turn
	Stderr  string // the last part of standard error, bounded
}

// Outcome is the result of a whole run.
type Outcome struct {
	Class        Class
	Message      string // why, in the agent's words; one line; "" with OK
	RetryAt      int64  // Unix seconds; 0: unknown
	Conversation string
	Version      string
	Model        string
	Spent        Spent // by this process alone
	Total        Spent // of the conversation so far, if the agent counts so; pass it to the next run as Options.Before
	Turns        int
	Tools        int // calls
	Denials      []Tool
	Last         string          // the agent's last message, at most MaxText bytes
	Structured   json.RawMessage // the answer to a requested schema; nil: none
}
