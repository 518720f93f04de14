package registry

import (
	"encoding/json"
	"os"
	"path/filepath"

	"github.com/wfs-dev/wfs/internal/durable"
)

// Ended records how the newest `wfs run` of a session ended. Another process that watches the run reads it. If the run
// is killed, no record of it is written.
type Ended struct {
	V      int    `json:"v"`
	Driver string `json:"driver"` // Holder.Name of the process that ran
	At     int64  `json:"at"`     // when the run ended, in Unix seconds
	Exit   int    `json:"exit"`
	Error  string `json:"error,omitempty"`
	Hint   string `json:"hint,omitempty"`
	Seq    int64  `json:"seq,omitempty"` // number of the session's newest event when the run ended
}

const (
	endedName = "ended"
	detached  = "detached.log"
)

// KeepEnded stores how a run ended, in place of the record of an earlier run. The caller holds the session's lock.
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

// Ended returns the record of the session's last ended run, if `driver` was its process (see Holder.Name); found is
// false if there is no such record. An empty driver stands for any process.
func (s Session) Ended(driver string) (e Ended, found bool) {
	dir, err := s.dir()
	if err != nil {
		return e, false
	}
	e, err = readDocument[Ended](filepath.Join(dir, endedName), maxRequest)
	return e, err == nil && e.V == FormatVersion && (driver == "" || e.Driver == driver)
}

// DetachedLog creates the log file of a run in the background. It renames the log of the previous background run, and
// with it replaces the log before that.
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
