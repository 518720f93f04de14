package gitstate

import (
	"maps"
	"os"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// A snapshot that is told from the one before it is the one that a process without memory takes, whatever happened in
// between.
func TestSnapshotAgain(t *testing.T) {
	defer drawn(t, 25)()
	if tellingDevice(t.TempDir()) == 0 {
		notHere(t, "this file system is not believed")
	}
	again, anew := 0, 0
	rapid.Check(t, func(rt *rapid.T) {
		r, _ := newSession(t)
		files := []string{"a", "d/a", "d/deep/b", "e/f/g", "new\nline", ".wfs/config.yaml", "empty", "k/a", ".gitignore", "build/x", "loose"}
		for _, f := range []string{"a", "d/a", "d/deep/b", "e/f/g", "new\nline", ".wfs/config.yaml", "k/a", "k/b"} {
			r.write(f, f+"\nand more\n")
		}
		r.write(".gitignore", "*.o\nbuild/\n")
		r.write("empty", "")
		r.run("add", "-A")
		r.run("commit", "-q", "-m", "tracked")
		r.write("build/x", "ignored")
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
		for i := range rapid.IntRange(1, 3).Draw(rt, "rounds") {
			change := rapid.SampledFrom(rapid.SampledFrom([][]string{
				{"nothing"}, slices.Sorted(maps.Keys(changesOf)), {"more that is ignored", "excluded", "committed", "build is a file", "staged", "not in git"},
			}).Draw(rt, "kind")).Draw(rt, "change")
			switch p := rapid.SampledFrom(files).Draw(rt, "path"); change {
			case "nothing":
			case "more that is ignored":
				r.mustRemove("build")
				r.write("build/y", "ignored as well")
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
			last := r.last.Load()
			got := r.snapshot()
			if last != nil && r.last.Load() == last {
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
