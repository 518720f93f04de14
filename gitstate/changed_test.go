package gitstate

import (
	"context"
	"encoding/binary"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/wfs-dev/wfs/gitstate/gitcmd"
	"github.com/wfs-dev/wfs/gitstate/object"
	"github.com/wfs-dev/wfs/gitstate/snapshot"
	"github.com/wfs-dev/wfs/internal/testkit"
	"github.com/wfs-dev/wfs/session"
)

// aged sets back the times of files of the work tree, so that git can distinguish them from files that change after it
// has read them, and makes git read them.
func (r *testRepo) aged() {
	r.t.Helper()
	long := time.Unix(at, 0)
	for _, p := range gitcmd.SplitZ([]byte(r.run("ls-files", "-z"))) {
		if info, err := os.Lstat(r.path(p)); err == nil && info.Mode().IsRegular() {
			chtimes(r.t, r.path(p), long)
		}
	}
	r.run("add", "-u")
}

// looksAt reports whether only some paths are passed to git, and which.
func (r *testRepo) looksAt() (paths []string, sure bool) {
	r.t.Helper()
	x, err := r.Objects.ReadIndex(context.Background(), r.Git.IndexPath())
	if err != nil {
		r.t.Fatal(err)
	}
	found := r.Files.Look(x, nil, session.Guard{})
	for _, p := range found.Others {
		found.Changed = append(found.Changed, strings.TrimSuffix(p, "/"))
	}
	slices.Sort(found.Changed)
	return found.Changed, !found.Unsure && len(found.Changed) <= snapshot.MaxNamed
}

// byGit returns the tree of the work tree after `git add -A`, starting from the present index.
func (r *testRepo) byGit() string {
	r.t.Helper()
	index := filepath.Join(r.home, "theirs")
	os.Remove(index)
	if err := gitcmd.CopyKeepingTime(r.Git.IndexPath(), index); err != nil && !gitcmd.Absent(err) {
		r.t.Fatal(err)
	}
	theirs := &testRepo{Repo: r.Repo, t: r.t, home: r.home, env: append(slices.Clone(r.env), "GIT_INDEX_FILE="+index)}
	theirs.run("-c", "core.splitIndex=false", "-c", "core.safecrlf=false", "add", "-A", "--ignore-errors", "--sparse",
		"--", ".", ":(exclude,top).wfs")
	return theirs.run("write-tree")
}

