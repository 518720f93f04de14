package gitstate

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/wfs-dev/wfs/gitstate/object"
	"github.com/wfs-dev/wfs/session"
)

// thereAndBack moves from the present state to a tree and back, with a rescue as in every move, and checks that
// everything is as before.
func (r *testRepo) thereAndBack(to session.Tree) {
	r.t.Helper()
	before, snap := r.disk(), r.snapshot()
	m, err := r.PlanMove(context.Background(), snap, to, "")
	if err == nil {
		m.Raw, err = r.RawBytes.Raw(context.Background(), m)
	}
	if err == nil {
		err = r.MoveTree(context.Background(), m)
	}
	if err != nil {
		r.t.Fatal(err)
	}
	if now := r.snapshot().Tree; now != to {
		r.t.Errorf("the work tree is %s, not %s", now, to)
	}
	back, err := r.PlanMove(context.Background(), r.snapshot(), snap.Tree, m.Raw)
	if err == nil {
		back.Raw, err = r.RawBytes.Raw(context.Background(), back)
	}
	if err == nil {
		err = r.MoveTree(context.Background(), back)
	}
	if err != nil {
		r.t.Fatal(err)
	}
	if after := r.disk(); !maps.Equal(after, before) {
		r.t.Errorf("back: %q, want %q", after, before)
	}
}

// TestBar02Twins has names that some file systems regard as the same, but that are different here, in both directions.
func TestBar02Twins(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	r.write("probe", "")
	if _, err := os.Lstat(r.path("PROBE")); err == nil || runtime.GOOS == "darwin" {
		t.Skip("this file system does not tell names apart")
	}
	os.Remove(r.path("probe"))
	r.run("config", "core.precomposeUnicode", "false")
	r.write("\u00e9", "composed\n")
	r.write("e\u0301", "decomposed\n")
	r.write("Dir/x", "1\n")
	r.write("dir/x", "2\n")
	r.thereAndBack(r.treeOf(map[string]string{"a.txt": "a\n", "\u00e9": "other\n", "DIR": "a file\n", "dir/X": "3\n"}))
}

// TestBar02IntentToAdd checks that a snapshot has the content of a file added with `git add -N`.
func TestBar02IntentToAdd(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	r.write("new", "intended\n")
	r.write("dir/new", "intended\n")
	r.run("add", "-N", ".")
	if got := r.files(string(r.snapshot().Tree)); got != "100644 a.txt\n100644 dir/new\n100644 new" {
		t.Errorf("a snapshot holds\n%s", got)
	}
	r.thereAndBack(r.treeOf(map[string]string{"a.txt": "b\n", "new/f": "f\n", "dir": "file\n"}))
}

