package session

// Request is a request to a session that another process may be driving. It stays in the clone's inbox until the
// process that writes to the session reads it.
type Request struct {
	ID   string      `json:"-"`  // the file's name; ids sort in the order in which requests were made
	At   int64       `json:"at"` // Unix seconds
	Kind RequestKind `json:"kind"`
	Text string      `json:"text,omitempty"` // of a note
	// Driver is the process that a stop is meant for. A later run is not stopped by it.
	Driver string `json:"driver,omitempty"`
}

// RequestKind is the kind of a request.
type RequestKind string

const (
	RequestNote RequestKind = "note" // a message for the next attempts
	RequestStop RequestKind = "stop" // end the run once the current attempt has its checkpoint
	RequestNow  RequestKind = "now"  // stop waiting for a limit
	// Older versions also accepted these during a run. They are refused now: only a person may allow paths or set
	// budgets, and wfs cannot know who made the request.
	RequestAllow  RequestKind = "allow"
	RequestBudget RequestKind = "budget"
)
