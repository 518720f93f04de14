package gitstate

import (
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// againRepo is a work tree of which a snapshot was taken.
func againRepo(t *testing.T, rt *rapid.T) *testRepo {
	r, _ := newSession(t)
	for _, f := range []string{"a", "d/a", "d/deep/b", "e/f/g", "new\nline", ".wfs/config.yaml", "k/a", "k/b"} {
		r.write(f, f+"\nand more\n")
	}
	r.write(".gitignore", "*.o\nbuild/\n")
	r.write("empty", "")
	r.run("add", "-A")
	r.run("commit", "-q", "-m", "tracked")
	r.write("build/x", "ignored")
	if rapid.Bool().Draw(rt, "hollow") {
		r.must(os.MkdirAll(r.path("hollow/deep"), 0o755))
	}
	r.write("k/b", "edited")
	r.write("loose", "not tracked")
	if rapid.IntRange(0, 3).Draw(rt, "aged") > 0 {
		r.aged()
		r.write("k/b", "edited once more")
		for _, f := range []string{"k/b", "loose"} {
			chtimes(t, r.path(f), time.Unix(at, 0))
		}
	}
	r.open(r.root)
	r.snapshot()
	return r
}

// changeAgain lets something happen there, or nothing, and says what.
func (r *testRepo) changeAgain(rt *rapid.T, i int) string {
	files := []string{"a", "d/a", "d/deep/b", "e/f/g", "new\nline", ".wfs/config.yaml", "empty", "k/a", ".gitignore", "build/x", "loose"}
	change := rapid.SampledFrom(rapid.SampledFrom([][]string{
		{"nothing"}, slices.Sorted(maps.Keys(changesOf)), {"more that is ignored", "filled", "excluded", "committed", "build is a file", "staged", "not in git"},
	}).Draw(rt, "kind")).Draw(rt, "change")
	switch p := rapid.SampledFrom(files).Draw(rt, "path"); change {
	case "nothing":
	case "more that is ignored":
		r.mustRemove("build")
		r.write("build/y", "ignored as well")
	case "filled":
		r.write("hollow/deep/x", "no longer empty")
	case "excluded":
		r.write(".git/info/exclude", "loose\n")
	case "committed":
		r.stages("commit", "-q", "--allow-empty", "-m", "by hand")
	case "build is a file":
		r.mustRemove("build")
		r.write("build", "now it is not ignored")
	default:
		if info, err := os.Lstat(r.path(p)); err == nil || change == "new" || change == "write" {
			changesOf[change](r, p, info, i)
		}
	}
	return change
}

// A snapshot that is told from the one before it is the one that a process without memory takes, whatever happened in
// between.
func TestSnapshotAgain(t *testing.T) {
	defer drawn(t, 25)()
	if tellingDevice(t.TempDir()) == 0 {
		notHere(t, "this file system is not believed")
	}
	again, anew := 0, 0
	rapid.Check(t, func(rt *rapid.T) {
		r := againRepo(t, rt)
		for i := range rapid.IntRange(1, 3).Draw(rt, "rounds") {
			change := r.changeAgain(rt, i)
			last := r.last.Load()
			got := r.snapshot()
			if now := r.last.Load(); last != nil && now != nil && now.added.now == last.added.now {
				again++
			} else {
				anew++
			}
			fresh := &testRepo{Repo: r.Repo, t: r.t, home: r.home, env: r.env}
			fresh.open(r.root)
			if want := fresh.snapshot(); got.Tree != want.Tree || got.Index != want.Index || got.Head != want.Head {
				rt.Errorf("after %s:\n%s\na process without memory:\n%s", change, r.files(string(got.Tree)), r.files(string(want.Tree)))
			}
		}
	})
	t.Logf("%d snapshots were told from the one before, %d taken anew", again, anew)
	if again == 0 || anew == 0 {
		t.Error("one of the two ways was not taken")
	}
}

// Some rules are about directories alone.
func TestSnapshotAgainWithAFileForAnIgnoredDirectory(t *testing.T) {
	t.Parallel()
	r, _ := newSession(t)
	if tellingDevice(r.root) == 0 {
		notHere(t, "this file system is not believed")
	}
	r.write(".gitignore", "build/\n")
	r.run("add", "-A")
	r.run("commit", "-q", "-m", "rules")
	r.aged()
	r.write("build/x", "ignored")
	r.open(r.root)
	r.snapshot()
	last := r.last.Load()
	if last == nil || !last.ignored["build"] {
		t.Fatalf("build is not known to be an ignored directory: %+v", last)
	}
	r.mustRemove("build")
	r.write("build", "a file")
	if got := r.run("ls-tree", "--name-only", string(r.snapshot().Tree)); got != ".gitignore\na.txt\nbuild" {
		t.Errorf("%q", got)
	}
}

// A checkpoint that takes the index of the snapshot before it is the one that looks for itself, and leaves an index by which
// git finds nothing new.
func TestStageAgain(t *testing.T) {
	defer drawn(t, 12)()
	if tellingDevice(t.TempDir()) == 0 {
		notHere(t, "this file system is not believed")
	}
	again, anew := 0, 0
	rapid.Check(t, func(rt *rapid.T) {
		r := againRepo(t, rt)
		for i := range rapid.IntRange(1, 3).Draw(rt, "rounds") {
			if rapid.Bool().Draw(rt, "a snapshot") {
				r.snapshot()
			}
			change := r.changeAgain(rt, i)
			want, made := r.byGit(), []byte(nil)
			if last := r.last.Load(); last != nil {
				made, _ = os.ReadFile(r.snapshotIndex())
			}
			p := r.prepare(r.draft(r.resolve(LedgerRef(testID))))
			if now, _ := os.ReadFile(r.indexPath()); made != nil && bytes.Equal(now, made) {
				again++
			} else {
				anew++
			}
			r.publish(p)
			if got, want := r.filesBut(string(p.Tree), userDir), r.filesBut(want, userDir); got != want {
				rt.Errorf("after %s the checkpoint holds\n%s\ngit adds\n%s", change, got, want)
			}
			if out := r.run("status", "--porcelain", "--", ".", ":(exclude,top).wfs"); out != "" {
				rt.Errorf("after %s git status says\n%s", change, out)
			}
			r.fsck()
		}
	})
	t.Logf("%d checkpoints took the index of the snapshot before, %d looked for themselves", again, anew)
	if again == 0 || anew == 0 {
		t.Error("one of the two ways was not taken")
	}
}

// An index that could not be copied is none, and git must not begin with that: it would forget what is tracked though rules
// exclude it.
func TestStageAgainWithoutACopy(t *testing.T) {
	t.Parallel()
	r, _ := newSession(t)
	r.aged()
	r.snapshot()
	index, err := os.ReadFile(r.indexPath())
	r.must(err)
	head, err := r.Head(t.Context())
	r.must(err)
	if r.last.Load() == nil {
		notHere(t, "this file system is not believed")
	}
	to := filepath.Join(r.home, "stage")
	if _, ok, err := r.stageAgain(t.Context(), to, index, "", head); !ok || err != nil {
		t.Errorf("%t, %v", ok, err)
	}
	if _, ok, err := r.stageAgain(t.Context(), filepath.Join(r.home, "nowhere", "stage"), index, "", head); ok || err == nil {
		t.Errorf("into no directory: %t, %v", ok, err)
	}
	if _, ok, err := r.stageAgain(t.Context(), to, append(index, 'x'), "", head); ok || err != nil {
		t.Errorf("with another index: %t, %v", ok, err)
	}
}
