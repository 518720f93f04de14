package registry

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/wfs-dev/wfs/session"
)

func TestLitter(t *testing.T) {
	t.Parallel()
	c := Open(filepath.Join(t.TempDir(), "wfs"))
	write := func(name string, age time.Duration) {
		t.Helper()
		path := filepath.Join(c.Dir(), name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("12345"), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, p := range []string{path, filepath.Dir(path)} {
			if err := os.Chtimes(p, time.Time{}, time.Now().Add(-age)); err != nil {
				t.Fatal(err)
			}
		}
	}
	day := 24 * time.Hour
	write("sessions/one/runs/one-0001-aaaaaaaa/output.log", 40*day)
	write("sessions/one/runs/one-0002-bbbbbbbb/output.log", 40*day)
	write("sessions/one/runs/one-0003-cccccccc/output.log", day)
	write("worktrees/gone/index", 40*day)
	write("worktrees/claimed/claim", 40*day)
	write("worktrees/there/index", 40*day)
	runs, err := c.Session("one").OldRuns(time.Now().Add(-30*day), "one-0002-bbbbbbbb")
	if err != nil || len(runs) != 1 || filepath.Base(runs[0].Path) != "one-0001-aaaaaaaa" || runs[0].Bytes != 5 {
		t.Fatalf("%+v, %v", runs, err)
	}
	trees, err := c.WorktreeLitter(func(id string) (bool, error) { return id == "there", nil })
	if err != nil || len(trees) != 1 || filepath.Base(trees[0].Path) != "gone" {
		t.Fatalf("%+v, %v", trees, err)
	}
	for _, l := range append(runs, trees...) {
		if err := c.Remove(l); err != nil {
			t.Fatal(err)
		}
		if err := c.Remove(l); err != nil {
			t.Errorf("the second time: %v", err)
		}
		if left, err := os.ReadDir(filepath.Dir(l.Path)); err != nil || len(left) != 2 {
			t.Errorf("left: %v, %v", left, err)
		}
	}
	if err := c.Remove(Litter{Path: filepath.Dir(c.Dir())}); err == nil {
		t.Error("removed what is not below the state directory")
	}

	// Events beyond a deleted ledger are not litter; those of a session that was never created are.
	j, err := c.Session("two").Journal("")
	if err != nil {
		t.Fatal(err)
	}
	if err := j.Append(session.Event{Seq: 1, At: time.Unix(at, 0), Body: session.Created{ID: "two"}}); err != nil {
		t.Fatal(err)
	}
	if _, events, err := c.Session("two").Litter(); err != nil || events {
		t.Errorf("never born, and it has events: %v, %v", events, err)
	}
	if err := j.Rotate("1234567890123456789012345678901234567890"); err != nil {
		t.Fatal(err)
	}
	if err := j.Append(session.Event{Seq: 2, At: time.Unix(at, 0), Body: session.Noted{Text: "t"}}); err != nil {
		t.Fatal(err)
	}
	if l, events, err := c.Session("two").Litter(); err != nil || !events || l.Bytes == 0 {
		t.Errorf("%+v, %v, %v", l, events, err)
	}
}

const at = 1_700_000_000