// TestBar02Submodules: a submodule that is checked out stays as it is, and no snapshot has its files. One that is not
// checked out is moved.
func TestBar02Submodules(t *testing.T) {
	t.Parallel()
	gitlink := func(r *testRepo, commit session.Commit) session.Tree {
		return r.evilTree("sub", object.Entry{Mode: object.ModeGitlink, ID: string(commit)})
	}
	for name, c := range map[string]struct {
		lay  func(r, sub *testRepo) // after the submodule is in the index
		to   func(r, sub *testRepo) session.Tree
		want []string
	}{
		"checked out, to another commit": {func(r, sub *testRepo) { r.run("clone", "-q", sub.Git.Root, "sub") },
			func(r, sub *testRepo) session.Tree {
				sub.run("commit", "-q", "--allow-empty", "-m", "second")
				return gitlink(r, sub.head())
			}, []string{"sub"}},
		"dirty, to a file": {func(r, sub *testRepo) {
			r.run("clone", "-q", sub.Git.Root, "sub")
			r.write("sub/a.txt",
				"edited\n")
		},
			func(r, _ *testRepo) session.Tree { return r.treeOf(map[string]string{"sub": "file\n"}) }, []string{"sub"}},
		"moved on by hand, to a directory": {func(r, sub *testRepo) {
			r.run("clone", "-q", sub.Git.Root, "sub")
			r.run("-C", "sub", "-c", "user.name=A", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-m", "there")
		}, func(r, _ *testRepo) session.Tree { return r.treeOf(map[string]string{"sub/f": "file\n"}) }, []string{"sub"}},
		"not checked out, to nothing": {func(r, _ *testRepo) { _ = os.Mkdir(r.path("sub"), 0o755) },
			func(r, _ *testRepo) session.Tree { return r.treeOf(map[string]string{"b": "b\n"}) }, nil},
		"not checked out, with a file of the user's": {func(r, _ *testRepo) { r.write("sub/mine", "mine\n") },
			func(r, _ *testRepo) session.Tree { return r.treeOf(map[string]string{"sub": "file\n"}) }, []string{"sub"}},
		"the same commit": {func(r, sub *testRepo) {
			r.run("clone", "-q", sub.Git.Root, "sub")
			r.write("sub/mine",
				"mine\n")
		},
			func(r, sub *testRepo) session.Tree { return gitlink(r, sub.head()) }, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, sub := newRepo(t), newRepo(t)
			r.run("rm", "-q", "a.txt")
			r.run("update-index", "--add", "--cacheinfo", "160000,"+string(sub.head())+",sub")
			r.run("commit", "-q", "-m", "submodule")
			c.lay(r, sub)
			before := r.disk()
			if got := r.inTheWay(c.to(r, sub)); !slices.Equal(got, c.want) {
				t.Errorf("in the way: %q, want %q", got, c.want)
			}
			for name, what := range before {
				if strings.HasPrefix(name, "sub/") && r.disk()[name] != what {
					t.Errorf("%s is %q", name, r.disk()[name])
				}
			}
		})
	}
}

// TestBar02WriterDuringMoves has a process write one file, and create others, during moves. The content of the file
// before a move began must be in the work tree afterwards or in the move's rescue, unless the process has overwritten
// it since. Content written exactly while git writes that file may be lost: on a file system in memory, that is a whole
// burst of writes.
func TestBar02WriterDuringMoves(t *testing.T) {
	t.Parallel()
	r, _ := newSession(t)
	ctx := context.Background()
	r.write("f", "0\n")
	there := r.treeOf(map[string]string{"a.txt": "there\n", "g": "g\n"})
	back := r.snapshot().Tree
	var finished atomic.Int64
	var writer sync.WaitGroup
	bursts := make(chan int, 1)
	writer.Go(func() {
		n := int64(0)
		for burst := range bursts {
			for range burst {
				n++
				temp := filepath.Join(r.home, "temp")
				if os.WriteFile(temp, fmt.Appendf(nil, "%d\n", n), 0o644) == nil && os.Rename(temp, r.path("f")) == nil {
					finished.Store(n)
				}
			}
		}
	})
	newest := func(text string) int64 {
		var n int64
		_, _ = fmt.Sscan(text, &n)
		return n
	}
	moved, refused := 0, 0
	for i := range 12 {
		bursts <- []int{0, 1, 400}[i%3]
		last := int64(-1)
		if data, err := os.ReadFile(r.path("f")); err == nil {
			last = newest(string(data))
		}
		snap := r.snapshot()
		ref, err := r.Rescue(ctx, testID, "a test", snap, at)
		if err != nil {
			t.Fatal(err)
		}
		to := there
		if _, err := os.Lstat(r.path("g")); err == nil {
			to = back
		}
		m, err := r.PlanMove(ctx, snap, to, "")
		if err == nil && len(m.InTheWay) == 0 {
			err = r.MoveTree(ctx, m)
		}
		if err == nil {
			moved++
		} else {
			refused++
		}
		var kept int64 = -1
		if text, err := r.try("cat-file", "blob", ref+"^1:f"); err == nil { // without a ledger
			kept = newest(text)
		}
		if data, err := os.ReadFile(r.path("f")); err == nil {
			kept = max(kept, newest(string(data)))
		}
		if kept < last {
			t.Errorf("%d was finished before the move, and the newest that is left is %d", last, kept)
		}
	}
	close(bursts)
	writer.Wait()
	if moved == 0 {
		t.Error("no move came through")
	}
	t.Logf("%d moves against %d writes, %d of them refused, 0 lost", moved+refused, finished.Load(), refused)
}
