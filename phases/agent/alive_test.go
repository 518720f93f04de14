package agent

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/wfs-dev/wfs/internal/durable"
)

// A process that is about to exit holds its lock for a moment longer than it can be named: it is waited for. Beside other
// tests it could see a copy of this process that is about to start another program, and has the lock as well.
func TestAliveAwaitsExit(t *testing.T) {
	dir := t.TempDir()
	lock, err := durable.TryLock(filepath.Join(dir, LockFile), nil) // our own process is never named
	if err != nil {
		t.Fatal(err)
	}
	r := &Runner{Root: dir, Environ: os.Environ()}
	time.AfterFunc(maxExit/20, func() { _ = lock.Release() })
	if all := r.Alive("s", dir, "s-0001"); len(all) != 0 {
		t.Errorf("still alive: %v", all)
	}
}
