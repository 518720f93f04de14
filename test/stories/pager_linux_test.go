package stories

import (
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/wfs-dev/wfs/internal/testkit"
	"github.com/wfs-dev/wfs/internal/vt"
)

// atTerminal runs wfs with a terminal as its output, and returns the output and the exit code.
func atTerminal(r *testkit.Repo, width int, env []string, args ...string) (string, int) {
	r.T.Helper()
	master, tty, err := vt.Open(width, 0)
	if err != nil {
		r.T.Fatal(err)
	}
	defer master.Close()
	cmd := exec.Command(testkit.Wfs(r.T), args...)
	cmd.Dir, cmd.Env, cmd.Stdout = r.Dir, append(append(slices.Clip(r.Env), "TERM=dumb"), env...), tty
	if err := cmd.Start(); err != nil {
		r.T.Fatal(err)
	}
	_ = tty.Close()
	said, _ := io.ReadAll(master) // until all processes have closed the other end
	_ = cmd.Wait()
	return strings.ReplaceAll(string(said), "\r\n", "\n"), cmd.ProcessState.ExitCode()
}

func TestPager(t *testing.T) {
	r := plain(t)
	r.OK("git", "config", "core.pager", "sed 's/^/git: /'")
	const upper = "WFS_PAGER=sed 's/^/paged: /'"
	for _, c := range []struct {
		name  string
		env   []string
		args  string
		begin string
		lines int
	}{
		{"its own", []string{upper}, "log", "paged: *   2", 3},
		{"git's variable", []string{"GIT_PAGER=sed 's/^/var: /'"}, "log", "var: *   2", 3},
		{"git's configuration", nil, "log", "git: *   2", 3},
		{"none", []string{"WFS_PAGER="}, "log", "*   2", 3},
		{"cat", []string{"WFS_PAGER=cat"}, "log", "*   2", 3},
		{"not wanted", []string{upper}, "log --no-pager", "*   2", 3},
		{"JSON", []string{upper}, "log --json", `{"version":1`, 1},
		{"short answers", []string{upper}, "list", "*  one", 2},
		{"not there", []string{"WFS_PAGER=no-such-pager-here"}, "log", "*   2", 3},
		{"not executable", []string{"WFS_PAGER=/"}, "log", "*   2", 3},
		{"no shell", []string{upper, "PATH=/nowhere"}, "log", "", 0}, // no git either, so it prints an error
		{"left early", []string{"WFS_PAGER=head -n 1"}, "log", "*   2", 1},
		{"show", []string{upper}, "show 1", "paged: one@1", -1},
		{"diff", []string{upper}, "diff --color never", "paged: diff --git", -1},
	} {
		got, exit := atTerminal(r, 0, c.env, strings.Fields(c.args)...)
		if c.name == "no shell" {
			if exit == 0 {
				t.Errorf("%s: exit 0: %q", c.name, got)
			}
			continue
		}
		if exit != 0 || !strings.HasPrefix(got, c.begin) {
			t.Errorf("%s: exit %d: %q, want it to begin with %q", c.name, exit, got, c.begin)
		}
		if n := strings.Count(got, "\n"); c.lines >= 0 && n != c.lines {
			t.Errorf("%s: %d lines, want %d: %q", c.name, n, c.lines, got)
		}
	}
}

// TestPagerLeft runs a pager that exits long before the end of the output.
func TestPagerLeft(t *testing.T) {
	r := plain(t)
	r.Write("long.txt", strings.Repeat("a line of a long file\n", 100_000))
	r.OK("wfs", "checkpoint", "-m", "long")
	got, exit := atTerminal(r, 0, []string{"WFS_PAGER=head -n 2"}, "diff", "--color", "never")
	if exit != 0 || strings.Count(got, "\n") != 2 {
		t.Errorf("exit %d, %d lines", exit, strings.Count(got, "\n"))
	}
	got, exit = atTerminal(r, 0, []string{"WFS_PAGER=no-such-pager-here"}, "diff", "--color", "never")
	if lines := strings.Count(got, "\n"); exit != 0 || lines < 100_000 {
		t.Errorf("a pager that is not there: exit %d, %d lines", exit, lines)
	}
}

func TestNarrowTerminal(t *testing.T) {
	r := plain(t)
	r.OK("wfs", "new", strings.Repeat("a long goal ", 7), "--workflow", "plain", "--agent", "true")
	r.Write("x", "x\n")
	r.OK("wfs", "checkpoint", "-m", strings.Repeat("a long word ", 9))
	for _, args := range [][]string{{"list"}, {"log"}, {"status"}, {}, {"workflow", "list"}} {
		for _, width := range []int{40, 80} {
			got, exit := atTerminal(r, width, []string{"WFS_PAGER="}, append(args, "--color", "never")...)
			if exit != 0 || !strings.Contains(got, "…") {
				t.Errorf("%v: exit %d: %q", args, exit, got)
			}
			for _, line := range strings.Split(got, "\n") {
				if n := len([]rune(line)); n > width && !strings.Contains(line, "next:") && !strings.Contains(line, "in all:") {
					t.Errorf("%v: %d columns of %d: %q", args, n, width, line)
				}
			}
		}
		if wide, _ := atTerminal(r, 0, []string{"WFS_PAGER="}, args...); strings.Contains(wide, "…") {
			t.Errorf("%v: cut without a width: %q", args, wide)
		}
	}
}
