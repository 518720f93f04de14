package registry

import (
	"encoding/json"
	"os"
	"path/filepath"

	"github.com/wfs-dev/wfs/internal/durable"
)

// Ended is how the newest `wfs run` of a session ended, for those who watched it from elsewhere. A run that was killed
// leaves none.
type Ended struct {
	V      int    `json:"v"`
	Driver string `json:"driver"` // Holder.Name of the process
	At     int64  `json:"at"`     // Unix seconds
	Exit   int    `json:"exit"`
	Error  string `json:"error,omitempty"`
	Hint   string `json:"hint,omitempty"`
	Seq    int64  `json:"seq,omitempty"` // of the session's newest event then
}

const (
	endedName = "ended"
	detached  = "detached.log"
)

// KeepEnded stores how a run ended. The caller holds the session's lock.
func (s Session) KeepEnded(e Ended) error {
	dir, err := s.dir()
	if err != nil {
		return err
	}
	e.V = FormatVersion
	data, err := json.Marshal(e)
	if err != nil {
		return err
	}
	return durable.WriteCache(filepath.Join(dir, endedName), append(data, '\n'), 0o600)
}

// Ended returns how the run of a process ended; found is false when that is not known.
func (s Session) Ended(driver string) (e Ended, found bool) {
	dir, err := s.dir()
	if err != nil {
		return e, false
	}
	e, err = readDocument[Ended](filepath.Join(dir, endedName), maxRequest)
	return e, err == nil && e.V == FormatVersion && (driver == "" || e.Driver == driver)
}

// DetachedLog makes the file that a run in the background writes to. The log of the run before is kept beside it.
func (s Session) DetachedLog() (*os.File, error) {
	dir, err := s.dir()
	if err != nil {
		return nil, err
	}
	if err := s.clone.make(dir); err != nil {
		return nil, err
	}
	path := filepath.Join(dir, detached)
	if err := os.Rename(path, path+".1"); ifThere(err) != nil {
		return nil, err
	}
	return os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE|os.O_EXCL, 0o600)
}
