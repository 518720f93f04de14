package session

// Request is what somebody asks of a session that another process may be driving. It waits in the clone's inbox until
// the process that writes to the session takes it in.
type Request struct {
	ID   string      `json:"-"`  // the file's name; ids sort in the order in which requests were made
	At   int64       `json:"at"` // Unix seconds
	Kind RequestKind `json:"kind"`
	Text string      `json:"text,omitempty"` // of a note
	// Driver is the process that a stop is meant for. A later run is not stopped by it.
	Driver string `json:"driver,omitempty"`
}

// RequestKind says what is asked for.
type RequestKind string

const (
	RequestNote RequestKind = "note" // a word for the next attempts
	RequestStop RequestKind = "stop" // end the run once the present attempt has its checkpoint
	RequestNow  RequestKind = "now"  // wait no longer for a limit
	// An older wfs let these be asked of a run. They are a person's word, and refused: nobody knows who asked.
	RequestAllow  RequestKind = "allow"
	RequestBudget RequestKind = "budget"
)
