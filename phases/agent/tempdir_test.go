package agent

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wfs-dev/wfs/internal/durable"
)

// shortDir returns a temporary directory whose path is short enough for temporary directories of runs.
func shortDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "w")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = durable.RemoveTree(dir) })
	return dir
}

func TestRunsHaveTheirOwnTempDir(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.Temp = filepath.Join(shortDir(t), "tmp")
	b.agent(t, `echo $TMPDIR > where; mkdir -p $TMPDIR/a/b; echo x > $TMPDIR/a/b/c; chmod 500 $TMPDIR/a/b $TMPDIR/a`)
	b.run(t)
	at := strings.TrimSpace(b.read(t, b.Root, "where"))
	if filepath.Dir(at) != b.Temp {
		t.Errorf("TMPDIR=%s, want it below %s", at, b.Temp)
	}
	if left, _ := os.ReadDir(b.Temp); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	b.agent(t, `rm -rf "$TMPDIR"; echo ok > done`)
	b.run(t)
	if left, _ := os.ReadDir(b.Temp); len(left) > 0 {
		t.Errorf("left behind by one that removed it: %v", left)
	}
	b.agent(t, `rm -rf "$TMPDIR"; ln -s "$PWD" "$TMPDIR"`)
	b.run(t)
	if b.read(t, b.Root, "done") != "ok\n" {
		t.Error("a link was followed")
	}
}

func TestTempDirsOfTheDeadAreRemoved(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.Temp = shortDir(t)
	held, err := durable.TryLock(filepath.Join(b.Temp, "0000held"+tempLock), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer held.Release()
	for _, dir := range []string{"0000held", "0000dead"} {
		if err := os.MkdirAll(filepath.Join(b.Temp, dir, "sub"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(b.Temp, "0000dead"+tempLock), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	b.agent(t, "true")
	b.run(t)
	var left []string
	entries, _ := os.ReadDir(b.Temp)
	for _, e := range entries {
		left = append(left, e.Name())
	}
	if got := strings.Join(left, " "); got != "0000held 0000held"+tempLock {
		t.Errorf("left: %s", got)
	}
}

func TestTempDirWhereThePathIsLong(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.Temp = filepath.Join(t.TempDir(), strings.Repeat("long", 20))
	b.agent(t, `echo $TMPDIR > where`)
	b.run(t)
	at := strings.TrimSpace(b.read(t, b.Root, "where"))
	if len(at) > MaxTempDir || strings.HasPrefix(at, b.Temp) {
		t.Errorf("TMPDIR=%s", at)
	}
	if _, err := os.Stat(at); err == nil {
		t.Errorf("%s is left behind", at)
	}
}
