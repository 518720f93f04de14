package session

// Request is a message to a session that may be driven by another process. It is a file in the clone's inbox until the
// process that writes to the session reads it.
type Request struct {
	ID   string      `json:"-"`  // name of the request's file; ids sort by the time of their requests
	At   int64       `json:"at"` // Unix seconds
	Kind RequestKind `json:"kind"`
	Text string      `json:"text,omitempty"` // text of a note
	// Driver identifies the process that a stop request is meant for, so that a later run ignores the request.
	Driver string `json:"driver,omitempty"`
}

type RequestKind string

const (
	RequestNote RequestKind = "note" // a message for the next attempts
	RequestStop RequestKind = "stop" // end the run once the current attempt has its checkpoint
	RequestNow  RequestKind = "now"  // do not wait any longer until a limit resets
	// Older versions also accepted these requests during a run. wfs refuses them now: only a person may allow paths or
	// set budgets, and wfs cannot know who made a request.
	RequestAllow  RequestKind = "allow"
	RequestBudget RequestKind = "budget"
)
