package agent

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/internal/durable"
	"github.com/wfs-dev/wfs/phases/process"
)

// MaxTempDir limits the path of a run's temporary directory, in bytes: paths of sockets in it must not exceed 104
// bytes.
const MaxTempDir = 64

// tempLock is the suffix of the lock file next to a temporary directory. The run's processes hold the lock.
const tempLock = ".lock"

// tempDir is a run's own directory for temporary files, outside of the repository: a search for a repository, a
// module or a configuration in parent directories must not find the user's.
type tempDir struct {
	path string
	lock *durable.Lock // nil in the system's directory
}

// newTempDir makes the temporary directory of a run, and removes those of killed runs. It returns nil if the run has
// to use the system's.
func (r *Runner) newTempDir(runID string) *tempDir {
	if r.Temp == "" {
		return nil
	}
	h := sha256.Sum256([]byte(runID))
	name := hex.EncodeToString(h[:4])
	if len(r.Temp)+1+len(name) > MaxTempDir {
		path, err := os.MkdirTemp("", "wfs-")
		if err != nil {
			return nil
		}
		return &tempDir{path: path}
	}
	if err := durable.MkdirAll(r.Temp); err != nil { // whatever the umask is
		r.say("could not make a temporary directory for a run: " + process.Reason(err))
		return nil
	}
	sweepTemp(r.Temp)
	path := filepath.Join(r.Temp, name)
	lock, err := durable.TryLock(path+tempLock, nil)
	if err == nil {
		err = errors.Join(durable.RemoveTree(path), // left by a killed run that is repeated
			os.Mkdir(path, 0o700), os.Chmod(path, 0o700)) // the umask may have taken bits away
		if err == nil {
			return &tempDir{path, lock}
		}
		_ = lock.Release()
	}
	r.say("could not make a temporary directory for a run: " + process.Reason(err))
	return nil
}

// environ replaces TMPDIR.
func (t *tempDir) environ(env []string) []string {
	if t == nil {
		return env
	}
	kept := slices.DeleteFunc(slices.Clone(env), func(entry string) bool { return strings.HasPrefix(entry, "TMPDIR=") })
	return append(kept, "TMPDIR="+t.path)
}

// files returns the files that the run's processes inherit.
func (t *tempDir) files() []*os.File {
	if t == nil || t.lock == nil {
		return nil
	}
	return []*os.File{t.lock.File()}
}

func (t *tempDir) remove() {
	if t == nil {
		return
	}
	err := durable.RemoveTree(t.path)
	if t.lock == nil {
		return
	}
	if err == nil { // otherwise a later run tries again
		_ = os.Remove(t.path + tempLock) // we hold the lock: no other process is about to use it
	}
	_ = t.lock.Release()
}

// sweepTemp removes the directories of runs whose processes have all ended.
func sweepTemp(dir string) {
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		name, ok := strings.CutSuffix(path, tempLock)
		if !ok {
			continue
		}
		if held, _, err := durable.Probe(path); err != nil || held {
			continue
		}
		if lock, err := durable.TryLock(path, nil); err == nil {
			(&tempDir{name, lock}).remove()
		}
	}
}
