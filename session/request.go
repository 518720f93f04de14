package session

import "github.com/wfs-dev/wfs/workflows"

// Request is what somebody asks of a session that another process may be driving. It waits in the clone's inbox until
// the process that writes to the session takes it in.
type Request struct {
	ID   string      `json:"-"`  // the file's name; ids sort in the order in which requests were made
	At   int64       `json:"at"` // Unix seconds
	Kind RequestKind `json:"kind"`
	Text string      `json:"text,omitempty"` // of a note
	// Driver is the process that a stop is meant for. A later run is not stopped by it.
	Driver string `json:"driver,omitempty"`
	// Paths are let in, or with Revoked held out again.
	Paths   []string `json:"paths,omitempty"`
	Revoked bool     `json:"revoked,omitempty"`
	// Budget are caps to set.
	Budget *workflows.Budget `json:"budget,omitempty"`
}

// RequestKind says what is asked for.
type RequestKind string

const (
	RequestNote  RequestKind = "note"  // a person's word for the next attempts
	RequestStop  RequestKind = "stop"  // end the run once the present attempt has its checkpoint
	RequestAllow RequestKind = "allow" // let paths in that are held out, before the next attempt
	// RequestBudget sets caps, before the next attempt.
	RequestBudget RequestKind = "budget"
	RequestNow    RequestKind = "now" // wait no longer for a limit
)

// maxHeard bounds the memory of requests. One is removed right after its event is durable, and nothing else is done
// before that, so a single one would do.
const maxHeard = 16

// hear remembers a request that became an event, so that it is not taken in again by whoever finds it still there.
func (s *Session) hear(request string) {
	if request == "" {
		return
	}
	heard := append(s.Heard[:len(s.Heard):len(s.Heard)], request)
	s.Heard = heard[max(0, len(heard)-maxHeard):]
}
