package registry

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/wfs-dev/wfs/internal/durable"
	"github.com/wfs-dev/wfs/session"
)

func TestLocksAcrossProcesses(t *testing.T) {
	t.Parallel()
	c := clone(t)
	if _, held, err := c.Session("auth").Driver(); held || err != nil {
		t.Fatal(held, err)
	}
	if _, err := os.Lstat(c.Dir()); !errors.Is(err, fs.ErrNotExist) {
		t.Fatal("Driver wrote something")
	}
	kill := holder(t, c.Dir())
	me := Holder{PID: 7, Command: "wfs checkpoint", Since: time.Date(2026, 11, 20, 23, 0, 0, 0, time.UTC).Unix()}
	_, err := c.Session("auth").Lock(me)
	var e *HeldError
	if !errors.As(err, &e) || !errors.Is(err, durable.ErrLocked) || e.Holder.Session != "auth" {
		t.Fatalf("Lock: %v", err)
	}
	if want := "session auth is in use by `wfs run` (pid 123, since 14:02 UTC)"; err.Error() != want {
		t.Fatalf("%q, want %q", err, want)
	}
	me.Since += 2 * 3600
	_, err = c.Worktree("main").Lock(me)
	if want := "this work tree is in use by `wfs run` (pid 123, since 2026-11-20 14:02 UTC)"; err == nil || err.Error() != want {
		t.Fatalf("%v, want %q", err, want)
	}
	h, held, err := c.Session("auth").Driver()
	if err != nil || !held || h.PID != 123 || h.Command != "wfs run" {
		t.Fatal(h, held, err)
	}
	if h, held, err = c.Worktree("main").Holder(); err != nil || !held || h.Session != "auth" {
		t.Fatal(h, held, err)
	}
	for _, lock := range []func() (*durable.Lock, error){
		func() (*durable.Lock, error) { return c.Session("other").Lock(me) },
		func() (*durable.Lock, error) { return c.Worktree("linked").Lock(me) },
	} {
		l, err := lock()
		if err != nil {
			t.Fatal(err)
		}
		l.Release()
	}
	kill()
	if h, held, err := c.Session("auth").Driver(); held || err != nil || h != (Holder{}) {
		t.Fatal("driven by the dead:", h, held, err)
	}
	l, err := c.Session("auth").Lock(me)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Release()
	if h, held, err := c.Session("auth").Driver(); !held || err != nil || h != me {
		t.Fatal(h, held, err)
	}
}