// TestChangedIsWhatGitFinds checks that the paths passed to git are all that git would have found: for all kinds of
// changes and settings, a snapshot and a checkpoint have the same files as after `git add -A`.
func TestChangedIsWhatGitFinds(t *testing.T) {
	defer drawn(t, 12)()
	drawnTrees, sure := 0, 0
	rapid.Check(t, func(rt *rapid.T) {
		r, _ := newSession(t)
		for _, f := range []string{"a", "b", "d/a", "d/b", "d/deep/a", "d/deep/b", "e/f/g", "e/h", "k/a", "k/b",
			"new\nline", "gl[o]b*", ":(top)x", ".wfs/config.yaml", "src/one.c", "src/two.c"} {
			r.write(f, f+"\nand more\n")
		}
		r.write(".gitignore", "*.o\nbuild/\n")
		r.write("empty", "")
		r.must(os.Symlink("a", r.path("link")))
		r.run("add", "-A")
		r.run("commit", "-q", "-m", "tracked")
		for _, s := range rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"core.fileMode false",
			"core.trustctime false", "core.checkStat minimal", "core.ignoreCase true",
			"core.precomposeUnicode true", "core.untrackedCache true", "core.splitIndex true", "core.autocrlf input",
			"index.version 4", "core.symlinks false", "feature.manyFiles true", "core.sparseCheckout true"}),
			0, 1, func(s string) string { return s }).Draw(rt, "settings") {
			key, value, _ := strings.Cut(s, " ")
			r.run("config", key, value)
		}
		if rapid.IntRange(0, 3).Draw(rt, "aged") > 0 {
			r.aged()
		}
		r.open(r.Git.Root)
		files := []string{"a", "b", "d/a", "d/deep/a", "d/deep/b", "e/f/g", "k/a", "new\nline", "gl[o]b*", ":(top)x",
			".wfs/config.yaml", "src/one.c", "empty", "link", ".gitignore"}
		for i := range rapid.IntRange(1, 4).Draw(rt, "changes") {
			p := rapid.SampledFrom(files).Draw(rt, "path")
			what := rapid.SampledFrom(slices.Sorted(maps.Keys(changesOf))).Draw(rt, "change")
			if info, err := os.Lstat(r.path(p)); err == nil || what == "new" || what == "write" {
				changesOf[what](r, p, info, i)
			}
		}
		drawnTrees++
		if _, ok := r.looksAt(); ok {
			sure++
		}
		want := r.byGit()
		trees := map[string]session.Tree{"a snapshot": r.snapshot().Tree}
		trees["a checkpoint"] = r.prepare(r.draft("")).Tree
		for what, got := range trees {
			// .wfs is as in HEAD, independent of the index.
			if got, want := r.filesBut(string(got), object.UserDir), r.filesBut(want, object.UserDir); got != want {
				rt.Errorf("%s holds\n%s\ngit adds\n%s", what, got, want)
			}
		}
	})
	t.Logf("%d trees, git was told where to look in %d", drawnTrees, sure)
	if sure == 0 {
		t.Error("git had to look at everything each time")
	}
}

// TestOneChangeIsWhatGitFinds tries every change alone: git treats a single path differently from several.
func TestOneChangeIsWhatGitFinds(t *testing.T) {
	t.Parallel()
	testkit.Long(t)
	r, _ := newSession(t)
	files := []string{"a", "d/a", "d/deep/a", "e/f g*", "k/a", ".wfs/config.yaml"}
	for _, f := range append(files, "d/b", "e/h", ".gitignore") {
		r.write(f, "*.o\n"+f+"\n")
	}
	r.run("add", "-A")
	r.run("commit", "-q", "-m", "tracked")
	base := r.head()
	told := 0
	for _, what := range slices.Sorted(maps.Keys(changesOf)) {
		for i, p := range files[:5] {
			r.run("reset", "-q", "--hard", string(base))
			r.run("clean", "-q", "-ffdx")
			r.run("update-index", "--really-refresh")
			r.aged()
			r.run("write-tree")
			info, err := os.Lstat(r.path(p))
			r.must(err)
			changesOf[what](r, p, info, 2*i)
			if _, sure := r.looksAt(); sure {
				told++
			}
			want := r.byGit()
			if got := r.snapshot().Tree; r.filesBut(string(got), object.UserDir) != r.filesBut(want, object.UserDir) {
				t.Errorf("%s: %s: a snapshot holds\n%s\ngit adds\n%s", p, what, r.files(string(got)), r.files(want))
			}
			r.mustRemove(".git/index") // with its marks
		}
	}
	t.Logf("git was told where to look in %d of %d", told, len(changesOf)*5)
}

// filesBut lists a tree without a directory.
func (r *testRepo) filesBut(tree, dir string) string {
	all := gitcmd.SplitZ([]byte(r.run("ls-tree", "-r", "-z", tree)))
	return strings.Join(slices.DeleteFunc(all, func(line string) bool { return strings.Contains(line, "\t"+dir+"/") }),
		"\n")
}

