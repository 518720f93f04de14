package session

// Status is where a session stands in its life.
type Status string

const (
	StatusCreated     Status = "created"
	StatusRunning     Status = "running"
	StatusPaused      Status = "paused"
	StatusInterrupted Status = "interrupted" // computed: the last word says running, and nobody drives
	StatusWaiting     Status = "waiting"
	StatusBlocked     Status = "blocked"
	StatusCompleted   Status = "completed"
	StatusFinished    Status = "finished"
	StatusAbandoned   Status = "abandoned"
)

// Final reports whether nothing follows by itself or by `wfs run`.
func (s Status) Final() bool { return s == StatusFinished || s == StatusAbandoned }
