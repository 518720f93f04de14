package gitstate

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wfs-dev/wfs/session"
)

// gits counts the git processes that something starts.
func (r *testRepo) gits(do func()) int {
	r.t.Helper()
	config, trace := filepath.Join(r.home, "gitconfig"), filepath.Join(r.home, "trace")
	mustWrite(r, config, "[trace2]\n\tnormalTarget = "+trace+"\n\tnormalBrief = true\n")
	do()
	if err := os.Remove(config); err != nil {
		r.t.Fatal(err)
	}
	text, err := os.ReadFile(trace)
	if err != nil {
		r.t.Fatal(err)
	}
	if err := os.Remove(trace); err != nil {
		r.t.Fatal(err)
	}
	return strings.Count("\n"+string(text), "\nstart ")
}

// TestStrandedLooksAtNoOtherRescue asks leftovers in a work tree that is gone, beside few rescues and many.
func TestStrandedLooksAtNoOtherRescue(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	r := newRepo(t)
	r.write("a.txt", "mine\n")
	snap := r.snapshot()
	rescue := func(n int) (ref string) {
		for range n {
			var err error
			if ref, err = r.Rescue(ctx, testID, "a test", snap, at); err != nil {
				t.Fatal(err)
			}
		}
		return ref
	}
	turn := session.Turn{Worktree: "main", HeadOld: "refs/heads/main", HeadOldCommit: snap.Head.Commit, HeadNew: "refs/heads/wfs/x",
		TreeOld: snap.Tree, IndexOld: snap.Index, Rescue: rescue(1)}
	if _, err := r.LogOp(ctx, session.Op{Kind: "new", Session: testID, Summary: "left", Ledger: session.Commit(fmt.Sprintf("%040x", 7919)), At: at, Turn: turn}); err != nil {
		t.Fatal(err)
	}
	r.run("update-ref", "refs/wfs-ops/away", "refs/wfs-ops/main")
	r.run("branch", "other")
	for branch, want := range map[string]string{"refs/heads/main": turn.Rescue, "refs/heads/other": ""} {
		ask := func() {
			got := ""
			ops, err := r.Stranded(ctx, branch)
			for _, op := range ops {
				got += op.Turn.Rescue
			}
			if err != nil || got != want {
				t.Errorf("on %s: %q, want %q (%v)", branch, got, want, err)
			}
		}
		few := r.gits(ask)
		rescue(5)
		if many := r.gits(ask); few == 0 || many != few {
			t.Errorf("on %s: %d gits, and %d beside five rescues more", branch, few, many)
		}
	}
}