// changesOf are changes of an existing path.
var changesOf = map[string]func(r *testRepo, p string, info os.FileInfo, n int){
	"write": func(r *testRepo, p string, info os.FileInfo, n int) {
		if os.MkdirAll(filepath.Dir(r.path(p)), 0o777) == nil {
			_ = os.WriteFile(r.path(p), fmt.Appendf(nil, "%d\r\n", n), 0o666)
		}
	},
	"same size": func(r *testRepo, p string, info os.FileInfo, n int) {
		if info.Mode().IsRegular() && info.Size() > 0 {
			r.write(p, strings.Repeat("x", int(info.Size())))
		}
	},
	"replaced, of the same size and time": func(r *testRepo, p string, info os.FileInfo, n int) {
		if info.Mode().IsRegular() && info.Size() > 0 {
			r.write("tmp", strings.Repeat("y", int(info.Size())))
			chtimes(r.t, r.path("tmp"), info.ModTime())
			r.mustRename("tmp", p)
		}
	},
	"touched": func(r *testRepo, p string, info os.FileInfo, n int) {
		_ = os.Chtimes(r.path(p), time.Unix(at+1, 5), time.Unix(at+1, 5))
	},
	"runs": func(r *testRepo, p string, info os.FileInfo, n int) {
		_ = os.Chmod(r.path(p), info.Mode().Perm()^0o111)
	},
	"gone":      func(r *testRepo, p string, info os.FileInfo, n int) { r.mustRemove(p) },
	"dir gone":  func(r *testRepo, p string, info os.FileInfo, n int) { r.mustRemove(strings.SplitN(p, "/", 2)[0]) },
	"directory": func(r *testRepo, p string, info os.FileInfo, n int) { r.mustRemove(p); r.write(p+"/in", "in") },
	"link": func(r *testRepo, p string, info os.FileInfo, n int) {
		r.mustRemove(p)
		r.must(os.Symlink("k", r.path(p)))
	},
	"moved, and a link to it": func(r *testRepo, p string, info os.FileInfo, n int) {
		if dir := filepath.Dir(p); dir != "." {
			r.mustRename(dir, fmt.Sprintf("away%d", n))
			r.must(os.Symlink(filepath.Join(r.Git.Root, fmt.Sprintf("away%d", n)), r.path(dir)))
		}
	},
	"a file for a directory": func(r *testRepo, p string, info os.FileInfo, n int) {
		if dir := filepath.Dir(p); dir != "." && dir != ".wfs" {
			r.mustRemove(dir)
			r.write(dir, "file\n")
		}
	},
	"renamed": func(r *testRepo, p string, info os.FileInfo, n int) {
		_ = os.Rename(r.path(p), r.path(strings.ToUpper(p)))
	},
	"new": func(r *testRepo, p string, info os.FileInfo, n int) {
		for _, name := range []string{"new *[x]?", "new\n:!x", "more/and/more", "x.o", "build/x", "empty directory/",
			"Ünew"} {
			if dir := filepath.Dir(p); strings.HasSuffix(name, "/") {
				_ = os.MkdirAll(r.path(filepath.Join(dir, name)), 0o777)
			} else if os.MkdirAll(filepath.Dir(r.path(filepath.Join(dir, name))), 0o777) == nil && n%2 == 0 {
				_ = os.WriteFile(r.path(filepath.Join(dir, name)), []byte(name), 0o666)
			}
		}
	},
	"rules": func(r *testRepo, p string, info os.FileInfo, n int) {
		_ = os.WriteFile(r.path(".gitignore"), []byte("new*\n!*.o\nd/\n"), 0o666)
	},
	"attributes": func(r *testRepo, p string, info os.FileInfo, n int) {
		r.write(".gitattributes", "*.c text eol=crlf\na text\n")
	},
	"staged": func(r *testRepo, p string, info os.FileInfo, n int) { r.stages("add", "-f", p) },
	"intended": func(r *testRepo, p string, info os.FileInfo, n int) {
		r.write("meant", "x")
		r.stages("add", "-N", "meant")
	},
	"not in git": func(r *testRepo, p string, info os.FileInfo, n int) { r.stages("rm", "-q", "--cached", p) },
	"assumed": func(r *testRepo, p string, info os.FileInfo, n int) {
		r.stages("update-index", "--assume-unchanged", p)
	},
	"skipped": func(r *testRepo, p string, info os.FileInfo, n int) { r.stages("update-index", "--skip-worktree", p) },
	"status":  func(r *testRepo, p string, info os.FileInfo, n int) { r.stages("status", "-s") },
}

