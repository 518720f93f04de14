package agent

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/wfs-dev/wfs/internal/durable"
)

// A process that is about to exit holds its lock for a moment longer than it can be named: it is waited for.
func TestAliveAwaitsExit(t *testing.T) {
	t.Parallel()
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
