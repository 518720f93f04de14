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

	"github.com/wfs-dev/wfs/internal/testkit"
	"github.com/wfs-dev/wfs/session"
)

// aged sets the times of files of the work tree back, so that git can tell them from ones that change after it has read
// them, and lets git read them.
func (r *testRepo) aged() {
	r.t.Helper()
	long := time.Unix(at, 0)
	for _, p := range splitZ([]byte(r.run("ls-files", "-z"))) {
		if info, err := os.Lstat(r.path(p)); err == nil && info.Mode().IsRegular() {
			chtimes(r.t, r.path(p), long)
		}
	}
	r.run("add", "-u")
}

// looksAt reports whether git is told which paths to look at, and which those are.
func (r *testRepo) looksAt() (paths []string, sure bool) {
	r.t.Helper()
	x, err := r.privateIndex(r.indexPath())
	if err != nil {
		r.t.Fatal(err)
	}
	if x == nil || len(x.entries) == 0 {
		return nil, false
	}
	found := r.look(x, nil, session.Guard{})
	return found.changed, !found.unsure
}

// byGit is the tree that `git add -A` makes of the work tree, from the index as it is now.
func (r *testRepo) byGit() string {
	r.t.Helper()
	index := filepath.Join(r.home, "theirs")
	os.Remove(index)
	if err := copyKeepingTime(r.indexPath(), index); err != nil && !absent(err) {
		r.t.Fatal(err)
	}
	theirs := &testRepo{Repo: r.Repo, t: r.t, home: r.home, env: append(slices.Clone(r.env), "GIT_INDEX_FILE="+index)}
	theirs.run("-c", "core.splitIndex=false", "-c", "core.safecrlf=false", "add", "-A", "--ignore-errors", "--sparse", "--", ".", ":(exclude,top).wfs")
	return theirs.run("write-tree")
}

// What git is told of is all that it would have found: whatever changes in a work tree, with whatever settings, a snapshot
// and a checkpoint hold what `git add -A` adds.
func TestChangedIsWhatGitFinds(t *testing.T) {
	defer drawn(t, 12)()
	if tellingDevice(t.TempDir()) == 0 {
		notHere(t, "this file system is not believed")
	}
	drawnTrees, sure, ahead, found := 0, 0, 0, 0
	rapid.Check(t, func(rt *rapid.T) {
		r, _ := newSession(t)
		for _, f := range []string{"a", "b", "d/a", "d/b", "d/deep/a", "d/deep/b", "e/f/g", "e/h", "k/a", "k/b", "new\nline", "gl[o]b*", ":(top)x", ".wfs/config.yaml", "src/one.c", "src/two.c"} {
			r.write(f, f+"\nand more\n")
		}
		r.write(".gitignore", "*.o\nbuild/\n")
		r.write("empty", "")
		r.must(os.Symlink("a", r.path("link")))
		r.run("add", "-A")
		r.run("commit", "-q", "-m", "tracked")
		if rapid.IntRange(0, 3).Draw(rt, "remembered") > 0 {
			r.rememberAll()
		}
		for _, s := range rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"core.fileMode false", "core.trustctime false", "core.checkStat minimal", "core.ignoreCase true",
			"core.precomposeUnicode true", "core.untrackedCache true", "core.splitIndex true", "core.autocrlf input", "index.version 4", "core.symlinks false", "feature.manyFiles true", "core.sparseCheckout true"}),
			0, 1, func(s string) string { return s }).Draw(rt, "settings") {
			key, value, _ := strings.Cut(s, " ")
			r.run("config", key, value)
		}
		if rapid.IntRange(0, 3).Draw(rt, "aged") > 0 {
			r.aged()
		}
		r.open(r.root)
		files := []string{"a", "b", "d/a", "d/deep/a", "d/deep/b", "e/f/g", "k/a", "new\nline", "gl[o]b*", ":(top)x", ".wfs/config.yaml", "src/one.c", "empty", "link", ".gitignore"}
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
		if t := r.last.Load(); t != nil {
			found++
		}
		if rapid.Bool().Draw(rt, "ahead") {
			if a := r.looksAhead(); a != nil && a.index.scans != nil {
				defer func() {
					if a.index.scans == nil {
						ahead++
					}
				}()
			}
		}
		trees["a checkpoint"] = r.prepare(r.draft("")).Tree
		for what, got := range trees {
			// .wfs is as in HEAD, whatever is in the index.
			if got, want := r.filesBut(string(got), userDir), r.filesBut(want, userDir); got != want {
				rt.Errorf("%s holds\n%s\ngit adds\n%s", what, got, want)
			}
		}
	})
	t.Logf("%d trees, git was told where to look in %d, the look came ahead in %d, what lies beside was known in %d", drawnTrees, sure, ahead, found)
	if sure == 0 || !testing.Short() && (ahead == 0 || found == 0) { // two trees are not enough for all of it
		t.Error("git had to look at everything each time, nothing was found ahead, or nothing beside")
	}
}