// stages runs a git command that may fail.
func (r *testRepo) stages(args ...string) {
	_, _ = r.try(append([]string{"--literal-pathspecs"}, args...)...)
}

// TestChangedIsLittle checks that only changed paths are passed to git.
func TestChangedIsLittle(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	for i := range 50 {
		r.write(fmt.Sprintf("d%d/e/f%d", i%5, i), "x\n")
	}
	r.run("add", "-A")
	r.aged()
	r.run("commit", "-q", "-m", "aged")
	if got, sure := r.looksAt(); !sure || len(got) > 0 {
		t.Fatalf("%q, sure: %v", got, sure)
	}
	log := r.home + "/added"
	r.beforeGit(`for a; do if [ "$a" = add ]; then echo >> '` + log + "'; fi; done")
	r.snapshot()
	if _, err := os.Lstat(log); err == nil {
		t.Error("git was asked though nothing had changed")
	}
	r.write("d1/e/f1", "y\n")
	r.write("d1/new/x", "y\n")
	r.mustRemove("d2/e/f2")
	r.mustRemove("d3")
	r.must(os.Chmod(r.path("d4/e/f4"), 0o755))
	if got, sure := r.looksAt(); !sure || strings.Join(got, " ") != "d1/e/f1 d1/new d2/e/f2 d3 d4/e/f4" {
		t.Fatalf("%q, sure: %v", got, sure)
	}
	for i := range snapshot.MaxNamed { // more than are passed to git
		r.write(fmt.Sprintf("many%d", i), "x\n")
	}
	if _, sure := r.looksAt(); sure {
		t.Error("git would be told of too much")
	}
	if got, want := r.snapshot().Tree, r.byGit(); string(got) != want {
		t.Errorf("%s, git add -A makes %s", got, want)
	}
}

// TestChangedThoughItsTimeIsSetBack checks that an edit that keeps size and modification time is found by the time of
// the last change, although git itself, which compares seconds, may not notice it.
func TestChangedThoughItsTimeIsSetBack(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	r.write("b.txt", "b\n")
	r.run("add", "-A")
	r.aged()
	second := func() uint64 { return r.Git.FileTime() / uint64(time.Second) }
	for then := second(); second() == then; { // so that git could notice it, too
		time.Sleep(10 * time.Millisecond)
	}
	r.write("b.txt", "B\n")
	chtimes(t, r.path("b.txt"), time.Unix(at, 0))
	if got, sure := r.looksAt(); !sure || strings.Join(got, " ") != "b.txt" {
		t.Fatalf("%q, sure: %v", got, sure)
	}
	if got := r.run("cat-file", "-p", string(r.snapshot().Tree)+":b.txt"); got != "B" {
		t.Errorf("b.txt: %q", got)
	}
}

// TestChangedSinceItWasRead: files of the second in which a checkpoint began to read them are passed to git again, and
// no others.
func TestChangedSinceItWasRead(t *testing.T) {
	t.Parallel()
	r, _ := newSession(t)
	second := func() uint64 { return r.Git.FileTime() / uint64(time.Second) }
	next := func() {
		for then := second(); second() == then; {
			time.Sleep(5 * time.Millisecond)
		}
	}
	r.write("b.txt", "b\n")
	next()
	r.write("c.txt", "c\n")
	before := second()
	p := r.prepare(r.draft(""))
	r.publish(p)
	x, err := r.Objects.ReadIndex(context.Background(), r.Git.IndexPath())
	r.must(err)
	if after := second(); uint64(x.Written) < before || uint64(x.Written) > after {
		t.Errorf("read in %d; the checkpoint was made from %d to %d", x.Written, before, after)
	}
	st := mustStat(t, r.path("c.txt"))
	chtimes(t, r.Git.IndexPath(), st.ModTime()) // even on a slow machine
	if got, sure := r.looksAt(); !sure || strings.Join(got, " ") != "c.txt" {
		t.Errorf("%q, sure: %v", got, sure)
	}
	next()
	r.publish(r.prepare(r.draft(p.Ledger)))
	if got, sure := r.looksAt(); !sure || len(got) > 0 {
		t.Errorf("%q, sure: %v", got, sure)
	}
}

