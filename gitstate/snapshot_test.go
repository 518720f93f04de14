package gitstate

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/wfs-dev/wfs/gitstate/gitcmd"
	"github.com/wfs-dev/wfs/gitstate/snapshot"
	"github.com/wfs-dev/wfs/session"
)

func TestSnapshotHoldsTheWorkTree(t *testing.T) {
	t.Parallel()
	for _, format := range []string{"sha1", "sha256"} {
		t.Run(format, func(t *testing.T) {
			t.Parallel()
			r := newRepo(t, "--object-format="+format)
			r.write(".gitignore", "*.log\n")
			r.write("x.log", "ignored")
			r.write("dir/b.txt", "b\n")
			r.write("-odd name\n.txt", "odd\n")
			status := r.run("status", "--porcelain")
			before := mustStat(t, r.Git.IndexPath())
			s := r.snapshot()
			if got, want := r.files(string(
				s.Tree)), "100644 \"-odd name\\n.txt\"\n100644 .gitignore\n100644 a.txt\n100644 dir/b.txt"; got != want {
				t.Errorf("tree holds\n%s\nwant\n%s", got, want)
			}
			if len(s.Skipped) != 0 || s.Index != s.HeadTree || s.Head.Ref != "refs/heads/main" || s.Head.Commit != r.head() {
				t.Errorf("snapshot: %+v", s)
			}
			if s.Clean() {
				t.Error("a changed work tree is called clean")
			}
			if after := mustStat(t, r.Git.IndexPath()); !os.SameFile(before, after) || before.ModTime() != after.ModTime() {
				t.Error("the user's index was touched")
			}
			if now := r.run("status", "--porcelain"); now != status {
				t.Errorf("status was\n%s\nand is\n%s", status, now)
			}
			if again := r.snapshot(); again.Tree != s.Tree {
				t.Errorf("a second snapshot differs: %s, %s", s.Tree, again.Tree)
			}
			r.fsck()
		})
	}
}

func mustStat(t *testing.T, path string) os.FileInfo {
	t.Helper()
	st, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return st
}

// TestSnapshotSeesAnEditOfTheSameSecond: git regards a file as unchanged if size and times are those in the index,
// unless the index is not newer than the file: then it reads the file. A copy of the index with a new time would hide
// the edit.
func TestSnapshotSeesAnEditOfTheSameSecond(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	r.run("config", "core.trustctime", "false")
	r.run("config", "core.checkstat", "minimal")
	when := time.Unix(at, 0)
	chtimes(t, r.path("a.txt"), when)
	r.run("update-index", "--refresh", "-q")
	chtimes(t, r.Git.IndexPath(), when)
	r.write("a.txt", "b\n")
	chtimes(t, r.path("a.txt"), when)
	if s := r.snapshot(); s.Tree == s.HeadTree {
		t.Error("the edit was not seen")
	}
}

func chtimes(t *testing.T, path string, when time.Time) {
	t.Helper()
	if err := os.Chtimes(path, when, when); err != nil {
		t.Fatal(err)
	}
}

func TestSnapshotLeavesUserDirToTheUser(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	r.write(".wfs/config.yaml", "untracked\n")
	if s := r.snapshot(); r.files(string(s.Tree)) != "100644 a.txt" {
		t.Errorf("untracked .wfs became part of the snapshot:\n%s", r.files(string(s.Tree)))
	}
	r.run("add", ".wfs")
	s := r.snapshot()
	if r.files(string(s.Tree)) != "100644 a.txt" {
		t.Errorf("staged .wfs became part of the snapshot:\n%s", r.files(string(s.Tree)))
	}
	if s.Index == s.HeadTree {
		t.Error("Index does not show what is staged")
	}
	r.run("commit", "-q", "-m", "config")
	r.write(".wfs/config.yaml", "edited\n")
	r.write("a.txt", "A\n")
	r.run("rm", "-q", "--cached", ".wfs/config.yaml")
	s = r.snapshot()
	if got := r.run("cat-file", "-p", string(s.Tree)+":.wfs/config.yaml"); got != "untracked" {
		t.Errorf(".wfs of HEAD is not carried: %q", got)
	}
	if got := r.run("cat-file", "-p", string(s.Tree)+":a.txt"); got != "A" {
		t.Errorf("a.txt: %q", got)
	}
	r.write(".gitignore", ".wfs\n") // git then complains about the exclusion itself
	if s := r.snapshot(); len(s.Skipped) != 0 || !strings.Contains(r.files(string(s.Tree)), ".gitignore") {
		t.Errorf("with an ignored .wfs: %+v", s)
	}
}

