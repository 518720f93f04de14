package gitstate

import (
	"context"
	"strings"
	"testing"

	"github.com/wfs-dev/wfs/gitstate/handover"
)

// TestFate brings work to a branch in all common ways, and in ways that lose some of it.
func TestFate(t *testing.T) {
	t.Parallel()
	ours := "one\ntwo\nthree\nfour\nfive\nsix\nseven\n"
	commit := func(r *testRepo, message string) { r.run("add", "-A"); r.run("commit", "-q", "-m", message) }
	elsewhere := func(r *testRepo) { // main advances, with a change in the same file as well
		r.run("switch", "-q", "main")
		r.write("long.txt", "head\n"+strings.Repeat("line\n", 20))
		r.write("other.txt", "other\n")
		commit(r, "something else")
	}
	for _, c := range []struct {
		name string
		do   func(r *testRepo) // HEAD is on main; the work is handed over on branch feature
		want handover.Fate
	}{
		{"left alone", func(*testRepo) {}, handover.Fate{How: handover.FateHeld, Branch: "feature"}},
		{"the branch is gone", func(r *testRepo) { r.run("branch", "-q", "-D", "feature") },
			handover.Fate{How: handover.FateNowhere}},
		{"merged, and the branch deleted", func(r *testRepo) {
			elsewhere(r)
			r.run("merge", "-q", "--no-edit", "feature")
			r.run("branch", "-q", "-d", "feature")
		}, handover.Fate{How: handover.FateMerged, Branch: "main"}},
		{"fast-forwarded", func(r *testRepo) { r.run("merge", "-q", "--ff-only", "feature") },
			handover.Fate{How: handover.FateMerged, Branch: "main"}},
		{"in a tag", func(r *testRepo) { r.run("tag", "v1", "feature"); r.run("branch", "-q", "-D", "feature") },
			handover.Fate{How: handover.FateMerged, Branch: "tags/v1"}},
		{"squashed", func(r *testRepo) {
			elsewhere(r)
			r.run("merge", "-q", "--squash", "feature")
			r.run("commit", "-q", "-m", "my words")
			r.run("branch", "-q", "-D", "feature")
		}, handover.Fate{How: handover.FateSquashed, Branch: "main"}},
		{"squashed, and changed again since", func(r *testRepo) {
			elsewhere(r)
			r.run("merge", "-q", "--squash", "feature")
			r.run("commit", "-q", "-m", "my words")
			r.write("new.txt", "another\n")
			commit(r, "again")
		}, handover.Fate{How: handover.FateSquashed, Branch: "main"}},
		{"picked", func(r *testRepo) {
			elsewhere(r)
			r.run("cherry-pick", "feature")
			r.run("branch", "-q", "-D", "feature")
		}, handover.Fate{How: handover.FateSquashed, Branch: "main"}},
		{"squashed into a remote's main, fetched", func(r *testRepo) {
			r.run("switch", "-q", "-c", "tmp")
			r.run("merge", "-q", "--squash", "feature")
			r.run("commit", "-q", "-m", "their words")
			r.run("update-ref", "refs/remotes/origin/main", "HEAD")
			r.run("switch", "-q", "main")
			r.run("branch", "-q", "-D", "feature", "tmp")
		}, handover.Fate{How: handover.FateSquashed, Branch: "origin/main"}},
		{"amended where it was handed over", func(r *testRepo) {
			r.run("switch", "-q", "feature")
			r.run("commit", "-q", "--amend", "-m", "my words")
			r.run("switch", "-q", "main")
		}, handover.Fate{How: handover.FateHeld, Branch: "feature"}},
		{"while HEAD is on it", func(r *testRepo) { r.run("switch", "-q", "feature") },
			handover.Fate{How: handover.FateHeld, Branch: "feature"}},
		{"while HEAD is on it, and a remote has it", func(r *testRepo) {
			r.run("switch", "-q", "feature")
			r.run("update-ref", "refs/remotes/origin/feature", "HEAD")
			r.run("commit", "-q", "--amend", "-m", "my words")
		}, handover.Fate{How: handover.FateHeld, Branch: "origin/feature"}},
		{"merged, while HEAD is on it", func(r *testRepo) {
			r.run("merge", "-q", "--squash", "feature")
			r.run("commit", "-q", "-m", "in")
			r.run("switch", "-q", "feature")
		}, handover.Fate{How: handover.FateSquashed, Branch: "main"}},
		{"only some of it was taken", func(r *testRepo) {
			r.run("checkout", "-q", "feature", "--", "new.txt")
			commit(r, "some")
			r.run("branch", "-q", "-D", "feature")
		}, handover.Fate{How: handover.FateNowhere}},
		{"taken with a change", func(r *testRepo) {
			r.run("merge", "-q", "--squash", "feature")
			r.write("new.txt", ours+"and more\n")
			commit(r, "reviewed")
			r.run("branch", "-q", "-D", "feature")
		}, handover.Fate{How: handover.FateNowhere}},
		{"the same text in another binary", func(r *testRepo) {
			r.run("merge", "-q", "--squash", "feature")
			r.write("bin", "\x00\x01another")
			commit(r, "binary")
			r.run("branch", "-q", "-D", "feature")
		}, handover.Fate{How: handover.FateNowhere}},
		{"reverted later", func(r *testRepo) {
			r.run("merge", "-q", "--squash", "feature")
			r.run("commit", "-q", "-m", "in")
			r.run("revert", "--no-edit", "HEAD")
			r.run("branch", "-q", "-D", "feature")
		}, handover.Fate{How: handover.FateSquashed, Branch: "main"}},
		{"only on another session's branch",
			func(r *testRepo) { r.run("branch", "wfs/other", "feature"); r.run("branch", "-q", "-D", "feature") },
			handover.Fate{How: handover.FateNowhere}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := newRepo(t)
			r.write("long.txt", strings.Repeat("line\n", 20))
			r.run("add", "-A")
			r.run("commit", "-q", "-m", "base")
			r.run("switch", "-q", "-c", "feature")
			r.write("new.txt", ours)
			r.write("bin", "\x00\x01binary")
			r.write("long.txt", strings.Repeat("line\n", 20)+"tail\n")
			commit(r, "work")
			work := r.head()
			r.run("update-ref", "refs/wfs/x/ledger", string(work))
			r.run("switch", "-q", "main")
			c.do(r)
			got, err := r.Fate(context.Background(),
				handover.Work{Commit: work, Base: "refs/heads/main", Handed: "refs/heads/feature"})
			if err != nil || got != c.want {
				t.Errorf("%+v, want %+v (%v)", got, c.want, err)
			}
		})
	}
	t.Run("nothing changed", func(t *testing.T) {
		t.Parallel()
		r := newRepo(t)
		r.run("switch", "-q", "-c", "wfs/x")
		r.run("commit", "-q", "--allow-empty", "-m", "start")
		work := r.head()
		r.run("switch", "-q", "main")
		if got, err := r.Fate(context.Background(), handover.Work{Commit: work, Base: "refs/heads/main"}); err != nil ||
			got.How != handover.FateNothing {
			t.Errorf("%+v (%v)", got, err)
		}
	})
}