func TestHeldByNobodyKnowsWhom(t *testing.T) {
	t.Parallel()
	c := clone(t)
	if err := c.make(filepath.Join(c.Dir(), "sessions", "auth")); err != nil {
		t.Fatal(err)
	}
	l, err := durable.TryLock(filepath.Join(c.Dir(), "sessions", "auth", "driver.lock"), []byte("{garbage"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Release()
	if _, err = c.Session("auth").Lock(Holder{}); err == nil || err.Error() != "session auth is in use by another process" {
		t.Fatal(err)
	}
}

func TestWorktreesWithAnyName(t *testing.T) {
	t.Parallel()
	c := clone(t)
	names := []string{"main", "", ".", "..", "../../x", "a b", "a%20b", "ä", "\x00", ".hidden", strings.Repeat("long", 100), strings.Repeat("long", 101)}
	for _, name := range names { // all at once: each has a lock of its own
		l, err := c.Worktree(name).Lock(Holder{})
		if err != nil {
			t.Fatalf("%q: %v", name, err)
		}
		defer l.Release()
	}
	if got := len(mustDir(t, filepath.Join(c.Dir(), "worktrees"))); got != len(names) {
		t.Fatalf("%d directories for %d names", got, len(names))
	}
}

func TestLinksAreRefused(t *testing.T) {
	t.Parallel()
	for _, level := range []string{"", "sessions", "sessions/auth"} {
		t.Run(level, func(t *testing.T) {
			t.Parallel()
			c := clone(t)
			elsewhere := t.TempDir()
			at := filepath.Join(c.Dir(), filepath.FromSlash(level))
			if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(elsewhere, at); err != nil {
				t.Skip(err)
			}
			if _, err := c.Session("auth").Journal(""); !errors.Is(err, durable.ErrNotPrivate) {
				t.Errorf("Journal: %v", err)
			}
			if _, _, err := c.Session("auth").Peek(""); !errors.Is(err, durable.ErrNotPrivate) {
				t.Errorf("Peek: %v", err)
			}
			if _, err := c.Session("auth").Lock(Holder{}); !errors.Is(err, durable.ErrNotPrivate) {
				t.Errorf("Lock: %v", err)
			}
			if len(mustDir(t, elsewhere)) > 0 {
				t.Error("written through the link")
			}
		})
	}
}

func TestModes(t *testing.T) {
	t.Parallel()
	c := clone(t)
	j := open(t, c, "")
	mustAppend(t, j, note(1))
	for _, err := range []error{j.SetExclude(nil), j.Rotate(tip(1)), c.Session("auth").KeepTip(tip(1), nil, session.Files{session.FileSession: []byte("{}")}), c.Worktree("main").Claim("auth")} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, lock := range []func() (*durable.Lock, error){
		func() (*durable.Lock, error) { return c.Session("auth").Lock(Holder{}) },
		func() (*durable.Lock, error) { return c.Worktree("main").Lock(Holder{}) },
	} {
		l, err := lock()
		if err != nil {
			t.Fatal(err)
		}
		defer l.Release()
	}
	if _, err := j.RunDir("r1"); err != nil {
		t.Fatal(err)
	}
	err := filepath.WalkDir(c.Dir(), func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		want := fs.FileMode(0o600)
		if d.IsDir() {
			want = 0o700
		}
		if err == nil && info.Mode().Perm() != want {
			t.Errorf("%s has mode %04o, want %04o", path, info.Mode().Perm(), want)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestTip(t *testing.T) {
	t.Parallel()
	c := clone(t)
	j := open(t, c, "")
	mustAppend(t, j, note(1))
	want := session.Files{session.FileSession: []byte("{\"a\":1}\n"), session.FilePlan: []byte("p")}
	if err := c.Session("auth").KeepTip(tip(1), map[string]any{"goal": "log in\n"}, want); err != nil {
		t.Fatal(err)
	}
	if got := c.Session("auth").Tip(tip(1)); !reflect.DeepEqual(got, want) {
		t.Fatalf("got %q", got)
	}
	if got := c.Session("auth").Tip(tip(2)); got != nil {
		t.Fatalf("of another commit: %q", got)
	}
	var row struct{ Goal string }
	if c.Session("auth").Row(tip(1), &row) {
		t.Fatal("there is a row, and no journal of that commit")
	}
	if err := j.Rotate(tip(1)); err != nil {
		t.Fatal(err)
	}
	if !c.Session("auth").Row(tip(1), &row) || row.Goal != "log in\n" {
		t.Fatalf("row: %+v", row)
	}
	// Whatever happens to the file, it is used unchanged or not at all.
	path := filepath.Join(c.Dir(), "sessions", "auth", tipFile)
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for i := range data {
		bad := slices.Clone(data)
		bad[i] ^= 4
		for _, content := range [][]byte{bad, data[:i]} {
			if err := os.WriteFile(path, content, 0o600); err != nil {
				t.Fatal(err)
			}
			if got := Open(c.Dir()).Session("auth").Tip(tip(1)); got != nil {
				t.Fatalf("byte %d of %d changed: %q", i, len(data), got)
			}
			if row.Goal = ""; c.Session("auth").Row(tip(1), &row) && row.Goal != "log in\n" {
				t.Fatalf("byte %d of %d changed: row %q", i, len(data), row.Goal)
			}
		}
	}
	if got := c.Session("auth").Tip(tip(1)); !reflect.DeepEqual(got, want) {
		t.Errorf("what was read once is %q", got)
	}
	if got := c.Session("other").Tip(tip(1)); got != nil {
		t.Errorf("of another session: %q", got)
	}
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	if c.Session("auth").Row(tip(2), &row) {
		t.Error("a row of another commit")
	}
	mustAppend(t, j, note(2))
	if c.Session("auth").Row(tip(1), &row) {
		t.Error("a row is used although an event followed")
	}
}

func TestClaim(t *testing.T) {
	t.Parallel()
	c := clone(t)
	if id, err := c.Worktree("main").Claimed(); id != "" || err != nil {
		t.Fatal(id, err)
	}
	if err := c.Worktree("main").Claim("auth"); err != nil {
		t.Fatal(err)
	}
	if id, err := c.Worktree("main").Claimed(); id != "auth" || err != nil {
		t.Fatal(id, err)
	}
	if id, err := c.Worktree("other").Claimed(); id != "" || err != nil {
		t.Fatal(id, err)
	}
	for range 2 {
		if err := c.Worktree("main").Unclaim(); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(c.Worktree("main").claimFile(), []byte("garbage"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Worktree("main").Claimed(); !errors.Is(err, ErrCorrupt) {
		t.Fatalf("a claim that cannot be read is no absence: %v", err)
	}
}
