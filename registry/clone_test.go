package registry

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/wfs-dev/wfs/internal/durable"
	"github.com/wfs-dev/wfs/session"
)

func TestLocksAcrossProcesses(t *testing.T) {
	t.Parallel()
	c := clone(t)
	if _, held, err := c.Driver("auth"); held || err != nil {
		t.Fatal(held, err)
	}
	if _, err := os.Lstat(c.Dir()); !errors.Is(err, fs.ErrNotExist) {
		t.Fatal("Driver wrote something")
	}
	kill := holder(t, c.Dir())
	me := Holder{PID: 7, Command: "wfs checkpoint", Since: time.Date(2026, 11, 20, 23, 0, 0, 0, time.UTC).Unix()}
	_, err := c.LockSession("auth", me)
	var e *HeldError
	if !errors.As(err, &e) || !errors.Is(err, durable.ErrLocked) || e.Holder.Session != "auth" {
		t.Fatalf("LockSession: %v", err)
	}
	if want := "session auth is driven by `wfs run` (pid 123, since 14:02 UTC)"; err.Error() != want {
		t.Fatalf("%q, want %q", err, want)
	}
	me.Since += 2 * 3600
	_, err = c.LockWorktree("main", me)
	if want := "this work tree is in use by `wfs run` (pid 123, since 2026-11-20 14:02 UTC)"; err == nil || err.Error() != want {
		t.Fatalf("%v, want %q", err, want)
	}
	h, held, err := c.Driver("auth")
	if err != nil || !held || h.PID != 123 || h.Command != "wfs run" {
		t.Fatal(h, held, err)
	}
	if h, held, err = c.WorktreeHolder("main"); err != nil || !held || h.Session != "auth" {
		t.Fatal(h, held, err)
	}
	for _, lock := range []func() (*durable.Lock, error){
		func() (*durable.Lock, error) { return c.LockSession("other", me) },
		func() (*durable.Lock, error) { return c.LockWorktree("linked", me) },
	} {
		l, err := lock()
		if err != nil {
			t.Fatal(err)
		}
		l.Release()
	}
	kill()
	if h, held, err := c.Driver("auth"); held || err != nil || h != (Holder{}) {
		t.Fatal("driven by the dead:", h, held, err)
	}
	l, err := c.LockSession("auth", me)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Release()
	if h, held, err := c.Driver("auth"); !held || err != nil || h != me {
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
	if _, err = c.LockSession("auth", Holder{}); err == nil || err.Error() != "session auth is driven by another process" {
		t.Fatal(err)
	}
}

func TestWorktreesWithAnyName(t *testing.T) {
	t.Parallel()
	c := clone(t)
	names := []string{"main", "", ".", "..", "../../x", "a b", "a%20b", "ä", "\x00", ".hidden", strings.Repeat("long", 100), strings.Repeat("long", 101)}
	for _, name := range names { // all at once: each has a lock of its own
		l, err := c.LockWorktree(name, Holder{})
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
	for _, level := range []string{"", "sessions", "sessions/auth", "sessions/auth/inbox"} {
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
			if err := c.Post("auth", "n", "note", "", 0); !errors.Is(err, durable.ErrNotPrivate) {
				t.Errorf("Post: %v", err)
			}
			if level != "sessions/auth/inbox" {
				if _, err := c.Journal("auth", ""); !errors.Is(err, durable.ErrNotPrivate) {
					t.Errorf("Journal: %v", err)
				}
				if _, _, err := c.Peek("auth", ""); !errors.Is(err, durable.ErrNotPrivate) {
					t.Errorf("Peek: %v", err)
				}
				if _, err := c.LockSession("auth", Holder{}); !errors.Is(err, durable.ErrNotPrivate) {
					t.Errorf("LockSession: %v", err)
				}
			}
			if len(mustDir(t, elsewhere)) > 0 {
				t.Error("written through the link")
			}
		})
	}
}

