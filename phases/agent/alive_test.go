package agent

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/wfs-dev/wfs/internal/durable"
)

// TestAliveAwaitsExit: a process about to exit holds its lock a moment longer than it can be named, so Alive waits.
// The test is not parallel: a copy of this process, forked to start another program, would hold the lock too.
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
