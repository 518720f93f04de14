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

// MaxTempDir limits the path of a run's temporary directory, in bytes. Programs create sockets there, whose paths must
// not exceed 104 bytes.
const MaxTempDir = 64

// tempLock is the suffix of the lock file that stands next to a temporary directory. All processes of the run hold
// this lock.
const tempLock = ".lock"

// tempDir is the directory of one run for temporary files. It is outside of the repository, so that programs which
// look for a repository, a module or settings in parent directories do not find those of the user.
type tempDir struct {
	path string
	lock *durable.Lock // nil for a directory below the system's temporary directory
}

// newTempDir creates the temporary directory of a run, and removes directories of runs that were killed. It returns
// nil if the run has to use the system's temporary directory.
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
	if err := durable.MkdirAll(r.Temp); err != nil { // sets permissions even if the umask forbids them
		r.say("could not make a temporary directory for a run: " + process.Reason(err))
		return nil
	}
	sweepTemp(r.Temp)
	path := filepath.Join(r.Temp, name)
	lock, err := durable.TryLock(path+tempLock, nil)
	if err == nil {
		err = errors.Join(durable.RemoveTree(path), // left by a killed run with the same id
			os.Mkdir(path, 0o700), os.Chmod(path, 0o700)) // the umask may have removed permissions
		if err == nil {
			return &tempDir{path, lock}
		}
		_ = lock.Release()
	}
	r.say("could not make a temporary directory for a run: " + process.Reason(err))
	return nil
}

// environ returns the environment with TMPDIR set to the directory.
func (t *tempDir) environ(env []string) []string {
	if t == nil {
		return env
	}
	kept := slices.DeleteFunc(slices.Clone(env), func(entry string) bool { return strings.HasPrefix(entry, "TMPDIR=") })
	return append(kept, "TMPDIR="+t.path)
}

// files returns the lock file, which the run's processes inherit. It returns none if there is no lock.
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
	if err == nil { // if it failed, a later run tries again
		_ = os.Remove(t.path + tempLock) // this process holds the lock, so no other process uses it
	}
	_ = t.lock.Release()
}

// sweepTemp removes the temporary directories of runs that have no living process.
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