func TestModes(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no modes")
	}
	c := clone(t)
	j := open(t, c, "")
	mustAppend(t, j, note(1))
	for _, err := range []error{j.SetExclude(nil), j.Rotate(tip(1)), c.Post("auth", "n", "note", "", 0), c.WriteEntry(Entry{ID: "auth", Tip: tip(1)})} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, lock := range []func() (*durable.Lock, error){
		func() (*durable.Lock, error) { return c.LockSession("auth", Holder{}) },
		func() (*durable.Lock, error) { return c.LockWorktree("main", Holder{}) },
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

func TestIndex(t *testing.T) {
	t.Parallel()
	c := clone(t)
	if got := c.ReadIndex(); len(got) > 0 {
		t.Fatal(got)
	}
	if _, err := os.Lstat(c.Dir()); !errors.Is(err, fs.ErrNotExist) {
		t.Fatal("ReadIndex wrote something")
	}
	a := Entry{ID: "auth", Tip: tip(1), Goal: "log in\nand out", Status: session.StatusPaused, Phase: "RED", Lap: 2, Branch: "refs/heads/wfs/auth"}
	var writers sync.WaitGroup
	for n := range 4 {
		writers.Go(func() {
			e := a
			e.ID = session.ID(fmt.Sprintf("auth-%d", n))
			if err := c.WriteEntry(e); err != nil {
				t.Error(err)
			}
		})
	}
	writers.Wait()
	b := a
	b.ID, b.Tip, b.Lap = "auth-2", tip(2), 3
	if err := c.WriteEntry(b); err != nil {
		t.Fatal(err)
	}
	got := c.ReadIndex()
	b.V = FormatVersion
	if len(got) != 4 || !reflect.DeepEqual(got["auth-2"], b) {
		t.Fatal(got)
	}
}

func TestIndexIsTotal(t *testing.T) {
	t.Parallel()
	c := clone(t)
	if err := c.WriteEntry(Entry{ID: "auth", Tip: tip(1)}); err != nil {
		t.Fatal(err)
	}
	good, err := os.ReadFile(c.indexPath())
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"", "\x00\xff", "[]\n", "{}\n", "null\n", `{"v":2,"id":"b","tip":"1"}` + "\n", `{"v":1,"id":"../b","tip":"1"}` + "\n", `{"v":1,"id":"b"}` + "\n"} {
		if err := os.WriteFile(c.indexPath(), []byte(text+"\n"+string(good)+text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := c.ReadIndex(); len(got) != 1 || got["auth"].Tip != tip(1) {
			t.Errorf("with %q: %v", text, got)
		}
	}
	if err := os.Remove(c.indexPath()); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(c.indexPath(), 0o700); err != nil {
		t.Fatal(err)
	}
	if got := c.ReadIndex(); len(got) > 0 {
		t.Fatal(got)
	}
}

func TestInbox(t *testing.T) {
	t.Parallel()
	c := clone(t)
	take := func() string {
		t.Helper()
		requests, err := c.TakeInbox("auth")
		if err != nil {
			t.Fatal(err)
		}
		var out []string
		for _, r := range requests {
			out = append(out, r.Name+" "+r.Kind+" "+r.Text)
		}
		return strings.Join(out, "; ")
	}
	if got := take(); got != "" {
		t.Fatal(got)
	}
	for i, name := range []string{"c", "b", "a"} {
		if err := c.Post("auth", name, "note", fmt.Sprint("text ", i), int64(100+i/2)); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.Post("auth", "b", "pause", "", 200); !errors.Is(err, fs.ErrExist) {
		t.Fatalf("posted twice: %v", err)
	}
	dir := filepath.Join(c.Dir(), "sessions", "auth", "inbox")
	for name, text := range map[string]string{"x.json": "{", "y.json": "{}", "z.json": `{"v":2,"kind":"later"}`, durable.TempPrefix + "1": "half"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const want = "b note text 1; c note text 0; a note text 2"
	for range 2 {
		if got := take(); got != want {
			t.Fatalf("%q, want %q", got, want)
		}
	}
	for range 2 {
		if err := c.DropInbox("auth", "b"); err != nil {
			t.Fatal(err)
		}
	}
	if got := take(); got != "c note text 0; a note text 2" {
		t.Fatal(got)
	}
	left := files(t, dir)
	for _, name := range []string{"x.json.bad", "y.json.bad", "z.json"} {
		if _, ok := left[name]; !ok {
			t.Errorf("%s is not there: %v", name, left)
		}
	}
}