// TestUnchangedIsCertain: a file may have changed if any of its stat data differs, or if it is not older than the
// index.
func TestUnchangedIsCertain(t *testing.T) {
	t.Parallel()
	stat := func(n ...uint32) (b []byte) {
		for _, v := range n {
			b = binary.BigEndian.AppendUint32(b, v)
		}
		return b
	}
	id, empty := []byte{1}, []byte{2}
	is := object.FileLook{Changed: 20, ChangedNano: 21, Modified: 10, ModifiedNano: 11, Inode: 5, Mode: 0o100644,
		User: 7, Group: 8, Size: 9}
	e := object.IndexEntry{Mode: 0o100644, ID: id, Stat: stat(20, 21, 10, 11, 99, 5, 0o100644, 7, 8, 9)}
	x := &object.Index{Written: 11}
	if !x.Unchanged(&e, is, empty) {
		t.Error("a file that is as it was has changed")
	}
	for name, change := range map[string]func(*object.FileLook){
		"ctime": func(f *object.FileLook) { f.Changed++ }, "its nanoseconds": func(f *object.FileLook) { f.ChangedNano++ },
		"mtime":               func(f *object.FileLook) { f.Modified-- },
		"its nanoseconds too": func(f *object.FileLook) { f.ModifiedNano-- },
		"inode":               func(f *object.FileLook) { f.Inode++ }, "user": func(f *object.FileLook) { f.User++ },
		"group": func(f *object.FileLook) { f.Group++ },
		"size":  func(f *object.FileLook) { f.Size++ }, "executable": func(f *object.FileLook) { f.Mode |= 0o111 },
		"a link":      func(f *object.FileLook) { f.Mode = 0o120777 },
		"a directory": func(f *object.FileLook) { f.Mode = 0o040755 },
		"a pipe":      func(f *object.FileLook) { f.Mode = 0o010644 },
	} {
		now := is
		if change(&now); x.Unchanged(&e, now, empty) {
			t.Errorf("another %s does not count", name)
		}
	}
	for written := range int64(10) {
		if x.Written = written + 1; x.Unchanged(&e, is, empty) {
			t.Error("a file as young as the index cannot have changed")
		}
	}
	x.Written = 15
	if !x.Unchanged(&e, is, empty) {
		t.Error("a file that was modified before has changed")
	}
	e.Stat, is.ChangedNano = stat(20, 0, 10, 11, 99, 5, 0o100644, 7, 8, 9), 0 // a file system that counts in seconds
	if x.Unchanged(&e, is, empty) {
		t.Error("its time may have been set back")
	}
	x.Written, is.ChangedNano = 11, 21
	e.Stat, is.Size = stat(20, 21, 10, 11, 99, 5, 0o100644, 7, 8, 0), 0
	if x.Unchanged(&e, is, empty) { // git marks an entry of which it cannot know whether the file changed like that
		t.Error("a file that had something in it, and has nothing, is as it was")
	}
	if e.ID = empty; !x.Unchanged(&e, is, empty) {
		t.Error("a file that is empty, and was, has changed")
	}
}

// notHere skips a test that needs something that is missing here. With WFS_REQUIRE_SANDBOX, as in .ci/run, it fails
// instead.
func notHere(t *testing.T, why string) {
	t.Helper()
	if os.Getenv("WFS_REQUIRE_SANDBOX") != "" {
		t.Fatal(why)
	}
	t.Skip(why)
}
