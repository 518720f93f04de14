package safety

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/wfs-dev/wfs/internal/testkit"
)

// writing are the commands that need locks of git, with edits in the work tree of session one.
var writing = []string{
	"checkpoint -m x", "new three --workflow plain --agent true", "switch two", "switch main", "resume @1", "resume two",
	"undo", "run", "finish", "abandon", "edit one --name other", "edit one --goal other", "delete two --force", "allow node_modules",
}

// TestBar10ForeignLock checks that every writing command stops after two seconds at a git lock of another program. It
// prints the lock's path, age and holder and the command to type, and exits 5. Nothing is changed, and the lock is
// still there.
func TestBar10ForeignLock(t *testing.T) {
	t.Parallel()
	refused := 0
	f := plainTemplate.fixture(t)
	f.dirty()
	for _, name := range []string{"index.lock", "HEAD.lock", "refs/wfs/one/ledger.lock"} {
		commands := writing
		if strings.HasPrefix(name, "refs/") { // only commands that move that ref need it
			commands = writing[:1]
		}
		lock := filepath.Join(f.dir, ".git", name)
		if err := os.WriteFile(lock, []byte("theirs"), 0o600); err != nil {
			t.Fatal(err)
		}
		before := f.repository()
		var all sync.WaitGroup // they wait at the same time, and before they take locks of wfs
		for _, args := range commands {
			all.Go(func() {
				began := time.Now()
				out, exit := f.try(nil, append([]string{"wfs"}, strings.Fields(args)...)...)
				if exit != exitHeld || !strings.Contains(out, "error: git's lock "+lock+" is ") || !strings.Contains(out, "hint: ") {
					t.Errorf("%s: wfs %s: exit %d after %s: %s", name, args, exit, time.Since(began), out)
				}
				if runtime.GOOS == "linux" {
					testkit.Holds(t, out, "no process holds it", "hint: rm "+lock+" && wfs "+strings.Fields(args)[0])
				}
			})
		}
		all.Wait()
		refused += len(commands)
		if now := f.repository(); now != before {
			t.Errorf("%s: changed\n%s\nto\n%s", name, before, now)
		}
		if data, err := os.ReadFile(lock); string(data) != "theirs" {
			t.Errorf("%s is %q, %v", name, data, err)
		}
		if err := os.Remove(lock); err != nil {
			t.Fatal(err)
		}
	}
	f.ok("wfs", "checkpoint", "-m", "x")
	mine(f)
	f.sound()
	t.Logf("%d commands refused", refused)
}
