package running

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/wfs-dev/wfs/internal/testkit"
)

// TestBar10RunWaits checks that a run waits for a git lock that a person's editor holds longer than other commands
// wait.
func TestBar10RunWaits(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.agent("echo work > work.txt\necho $$ > \"$HOME/agent.pid\"\nmkfifo \"$HOME/go\"\nread -r line < \"$HOME/go\"\n")
	p.ok("wfs", "new", "one")
	r := p.start("wfs", "run")
	p.await("agent.pid")
	// A person commits with an editor, and takes longer than other commands would wait.
	p.write("a.txt", "edited\n")
	editor := p.start("env", "GIT_EDITOR=sh -c 'echo open > \"$HOME/open\"; for i in $(seq 1500); do test -e \"$HOME/close\" && break; sleep 0.02; done; false'", "git", "commit", "-q", "-a")
	p.await("open")
	p.write("../home/go", "go\n")
	r.await("waiting, for 10 min at most: git's lock " + filepath.Join(p.dir, ".git/index.lock"))
	if runtime.GOOS == "linux" {
		r.await("git is running here: `git commit -q -a` (pid ")
	}
	p.write("../home/close", "")
	editor.wait()
	if out, exit := r.wait(); exit != 0 {
		t.Fatalf("exit %d: %s", exit, out)
	}
	testkit.Holds(t, p.ok("wfs", "status"), "DONE at @")
	testkit.Holds(t, p.ok("git", "show", "HEAD:work.txt"), "work")
}

// TestBar10StrandedLocks checks that the locks of an agent's or a gate's killed git are moved away, and that the run
// continues at once. Locks from before the run, and locks that a live process holds, are left alone.
func TestBar10StrandedLocks(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("who holds a lock can be found out on Linux only")
	}
	p := newPlace(t)
	p.write(".wfs/config.yaml", "version: 1\nworkflow: plain\nagent: sh \"$HOME/agent.sh\"\ngates:\n  tests: {run: \"test ! -e work.txt || : > .git/HEAD.lock\", where: in-place}\n")
	p.ok("git", "commit", "-q", "-a", "-m", "gate")
	p.ok("wfs", "trust", "--yes")
	// The agent's git is killed in the middle of an add: it waits for a filter.
	p.agent(`echo work > work.txt
echo > "$HOME/works"
while ! test -e .git/refs/heads/held.lock; do sleep 0.01; done
git config filter.slow.clean 'echo $$ > "$HOME/filter.pid"; sleep 100'
echo 'slow.txt filter=slow' > .git/info/attributes
echo slow > slow.txt
git add slow.txt & git=$!
while ! test -s "$HOME/filter.pid"; do sleep 0.01; done
kill -9 $git "$(cat "$HOME/filter.pid")"
git config --unset filter.slow.clean
rm -f .git/info/attributes
`)
	p.ok("wfs", "new", "one")
	before := filepath.Join(p.dir, ".git/refs/heads/before.lock")
	p.write(".git/refs/heads/before.lock", "somebody else's")
	r := p.start("wfs", "run")
	p.await("works")
	hold := p.start("sh", "-c", `exec 3> .git/refs/heads/held.lock; while ! test -e "$HOME/end"; do sleep 0.05; done`)
	out, exit := r.wait()
	if exit != 0 {
		t.Fatalf("exit %d: %s", exit, out)
	}
	testkit.Holds(t, out, "a dead process left git's lock .git/index.lock; it was set aside", "left git's lock .git/HEAD.lock")
	if strings.Contains(out, "waiting, for") {
		t.Errorf("it waited: %s", out)
	}
	for _, path := range []string{before, filepath.Join(p.dir, ".git/refs/heads/held.lock")} {
		if _, err := os.Stat(path); err != nil {
			t.Error(err)
		}
	}
	kept, err := filepath.Glob(filepath.Join(p.dir, ".git/wfs/sessions/one/runs/*/locks/*"))
	if len(kept) != 2 {
		t.Errorf("kept: %q, %v", kept, err)
	}
	testkit.Holds(t, p.ok("git", "show", "HEAD:work.txt"), "work")
	testkit.Holds(t, p.ok("wfs", "log", "--events"), "left git's lock .git/index.lock; it was set aside")
	p.write("../home/end", "")
	hold.wait()
}
