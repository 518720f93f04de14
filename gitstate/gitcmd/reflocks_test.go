package gitcmd

import (
	"context"
	"os"
	"path/filepath"
	"testing"
)

// TestNoteOfMoves: notes exist while git moves refs, and are removed afterwards.
func TestNoteOfMoves(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	hook := filepath.Join(r.CommonDir, "hooks", "reference-transaction") // hooks are disabled: it must not run
	if err := os.WriteFile(hook, []byte("#!/bin/sh\nexit 1\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	_, err := r.Run(context.Background(), Opts{Write: true}, "update-ref", "refs/wfs/one/ledger", "HEAD")
	if err != nil {
		t.Fatal(err)
	}
	if left := r.Locks.NotedRefs(); len(left) > 0 {
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
