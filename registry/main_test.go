package registry

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/wfs-dev/wfs/session"
)

// TestMain is also the main function of a second process, which holds both locks until its input ends.
func TestMain(m *testing.M) {
	dir := os.Getenv("WFS_TEST_HOLD")
	if dir == "" {
		os.Exit(m.Run())
	}
	who := Holder{PID: 123, Command: "wfs run", Since: time.Date(2026, 11, 20, 14, 2, 3, 0, time.UTC).Unix(), Session: "auth"}
	_, err := Open(dir).Session("auth").Lock(who)
	if err == nil {
		_, err = Open(dir).Worktree("main").Lock(who)
	}
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println("ready")
	io.Copy(io.Discard, os.Stdin)
	os.Exit(0)
}

// holder starts that process and returns a function that kills it.
func holder(t *testing.T, dir string) (kill func()) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), "WFS_TEST_HOLD="+dir)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	kill = func() {
		cmd.Process.Kill()
		cmd.Wait()
	}
	t.Cleanup(func() { in.Close(); kill() })
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "ready\n" {
		t.Fatalf("the other process said %q (%v)", line, err)
	}
	return kill
}

func clone(t testing.TB) *Clone { return Open(filepath.Join(t.TempDir(), "wfs")) }

// tip returns ledger commit number n.
func tip(n int) session.Commit { return session.Commit(strings.Repeat(fmt.Sprintf("%04x", n), 10)) }

func note(seq int64) session.Event {
	return session.Event{Seq: seq, At: time.Unix(1700000000+seq, 0).UTC(), Body: session.Noted{Text: fmt.Sprintf("note %d", seq)}}
}

func notes(from, to int64) []session.Event {
	var all []session.Event
	for seq := from; seq <= to; seq++ {
		all = append(all, note(seq))
	}
	return all
}

func open(t testing.TB, c *Clone, tip session.Commit) *Journal {
	t.Helper()
	j, err := c.Session("auth").Journal(tip)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { j.Close() })
	return j
}

func mustAppend(t testing.TB, j *Journal, events ...session.Event) {
	t.Helper()
	if err := j.Append(events...); err != nil {
		t.Fatal(err)
	}
}

func seqs(events []session.Event) string {
	var b strings.Builder
	for _, e := range events {
		fmt.Fprintf(&b, "%d ", e.Seq)
	}
	return strings.TrimSpace(b.String())
}

func files(t testing.TB, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		all[strings.TrimPrefix(filepath.ToSlash(path), filepath.ToSlash(dir)+"/")] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}