func TestSnapshotNamesWhatItCannotHold(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	for _, nested := range []string{"empty", "deep/full", "staged", "linked"} {
		r.run("init", "-q", r.path(nested))
		if nested != "empty" {
			r.write(nested+"/f", "f\n")
			r.run("-C", nested, "add", "f")
			r.run("-C", nested, "commit", "-q", "-m", "f")
		}
		if nested == "linked" {
			r.run("-c", "advice.addEmbeddedRepo=false", "add", "linked")
			r.run("commit", "-q", "-m", "a gitlink that the user wants")
		}
	}
	r.run("-c", "advice.addEmbeddedRepo=false", "add", "staged")
	r.write("z.txt", "z\n")
	r.write("bad.enc", "no mark")
	r.write("bad.flt", "x")
	r.write(".gitattributes", "*.enc text working-tree-encoding=UTF-16\n*.flt filter=broken\n")
	r.run("config", "filter.broken.clean", "false")
	r.run("config", "filter.broken.required", "true")
	r.write("crlf.txt", "one\r\ntwo\r\n")
	r.run("config", "core.autocrlf", "input")
	r.run("config", "core.safecrlf", "true")
	want := "bad.enc bad.flt deep/full empty staged"
	if os.Getuid() != 0 {
		r.write("secret", "s")
		r.write("closed/x", "x")
		chmod(t, r.path("secret"), 0)
		chmod(t, r.path("closed"), 0)
		t.Cleanup(func() { chmod(t, r.path("closed"), 0o755) })
		want = "bad.enc bad.flt closed deep/full empty secret staged"
	}
	s := r.snapshot()
	if got := paths(s.Skipped); got != want {
		t.Errorf("skipped %q, want %q: %+v", got, want, s.Skipped)
	}
	tree := "100644 .gitattributes\n100644 a.txt\n100644 crlf.txt\n160000 linked\n100644 z.txt"
	if got := r.files(string(s.Tree)); got != tree {
		t.Errorf("tree holds\n%s\nwant\n%s", got, tree)
	}
	if out := r.run("ls-files", "-s", "staged"); !strings.HasPrefix(out, "160000") {
		t.Errorf("the user's index lost what was staged: %q", out)
	}
}

func chmod(t *testing.T, path string, mode os.FileMode) {
	t.Helper()
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
}

func paths(skipped []session.Skip) string {
	var names []string
	for _, s := range skipped {
		names = append(names, s.Path)
	}
	return strings.Join(names, " ")
}

// TestReadAddReport tests git's messages about files that cannot be opened on their own, because root can read
// everything.
func TestReadAddReport(t *testing.T) {
	t.Parallel()
	report := snapshot.ReadAddReport([]byte(`warning: could not open directory 'closed/': Permission denied
error: open("two
lines"): Permission denied
error: unable to index file 'two
lines'
warning: in the working copy of 'x', LF will be replaced by CRLF the next time Git touches it
error: 'nested/' does not have a commit checked out
The following paths are ignored by one of your .gitignore files:
.wfs
hint: Use -f if you really want to add them.
error: pipe: can only add regular files, symbolic links or git-directories
`))
	if got := paths(report.Skipped); got != "closed two\nlines two\nlines nested pipe" || report.Unknown != "" ||
		report.Fatal != nil {
		t.Errorf("%q %+v", got, report)
	}
	long := "warning: could not open directory '" + strings.Repeat("dir/", 1100)
	report = snapshot.ReadAddReport(
		[]byte("error: unable to add 'git~1' to index\nerror: cannot run x: No such file or directory\nerror: external filter 'x' failed\n" + long[:4095]))
	if got := paths(report.Skipped); !strings.HasPrefix(got, "git~1 dir/dir/") || !strings.HasSuffix(got, "/dir") ||
		report.Unknown != "" {
		t.Errorf("%q %+v", got, report)
	}
	report = snapshot.ReadAddReport(
		[]byte("fatal: cannot chdir to '../../../sm': No such file or directory\nfatal: 'git status --porcelain=2' failed in submodule a/sm2\n"))
	if report.Fatal == nil || report.Fatal.Path != "a/sm2" || report.Unknown != "" {
		t.Errorf("%+v", report)
	}
	if report := snapshot.ReadAddReport([]byte("error: something new\n")); report.Unknown == "" {
		t.Error("an error that names nothing we know must not pass")
	}
	if report := snapshot.ReadAddReport([]byte("fatal: out of memory\n")); report.Fatal != nil || report.Unknown != "" {
		t.Errorf("%+v", report)
	}
}

