package agents

import "encoding/json"

// Class is how a run went, in the words that the engine acts on. OK says that the agent ended in good order; whether
// the work is done is for the gates.
type Class string

const (
	OK          Class = "ok"
	Denied      Class = "denied"       // ended in good order, but calls were refused for want of a permission
	Capped      Class = "capped"       // ended at a cap of turns or money that it was started with
	LimitHit    Class = "limit"        // a usage limit: wait until RetryAt
	RateLimited Class = "rate_limited" // too many requests: wait a little
	Overloaded  Class = "overloaded"   // the provider's trouble, or the network's: wait a little
	Auth        Class = "auth"         // not logged in, or a key that is refused
	Billing     Class = "billing"      // no credit
	Config      Class = "config"       // flags, model or settings that cannot work
	TooLong     Class = "too_long"     // the context is full: a new conversation is needed
	Lost        Class = "lost"         // the conversation that was to go on does not exist here
	Refused     Class = "refused"      // the model declined
	Interrupted Class = "interrupted"  // ended by a signal or a request to stop
	Crashed     Class = "crashed"
	NoResult    Class = "no_result" // exit 0, and no word of how it ended
)

// Exit is how the process of a run ended.
type Exit struct {
	Code    int    // as a shell has it: 128 plus the number of a signal
	Signal  string // "" for none
	Stopped bool   // by us: a time-out, Ctrl-C, or a stop at the end of a turn
	Stderr  string // the end of what was written there, bounded
}

// Outcome is what a whole run comes to.
type Outcome struct {
	Class        Class
	Message      string // why, in the agent's words; one line; "" with OK
	RetryAt      int64  // Unix seconds; 0: unknown
	Conversation string
	Version      string
	Model        string
	Spent        Spent // by this process alone
	Total        Spent // of the conversation so far, where the agent counts so; pass it to the next run as Options.Before
	Turns        int
	Tools        int // calls
	Denials      []Tool
	Last         string          // the agent's last words, at most MaxText bytes
	Structured   json.RawMessage // the answer that a schema asked for; nil: none was given
}
