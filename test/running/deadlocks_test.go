package running

import (
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/wfs-dev/wfs/internal/testkit"
)

// TestBar10DeadLocks kills wfs together with its agent and the agent's git, which leaves the lock of the index. Any
// next command moves the lock away and continues. A lock from before the run, or one that a process holds, stays.
func TestBar10DeadLocks(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("who holds a lock can be found out on Linux only")
	}
	for name, c := range map[string]struct {
		args []string
		held bool
		says string
	}{
		"checkpoint":             {args: []string{"checkpoint"}, says: "was set aside"},
		"switch":                 {args: []string{"switch", "main"}, says: "was set aside"},
		"run":                    {args: []string{"run"}, says: "was set aside"},
		"a process has the lock": {args: []string{"checkpoint"}, held: true, says: "`sh -c exec 3"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			p.agent(`test ! -e "$HOME/again" || { echo work > work.txt; exit 0; }
echo > "$HOME/again"
echo $$ > "$HOME/pids"
git config filter.slow.clean 'echo $$ >> "$HOME/pids"; echo > "$HOME/works"; exec sleep 100'
echo 'slow.txt filter=slow' > .git/info/attributes
echo slow > slow.txt
git add slow.txt & echo $! >> "$HOME/pids"
wait
`)
			p.ok("wfs", "new", "one")
			before := ".git/refs/heads/before.lock"
			p.write(before, "somebody else's")
			r := p.start("wfs", "run")
			p.await("works")
			r.signal(syscall.SIGKILL)
			pids, err := os.ReadFile(filepath.Join(p.dir, "../home/pids"))
			if err != nil {
				t.Fatal(err)
			}
			for _, pid := range strings.Fields(string(pids)) {
				n, err := strconv.Atoi(pid)
				if err != nil {
					t.Fatal(err)
				}
				_ = syscall.Kill(n, syscall.SIGKILL) // or it died with wfs
			}
			r.wait()
			p.ok("git", "config", "--unset", "filter.slow.clean")
			if _, err := os.Stat(filepath.Join(p.dir, ".git/index.lock")); err != nil {
				t.Fatal(err)
			}
			if c.held {
				hold := p.start("sh", "-c", `exec 3>> .git/index.lock; echo > "$HOME/holds"; while ! test -e "$HOME/end"; do sleep 0.05; done`)
				p.await("holds")
				defer func() {
					p.write("../home/end", "")
					hold.wait()
				}()
			}
			out, exit := p.try(append([]string{"wfs"}, c.args...)...)
			if (exit == 0) == c.held {
				t.Fatalf("exit %d: %s", exit, out)
			}
			testkit.Holds(t, out, c.says)
			kept, err := filepath.Glob(filepath.Join(p.dir, ".git/wfs/sessions/one/runs/*/locks/index.lock"))
			if (len(kept) == 1) == c.held || err != nil {
				t.Errorf("kept: %q, %v", kept, err)
			}
			if _, err := os.Stat(filepath.Join(p.dir, before)); err != nil {
				t.Error(err)
			}
			if !c.held {
				testkit.Holds(t, p.ok("wfs", "log", "--events", "one"), "left git's lock .git/index.lock; it was set aside")
			}
		})
	}
}