func TestSnapshotOfAnUnmergedIndex(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	leaveConflict(r)
	_, err := r.Files.Snapshot(context.Background(), "")
	var ready *gitcmd.ReadyError
	if !errors.As(err, &ready) || ready.Code != gitcmd.NotMerged || ready.Detail != "a.txt" {
		t.Errorf("%v", err)
	}
}

// leaveConflict leaves a merge of two edits of a.txt unfinished.
func leaveConflict(r *testRepo) {
	r.run("switch", "-q", "-c", "other")
	r.write("a.txt", "other\n")
	r.run("commit", "-q", "-a", "-m", "other")
	r.run("switch", "-q", "main")
	r.write("a.txt", "main\n")
	r.run("commit", "-q", "-a", "-m", "main")
	if _, err := r.try("merge", "other"); err == nil {
		r.t.Fatal("no conflict")
	}
}

func TestSnapshotOfUnusualIndexes(t *testing.T) {
	t.Parallel()
	for name, prepare := range map[string]func(r *testRepo){
		"intent to add": func(r *testRepo) { r.run("add", "-N", "new.txt") },
		"version 4":     func(r *testRepo) { r.run("update-index", "--index-version", "4") },
		"split":         func(r *testRepo) { r.run("update-index", "--split-index") },
		"none":          func(r *testRepo) { os.Remove(r.Git.IndexPath()) },
		"partly staged": func(r *testRepo) {
			r.write("new.txt", "staged\n")
			r.run("add", "new.txt")
			r.write("new.txt", "new\n")
		},
		"executable": func(r *testRepo) { r.run("update-index", "--chmod=+x", "a.txt") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRepo(t)
			r.write("new.txt", "new\n")
			prepare(r)
			before, _ := os.ReadFile(r.Git.IndexPath())
			s := r.snapshot()
			if got := r.files(string(s.Tree)); got != "100644 a.txt\n100644 new.txt" {
				t.Errorf("tree holds\n%s", got)
			}
			if got := r.run("cat-file", "-p", string(s.Tree)+":new.txt"); got != "new" {
				t.Errorf("new.txt: %q", got)
			}
			if after, _ := os.ReadFile(r.Git.IndexPath()); string(after) != string(before) {
				t.Error("the user's index changed")
			}
		})
	}
}

func TestSnapshotHonoursExcludes(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	if err := os.WriteFile(filepath.Join(r.home, "ignore"), []byte("*.global"), 0o644); err != nil {
		t.Fatal(err)
	}
	r.run("config", "--global", "core.excludesFile", "~/ignore")
	exclude := filepath.Join(r.home, "session-exclude")
	if err := os.WriteFile(exclude, []byte("/.env\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	r.write("x.global", "x")
	r.write(".env", "secret")
	r.write("b.txt", "b\n")
	for range 2 {
		s, err := r.Files.Snapshot(context.Background(), exclude)
		if err != nil {
			t.Fatal(err)
		}
		if got := r.files(string(s.Tree)); got != "100644 a.txt\n100644 b.txt" {
			t.Errorf("tree holds\n%s", got)
		}
	}
	r.run("config", "--global", "--unset", "core.excludesFile")
	if err := os.MkdirAll(filepath.Join(r.home, ".config", "git"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(r.home, ".config", "git", "ignore"), []byte("b.txt\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	// a new command: settings are read once per command
	again, err := Open(context.Background(), gitcmd.Options{Dir: r.Root(), Env: r.env})
	if err != nil {
		t.Fatal(err)
	}
	s, err := again.Files.Snapshot(context.Background(), exclude)
	if err != nil {
		t.Fatal(err)
	}
	if got := r.files(string(s.Tree)); got != "100644 a.txt\n100644 x.global" {
		t.Errorf("with the default file, tree holds\n%s", got)
	}
}

func TestSnapshotOfALinkedWorktree(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	dir := filepath.Join(r.home, "main")
	r.run("worktree", "add", "-q", "-b", "side", dir)
	main := r.Repo
	r.open(dir)
	if r.Worktree() == main.Worktree() {
		t.Fatalf("two work trees share the id %q", r.Worktree())
	}
	r.write("side.txt", "s\n")
	if s := r.snapshot(); r.files(string(s.Tree)) != "100644 a.txt\n100644 side.txt" || s.Head.Ref != "refs/heads/side" {
		t.Errorf("%+v", s)
	}
}
