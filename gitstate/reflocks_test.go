package gitstate

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/wfs-dev/wfs/session"
)

// Locks that a note names are removed, and no others.
func TestHealLocks(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	ctx := context.Background()
	mine, others := LedgerRef("one"), "refs/heads/main"
	if _, err := r.noteLocks([]string{mine, "HEAD"}); err != nil { // and killed
		t.Fatal(err)
	}
	for _, ref := range []string{mine, others, "HEAD"} {
		r.put(filepath.Join(r.commonDir, filepath.FromSlash(ref)+".lock"), "")
	}
	if err := r.HealLocks(ctx); err != nil {
		t.Fatal(err)
	}
	for ref, there := range map[string]bool{mine: false, "HEAD": false, others: true} {
		if _, err := os.Stat(filepath.Join(r.commonDir, filepath.FromSlash(ref)+".lock")); absent(err) == there {
			t.Errorf("the lock of %s: %v", ref, err)
		}
	}
	if left := r.notedRefs(); len(left) > 0 {
		t.Errorf("notes: %v", left)
	}
	// Without a note a lock is somebody else's.
	r.put(filepath.Join(r.commonDir, "HEAD.lock"), "")
	if err := r.HealLocks(ctx); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(r.commonDir, "HEAD.lock")); err != nil {
		t.Error(err)
	}
}

// A note is there while git moves refs, and gone afterwards.
func TestNoteOfMoves(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	hook := filepath.Join(r.commonDir, "hooks", "reference-transaction") // hooks are off: it must not be asked
	r.put(hook, "#!/bin/sh\nexit 1\n")
	if err := os.Chmod(hook, 0o700); err != nil {
		t.Fatal(err)
	}
	move := session.RefMove{Ref: LedgerRef("one"), New: r.head()}
	if err := r.moveRef(context.Background(), move, "test"); err != nil {
		t.Fatal(err)
	}
	if left := r.notedRefs(); len(left) > 0 {
		t.Errorf("notes stay: %v", left)
	}
	refs := refsIn([]string{"update-ref", "-m", "x", "--stdin"}, []byte("update refs/heads/a 1 2\ndelete refs/wfs/b/index 3\n"))
	want := []string{"HEAD", "refs/heads/a", "refs/wfs/b/index", "packed-refs"}
	if len(refs) != len(want) {
		t.Errorf("%v", refs)
	}
	for i := range want {
		if refs[i] != want[i] {
			t.Errorf("%v", refs)
		}
	}
}