// One path alone is another case for git than several. So every way to change something is tried by itself.
func TestOneChangeIsWhatGitFinds(t *testing.T) {
	t.Parallel()
	testkit.Long(t)
	r, _ := newSession(t)
	if tellingDevice(r.root) == 0 {
		notHere(t, "this file system is not believed")
	}
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
			if got := r.snapshot().Tree; r.filesBut(string(got), userDir) != r.filesBut(want, userDir) {
				t.Errorf("%s: %s: a snapshot holds\n%s\ngit adds\n%s", p, what, r.files(string(got)), r.files(want))
			}
			r.mustRemove(".git/index") // with what it was told
		}
	}
	t.Logf("git was told where to look in %d of %d", told, len(changesOf)*5)
}

// filesBut lists a tree without a directory.
func (r *testRepo) filesBut(tree, dir string) string {
	all := splitZ([]byte(r.run("ls-tree", "-r", "-z", tree)))
	return strings.Join(slices.DeleteFunc(all, func(line string) bool { return strings.Contains(line, "\t"+dir+"/") }), "\n")
}

// changesOf are ways to change something about a path, which is there.
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
			r.must(os.Symlink(filepath.Join(r.root, fmt.Sprintf("away%d", n)), r.path(dir)))
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
		for _, name := range []string{"new *[x]?", "new\n:!x", "more/and/more", "x.o", "build/x", "empty directory/", "Ünew"} {
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

// stages runs a git command that may not be possible.
func (r *testRepo) stages(args ...string) {
	_, _ = r.try(append([]string{"--literal-pathspecs"}, args...)...)
}

// Git is told of what changed and of nothing else, and of the rest it is not even asked.
func TestChangedIsLittle(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	if tellingDevice(r.root) == 0 {
		notHere(t, "this file system is not believed")
	}
	for i := range 50 {
		r.write(fmt.Sprintf("d%d/e/f%d", i%5, i), "x\n")
	}
	r.run("add", "-A")
	r.aged()
	r.run("commit", "-q", "-m", "aged")
	if got, sure := r.looksAt(); !sure || len(got) > 0 {
		t.Fatalf("%q, sure: %v", got, sure)
	}
	before := mustStat(t, r.indexPath())
	if _, err := r.Snapshot(context.Background(), ""); err != nil {
		t.Fatal(err)
	}
	if after := mustStat(t, filepath.Join(r.worktreeDir(), "index")); !after.ModTime().Equal(before.ModTime()) {
		t.Error("git wrote the index anew though nothing had changed")
	}
	r.write("d1/e/f1", "y\n")
	r.write("d1/new/x", "y\n")
	r.mustRemove("d2/e/f2")
	r.mustRemove("d3")
	r.must(os.Chmod(r.path("d4/e/f4"), 0o755))
	if got, sure := r.looksAt(); !sure || strings.Join(got, " ") != "d1/e/f1 d1/new d2/e/f2 d3 d4/e/f4" {
		t.Fatalf("%q, sure: %v", got, sure)
	}
	for i := range maxChanged { // more than git is told of
		r.write(fmt.Sprintf("many%d", i), "x\n")
	}
	if _, sure := r.looksAt(); sure {
		t.Error("git would be told of too much")
	}
	if got, want := r.snapshot().Tree, r.byGit(); string(got) != want {
		t.Errorf("%s, git add -A makes %s", got, want)
	}
}

// An edit that keeps size and time of modification is found by the time of its change, though git itself, which counts in
// seconds, may not have seen it.
func TestChangedThoughItsTimeIsSetBack(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	if tellingDevice(r.root) == 0 {
		notHere(t, "this file system is not believed")
	}
	r.write("b.txt", "b\n")
	r.run("add", "-A")
	r.aged()
	second := func() uint64 { return r.fileTime() / uint64(time.Second) }
	for then := second(); second() == then; { // git has a chance as well
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

// Of files that a checkpoint has read, git is not told again, however young the index is; of those that it may have read
// too early, and of all when somebody else wrote the index, it is.
func TestChangedSinceItWasRead(t *testing.T) {
	t.Parallel()
	r, _ := newSession(t)
	if tellingDevice(r.root) == 0 {
		notHere(t, "this file system is not believed")
	}
	r.write("b.txt", "b\n")
	r.write("c.txt", "c\n")
	for then := r.fileTime(); r.fileTime() <= then+uint64(freshByTick); {
		time.Sleep(5 * time.Millisecond)
	}
	r.write("c.txt", "C\n")
	before := r.fileTime()
	r.publish(r.prepare(r.draft("")))
	x, err := r.privateIndex(r.indexPath())
	r.must(err)
	if since := r.readSince(x); since < before || since > r.fileTime() {
		t.Errorf("read since %d; the checkpoint began at %d", since, before)
	}
	st, err := os.Lstat(r.path("c.txt"))
	r.must(err)
	r.noteRead(x, uint64(st.ModTime().UnixNano())+uint64(freshByTick)) // as if it had begun at once
	long := time.Unix(at, 0)
	chtimes(t, r.indexPath(), long) // every file is younger
	if got, sure := r.looksAt(); !sure || strings.Join(got, " ") != "c.txt" {
		t.Errorf("%q, sure: %v", got, sure)
	}
	r.write("b.txt", "B\n")
	if got, sure := r.looksAt(); !sure || strings.Join(got, " ") != "b.txt c.txt" {
		t.Errorf("%q, sure: %v", got, sure)
	}
	r.run("update-index", "--chmod=+x", "a.txt")
	chtimes(t, r.indexPath(), long)
	if got, sure := r.looksAt(); !sure || strings.Join(got, " ") != "a.txt b.txt c.txt" {
		t.Errorf("%q, sure: %v", got, sure)
	}
	if got, want := r.snapshot().Tree, r.byGit(); string(got) != want {
		t.Errorf("%s, git add -A makes %s", got, want)
	}
}

// Whatever of a file's looks differs, it may have changed; so may one that is as young as the index.
func TestUnchangedIsCertain(t *testing.T) {
	t.Parallel()
	stat := func(n ...uint32) (b []byte) {
		for _, v := range n {
			b = binary.BigEndian.AppendUint32(b, v)
		}
		return b
	}
	id, empty := []byte{1}, []byte{2}
	is := fileLook{changed: 20, changedNano: 21, modified: 10, modifiedNano: 11, inode: 5, mode: 0o100644, user: 7, group: 8, size: 9}
	e := indexEntry{mode: 0o100644, id: id, stat: stat(20, 21, 10, 11, 99, 5, 0o100644, 7, 8, 9)}
	x := &index{written: 11}
	if !x.unchanged(&e, is, empty) {
		t.Error("a file that is as it was has changed")
	}
	for name, change := range map[string]func(*fileLook){
		"ctime": func(f *fileLook) { f.changed++ }, "its nanoseconds": func(f *fileLook) { f.changedNano++ },
		"mtime": func(f *fileLook) { f.modified-- }, "its nanoseconds too": func(f *fileLook) { f.modifiedNano-- },
		"inode": func(f *fileLook) { f.inode++ }, "user": func(f *fileLook) { f.user++ }, "group": func(f *fileLook) { f.group++ },
		"size": func(f *fileLook) { f.size++ }, "executable": func(f *fileLook) { f.mode |= 0o111 }, "a link": func(f *fileLook) { f.mode = 0o120777 },
		"a directory": func(f *fileLook) { f.mode = 0o040755 }, "a pipe": func(f *fileLook) { f.mode = 0o010644 },
	} {
		now := is
		if change(&now); x.unchanged(&e, now, empty) {
			t.Errorf("another %s does not count", name)
		}
	}
	for written := range int64(10) {
		if x.written = written + 1; x.unchanged(&e, is, empty) {
			t.Error("a file as young as the index cannot have changed")
		}
	}
	last := uint64(20*time.Second + 21)
	for read, sure := range map[uint64]bool{0: false, last: false, last + uint64(freshByTick): false, last + uint64(freshByTick) + 1: true} {
		if x.read = read; x.unchanged(&e, is, empty) != sure {
			t.Errorf("read at %d, changed at %d: certain is not %v", read, last, sure)
		}
	}
	e.stat, is.changedNano = stat(20, 0, 10, 11, 99, 5, 0o100644, 7, 8, 9), 0 // a file system that counts in seconds
	if x.unchanged(&e, is, empty) {
		t.Error("a tick of a file system that counts in seconds is short")
	}
	x.read = last + uint64(freshBySecond)
	if !x.unchanged(&e, is, empty) {
		t.Error("a file that was left alone for seconds has changed")
	}
	x.written, is.changedNano = 11, 21
	e.stat, is.size = stat(20, 21, 10, 11, 99, 5, 0o100644, 7, 8, 0), 0
	if x.unchanged(&e, is, empty) { // git marks an entry that it could not tell from a changed one like that
		t.Error("a file that had something in it, and has nothing, is as it was")
	}
	if e.id = empty; !x.unchanged(&e, is, empty) {
		t.Error("a file that is empty, and was, has changed")
	}
}

// What git passes over without a word is not taken for done.
func TestAccounts(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	r.write(".gitignore", "*.log\n/build\n")
	r.write("d/in.txt", "in\n")
	r.run("add", "-A")
	r.write("new.txt", "new\n")
	r.write("dir/new.txt", "new\n")
	r.write("x.log", "log\n")
	r.write("build/x.o", "o\n")
	r.remove(r.path("a.txt"))
	index := filepath.Join(t.TempDir(), "index")
	if err := copyKeepingTime(r.indexPath(), index); err != nil {
		t.Fatal(err)
	}
	changed := []string{"a.txt", "build", "dir", "new.txt", "x.log"}
	accounts := func(ignored []string) (list []string) {
		x, _, err := r.readParsed(context.Background(), index)
		if err != nil || x == nil {
			t.Fatal(x, err)
		}
		for _, p := range changed {
			if r.accounts(x, p, ignored) {
				list = append(list, p)
			}
		}
		return list
	}
	if got := accounts(nil); len(got) > 0 {
		t.Errorf("before: %q", got)
	}
	report, err := r.addOnce(context.Background(), index, []string{":(top,literal)a.txt", ":(top,literal)build", ":(top,literal)dir", ":(top,literal)new.txt", ":(top,literal)x.log"}, "-A")
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"build", "x.log"}; !slices.Equal(report.ignored, want) {
		t.Errorf("ignored: %q", report.ignored)
	}
	if got := accounts(report.ignored); !slices.Equal(got, changed) {
		t.Errorf("after: %q", got)
	}
	x, _, err := r.readParsed(context.Background(), index)
	if err != nil || x == nil {
		t.Fatal(x, err)
	}
	// Git adds nothing of an empty directory, and nothing of one in which all is ignored, and says nothing.
	r.must(os.MkdirAll(r.path("empty/deep"), 0o755))
	r.write("quiet/deep/x.log", "log\n")
	adds := func(paths ...string) bool {
		_, _, ok := r.addChanged(context.Background(), index, x, holding{how: "-A", changed: paths})
		return ok
	}
	if !adds("new.txt") || adds("quiet", "new.txt") || !adds("empty", "new.txt") {
		t.Error("what git passed over in silence was taken for added, or what it added was not")
	}
	if got := accounts(nil); !slices.Equal(got, []string{"a.txt", "dir", "new.txt"}) {
		t.Errorf("without what git said of ignored paths: %q", got)
	}
	r.write("new.txt", "edited\n")
	chtimes(t, r.path("new.txt"), time.Unix(at, 5))
	r.remove(r.path("dir/new.txt"))
	r.remove(r.path("dir"))
	r.write("a.txt", "back\n")
	if got := accounts(report.ignored); !slices.Equal(got, []string{"build", "x.log"}) {
		t.Errorf("changed since: %q", got)
	}
}

// notHere skips a test for which something is missing here. With WFS_REQUIRE_SANDBOX it fails instead, as in .ci/run.
func notHere(t *testing.T, why string) {
	t.Helper()
	if os.Getenv("WFS_REQUIRE_SANDBOX") != "" {
		t.Fatal(why)
	}
	t.Skip(why)
}
