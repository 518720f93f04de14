package gitstate

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/wfs-dev/wfs/gitstate/checkout"
	"github.com/wfs-dev/wfs/gitstate/gitcmd"
	"github.com/wfs-dev/wfs/gitstate/object"
	"github.com/wfs-dev/wfs/session"
)

// move plans and makes a move from the present state, and fails the test on errors.
func (r *testRepo) move(to session.Tree) {
	r.t.Helper()
	if err := r.tryMove(to); err != nil {
		r.t.Fatal(err)
	}
}

func (r *testRepo) tryMove(to session.Tree) error { return r.moveFrom(r.snapshot(), to) }

func (r *testRepo) moveFrom(from session.Snapshot, to session.Tree) error {
	m, err := r.PlanMove(context.Background(), from, to, "")
	if err == nil {
		m.Raw, err = r.RawBytes.Raw(context.Background(), m)
	}
	if err != nil {
		return err
	}
	return r.MoveTree(context.Background(), m)
}

// inTheWay returns the paths because of which a move from the present state is refused, and checks that it is.
func (r *testRepo) inTheWay(to session.Tree) []string {
	r.t.Helper()
	m, err := r.PlanMove(context.Background(), r.snapshot(), to, "")
	if err != nil {
		r.t.Fatal(err)
	}
	before := r.disk()
	if err := r.MoveTree(context.Background(), m); len(m.InTheWay) > 0 && !errors.Is(err, checkout.ErrInTheWay) {
		r.t.Errorf("the move was not refused: %v", err)
	}
	if len(m.InTheWay) > 0 && !maps.Equal(before, r.disk()) {
		r.t.Error("a refused move changed files")
	}
	var paths []string
	for _, s := range m.InTheWay {
		paths = append(paths, s.Path)
	}
	return paths
}

// disk returns the content of each path of the work tree, without directories.
func (r *testRepo) disk() map[string]string {
	r.t.Helper()
	return diskOf(r.t, r.Git.Root)
}

func diskOf(t interface{ Fatal(...any) }, root string) map[string]string {
	found := map[string]string{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(root, path)
		if rel == ".git" && d.IsDir() {
			return fs.SkipDir
		}
		if d.IsDir() || rel == ".git" {
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		if info.Mode()&fs.ModeSymlink != 0 {
			link, err := os.Readlink(path)
			found[rel] = "-> " + link
			return err
		}
		data, err := os.ReadFile(path)
		found[rel] = fmt.Sprintf("%v %s", info.Mode().Perm()&0o100 != 0, data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// treeOf makes a tree of files, by path. Content that begins with "-> " is a symbolic link, "x " an executable file.
func (r *testRepo) treeOf(files map[string]string) session.Tree {
	r.t.Helper()
	var list strings.Builder
	var objects []object.Object
	for path, content := range files {
		mode := object.ModeFile
		if link, ok := strings.CutPrefix(content, "-> "); ok {
			mode, content = object.ModeLink, link
		} else if data, ok := strings.CutPrefix(content, "x "); ok {
			mode, content = object.ModeExec, data
		}
		o := r.Objects.NewObject("blob", []byte(content))
		objects = append(objects, o)
		fmt.Fprintf(&list, "%s %s\t%s\x00", mode, o.ID, path)
	}
	if err := r.Objects.WriteObjects(context.Background(), objects...); err != nil {
		r.t.Fatal(err)
	}
	index := filepath.Join(r.home, "tree-index")
	os.Remove(index)
	_, err := r.Git.Run(context.Background(), gitcmd.Opts{Env: gitcmd.WithIndex(index), Stdin: []byte(list.String())},
		"update-index", "-z", "--index-info")
	if err != nil {
		r.t.Fatal(err)
	}
	tree, err := r.Objects.WriteTree(context.Background(), index)
	if err != nil {
		r.t.Fatal(err)
	}
	return tree
}

func TestMoveThereAndBack(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	r.write(".gitignore", "*.log\n")
	r.write("dir/one", "1\n")
	r.write("dir/deep/two", "2\n")
	r.write("keep.log", "ignored\n")
	before, head, index := r.disk(), r.run("symbolic-ref", "HEAD"), r.run("ls-files", "-s")
	there := r.treeOf(map[string]string{"dir": "now a file\n", "a.txt/b": "was a file\n", "run": "x #!/bin/sh\n",
		"l":          "-> dir",
		".gitignore": "*.log\n"})
	back := r.snapshot().Tree
	r.move(there)
	want := map[string]string{"dir": "false now a file\n", "a.txt/b": "false was a file\n", "run": "true #!/bin/sh\n",
		"l": "-> dir", ".gitignore": "false *.log\n", "keep.log": "false ignored\n"}
	if got := r.disk(); !maps.Equal(got, want) {
		t.Errorf("there: %q", got)
	}
	if got := r.snapshot().Tree; got != there {
		t.Errorf("a snapshot after the move is %s, not %s", got, there)
	}
	r.move(back)
	if got := r.disk(); !maps.Equal(got, before) {
		t.Errorf("back: %q, want %q", got, before)
	}
	if r.run("symbolic-ref", "HEAD") != head || r.run("ls-files", "-s") != index {
		t.Error("a move touched HEAD or the index")
	}
	r.fsck()
}

func TestMoveLeavesUserDir(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	r.write(".wfs/config.yaml", "version: 1\n")
	r.run("add", ".")
	r.run("commit", "-q", "-m", "config")
	r.write(".wfs/config.yaml", "version: 2\n")
	r.write(".wfs/new.yaml", "mine\n")
	r.move(r.treeOf(map[string]string{"b": "b\n", ".wfs/config.yaml": "version: 0\n", ".wfs/other": "theirs\n"}))
	want := map[string]string{"b": "false b\n", ".wfs/config.yaml": "false version: 2\n", ".wfs/new.yaml": "false mine\n"}
	if got := r.disk(); !maps.Equal(got, want) {
		t.Errorf("got %q", got)
	}
}

func TestPlanRefuses(t *testing.T) {
	t.Parallel()
	base := map[string]string{".gitignore": "*.log\nout/\n", "a.txt": "a\n", "dir/f": "f\n"}
	with := func(more map[string]string) map[string]string {
		all := maps.Clone(base)
		maps.Copy(all, more)
		return all
	}
	without := func(name string) map[string]string {
		all := maps.Clone(base)
		delete(all, name)
		return all
	}
	nested := func(dir string) func(*testRepo) {
		return func(r *testRepo) {
			r.write(dir+"/inner", "precious\n")
			r.run("init", "-q", dir)
		}
	}
	file := func(name string) func(*testRepo) { return func(r *testRepo) { r.write(name, "precious\n") } }
	tests := []struct {
		name string
		lay  func(*testRepo)
		to   map[string]string
		want []string
	}{
		{"an ignored file at the place", file("x.log"), with(map[string]string{"x.log": "theirs\n"}), []string{"x.log"}},
		{"an ignored file, the same one", file("x.log"), with(map[string]string{"x.log": "precious\n"}), []string{"x.log"}},
		{"an ignored file above", file("d.log"), with(map[string]string{"d.log/f": "theirs\n"}), []string{"d.log"}},
		{"an ignored directory at the place", file("out/o"), with(map[string]string{"out": "theirs\n"}), []string{"out/o"}},
		{"an ignored file below", file("dir/x.log"), nil, nil},
		{"an ignored file in an ignored directory", file("out/o"), with(map[string]string{"out/o": "theirs\n"}),
			[]string{"out/o"}},
		{"a free place in an ignored directory", file("out/o"), with(map[string]string{"out/p": "theirs\n"}), nil},
		{"an ignored file elsewhere", file("x.log"), with(map[string]string{"y.log": "theirs\n"}), nil},
		{"a directory with an ignored file is left", file("dir/x.log"), without("dir/f"), nil},
		{"a nested repository at the place", nested("n"), with(map[string]string{"n": "theirs\n"}), []string{"n"}},
		{"a nested repository above", nested("n"), with(map[string]string{"n/f": "theirs\n"}), []string{"n"}},
		{"an ignored nested repository above", nested("out"), with(map[string]string{"out/f": "theirs\n"}), []string{"out"}},
		{"a nested repository elsewhere", nested("n"), with(map[string]string{"m": "theirs\n"}), nil},
		{"a nested repository is left", nested("dir/n"), without("dir/f"), nil},
		{"a nested repository below", nested("dir/n"), nil, nil},
	}
	for _, tt := range tests {
		if tt.to == nil { // a directory that becomes a file
			tt.to = without("dir/f")
			tt.to["dir"] = "theirs\n"
			tt.want = []string{"dir/x.log"}
			if strings.Contains(tt.name, "repository") {
				tt.want = []string{"dir/n"}
			}
		}
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := newRepo(t)
			for name, content := range base {
				r.write(name, content)
			}
			r.run("add", ".")
			r.run("commit", "-q", "-m", "base")
			tt.lay(r)
			if got := r.inTheWay(r.treeOf(tt.to)); !slices.Equal(got, tt.want) {
				t.Errorf("in the way: %q, want %q", got, tt.want)
			}
		})
	}
}

// TestMoveDoesNotFollowLinks: files behind a symbolic link are somewhere else.
func TestMoveDoesNotFollowLinks(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	r.write(".gitignore", "*.log\n")
	r.write("dir/f", "f\n")
	r.write("dir/x.log", "mine\n")
	for name, to := range map[string]string{"link": "dir", "loop": "loop"} {
		if err := os.Symlink(to, r.path(name)); err != nil {
			t.Skip(err)
		}
	}
	before, back := r.disk(), r.snapshot().Tree
	r.move(r.treeOf(map[string]string{".gitignore": "*.log\n", "dir/f": "f\n", "link/f": "g\n",
		"link/x.log": "theirs\n", "loop/f": "l\n"}))
	want := map[string]string{".gitignore": "false *.log\n", "dir/f": "false f\n", "dir/x.log": "false mine\n",
		"link/f": "false g\n", "link/x.log": "false theirs\n", "loop/f": "false l\n"}
	if got := r.disk(); !maps.Equal(got, want) {
		t.Errorf("there: %q", got)
	}
	r.run("add", "-f", "link/x.log") // the index after a settled move
	r.move(back)
	if got := r.disk(); !maps.Equal(got, before) {
		t.Errorf("back: %q", got)
	}
}

func TestPlanAllowsAChangeOfCase(t *testing.T) {
	t.Parallel()
	for _, ignores := range []string{"false", "true"} {
		r := newRepo(t)
		r.run("config", "core.ignoreCase", ignores)
		if got := r.inTheWay(r.treeOf(map[string]string{"A.TXT": "a\n"})); got != nil {
			t.Errorf("core.ignoreCase %s: a change of case alone was refused: %q", ignores, got)
		}
	}
}

func TestPlanRefusesWhatWasSkipped(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	r.write("dir/secret", "s\n")
	s := r.snapshot()
	s.Skipped = []session.Skip{{Path: "dir/secret", Why: "held out"}, {Path: "big/", Why: "nested repository"}}
	for _, to := range []map[string]string{
		{"a.txt": "a\n"}, {"dir": "x\n"}, {"dir/secret": "t\n"}, {"dir/secret/x": "t\n"},
		{"a.txt": "a\n", "dir/secret": "s\n", "big/f": "x\n"},
	} {
		m, err := r.PlanMove(context.Background(), s, r.treeOf(to), "")
		if err != nil {
			t.Fatal(err)
		}
		if len(m.InTheWay) != 1 || m.InTheWay[0].Why == checkout.WayUnknown {
			t.Errorf("%v: in the way: %v", to, m.InTheWay)
		}
	}
	// Paths that the move does not touch do not count.
	m, err := r.PlanMove(context.Background(), s, r.treeOf(map[string]string{"dir/secret": "s\n", "b": "b\n"}), "")
	if err != nil || len(m.InTheWay) > 0 {
		t.Errorf("in the way: %v, %v", m.InTheWay, err)
	}
}

func TestPlanSubmodules(t *testing.T) {
	t.Parallel()
	for _, populated := range []bool{false, true} {
		r := newRepo(t)
		sub := newRepo(t)
		r.run("update-index", "--add", "--cacheinfo", "160000,"+string(sub.head())+",sub")
		r.run("commit", "-q", "-m", "submodule")
		var want []string
		if populated {
			r.run("clone", "-q", sub.Git.Root, "sub")
			want = []string{"sub"}
		} else if err := os.Mkdir(r.path("sub"), 0o755); err != nil {
			t.Fatal(err)
		}
		if got := r.inTheWay(r.treeOf(map[string]string{"a.txt": "a\n", "sub": "file\n"})); !slices.Equal(got, want) {
			t.Errorf("populated %v: in the way: %q, want %q", populated, got, want)
		}
		if !populated {
			r.run("checkout", "-q", "-f", ".")
		}
		// A move that does not touch it succeeds.
		m := r.snapshot()
		r.write("b", "b\n")
		r.move(m.Tree)
	}
}

// TestMoveRefusesLaterChanges: the move refuses changes that came after the plan, and git refuses those that came after
// the move's own last check.
func TestMoveRefusesLaterChanges(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	target := map[string]string{".gitignore": "*.log\nout/\n", "a.txt": "other\n", "new": "theirs\n", "x.log": "theirs\n",
		"dir": "theirs\n", "out": "theirs\n"}
	for name, later := range map[string]func(*testRepo){
		"an edit of the same size":   func(r *testRepo) { r.write("a.txt", "B\n") },
		"a file in a free place":     func(r *testRepo) { r.write("new", "mine\n") },
		"an ignored file in the way": func(r *testRepo) { r.write("x.log", "mine\n") },
		"an ignored file below":      func(r *testRepo) { r.write("dir/x.log", "mine\n") },
		"an ignored directory":       func(r *testRepo) { r.write("out/o", "mine\n") },
		"a repository below":         func(r *testRepo) { r.run("init", "-q", "dir/n") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRepo(t)
			r.write(".gitignore", "*.log\nout/\n")
			r.write("dir/f", "f\n")
			to := r.treeOf(target)
			m, err := r.PlanMove(ctx, r.snapshot(), to, "")
			if err != nil || len(m.InTheWay) > 0 {
				t.Fatal(m.InTheWay, err)
			}
			dir := filepath.Join(r.Git.PrivateDir(), "last-look")
			a, b, err := r.Mover.ThrowAway(ctx, m.From, to)
			if err = object.Join(err, r.Git.MakeGitDir(dir, string(a))); err == nil {
				err = r.Mover.FillIndex(ctx, dir, m.From)
			}
			if err != nil {
				t.Fatal(err)
			}
			later(r)
			before := r.disk()
			if err := r.Mover.Checkout(ctx, dir, b); err == nil {
				t.Error("git moved")
			}
			if err := r.MoveTree(ctx, m); err == nil {
				t.Error("moved")
			}
			if got := r.disk(); !maps.Equal(got, before) {
				t.Errorf("a refused move changed files: %q", got)
			}
		})
	}
}

// TestMoveSeesRacyEdits: an edit in the same clock tick as the snapshot does not change a file's stat data.
func TestMoveSeesRacyEdits(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	r.run("config", "core.trustctime", "false") // a test cannot set that time
	tick := time.Unix(at, 0)
	settle := func(path string) {
		if err := os.Chtimes(path, tick, tick); err != nil {
			t.Fatal(err)
		}
	}
	r.write("a.txt", "A\n")
	settle(r.path("a.txt"))
	m, err := r.PlanMove(context.Background(), r.snapshot(), r.treeOf(map[string]string{"a.txt": "other\n"}), "")
	if err != nil {
		t.Fatal(err)
	}
	settle(filepath.Join(r.Git.PrivateDir(), "index"))
	r.write("a.txt", "B\n")
	settle(r.path("a.txt"))
	if err := r.MoveTree(context.Background(), m); err == nil || r.read("a.txt") != "B\n" {
		t.Errorf("moved over an edit: %v, %q", err, r.read("a.txt"))
	}
}

// TestMoveWithoutSnapshotIndex: if the snapshot's index is gone, the move builds its index again, and is as careful.
func TestMoveWithoutSnapshotIndex(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	r.write("b", "b\n")
	m, err := r.PlanMove(context.Background(), r.snapshot(), r.treeOf(map[string]string{"a.txt": "A\n"}), "")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(r.Git.PrivateDir(), "index")); err != nil {
		t.Fatal(err)
	}
	r.write("b", "B\n")
	if err := r.MoveTree(context.Background(), m); err == nil {
		t.Error("moved over an edit")
	}
	r.write("b", "b\n")
	if err := r.MoveTree(context.Background(), m); err != nil {
		t.Error(err)
	}
	if got := r.disk(); !maps.Equal(got, map[string]string{"a.txt": "false A\n"}) {
		t.Errorf("got %q", got)
	}
}

// TestMoveAfterInterruption: a move that was killed has made some of its changes. A new snapshot and a new plan finish
// it, even if files that it wrote are ignored and so in no snapshot.
func TestMoveAfterInterruption(t *testing.T) {
	t.Parallel()
	from := map[string]string{".gitignore": "dist/\n", "a.txt": "a\n", "dir/f": "f\n", "gone": "g\n"}
	to := map[string]string{".gitignore": "dist/\n", "a.txt": "A\n", "dir": "file\n", "new/x": "x #!\n",
		"dist/kept": "forced\n",
		"dist/link": "-> kept"}
	steps := []func(*testRepo){
		func(r *testRepo) { os.Remove(r.path("gone")) },
		func(r *testRepo) { os.Remove(r.path("dir/f")) },
		func(r *testRepo) { os.Remove(r.path("dir")) },
		func(r *testRepo) { r.write("dir", "file\n") },
		func(r *testRepo) { os.Remove(r.path("a.txt")) },
		func(r *testRepo) { r.write("a.txt", "") },
		func(r *testRepo) { r.write("dist/kept", "for") },
		func(r *testRepo) { r.write("dist/kept", "forced\n") },
		func(r *testRepo) { os.Symlink("kept", r.path("dist/link")) },
		func(r *testRepo) { r.write("new/x", "#!\n") },
	}
	for done := range len(steps) + 1 {
		t.Run(fmt.Sprint(done), func(t *testing.T) {
			t.Parallel()
			r := newRepo(t)
			for name, content := range from {
				r.write(name, content)
			}
			target, before := r.treeOf(to), r.snapshot().Tree
			if err := r.Mover.Begin(before, target); err != nil {
				t.Fatal(err)
			}
			if err := os.MkdirAll(filepath.Join(r.Git.PrivateDir(), "move"), 0o700); err != nil {
				t.Fatal(err)
			}
			for _, name := range []string{"index", "index.lock"} {
				if err := os.WriteFile(filepath.Join(r.Git.PrivateDir(), "move", name), []byte("torn"), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			for _, step := range steps[:done] {
				step(r)
			}
			r.move(target)
			want := map[string]string{".gitignore": "false dist/\n", "a.txt": "false A\n", "dir": "false file\n",
				"new/x": "true #!\n", "dist/kept": "false forced\n", "dist/link": "-> kept"}
			if got := r.disk(); !maps.Equal(got, want) {
				t.Errorf("got %q", got)
			}
			if _, err := os.Stat(filepath.Join(r.Git.PrivateDir(), "moving")); !gitcmd.Absent(err) {
				t.Errorf("the note of the move is still there: %v", err)
			}
		})
	}
	t.Run("somebody else's file", func(t *testing.T) {
		t.Parallel()
		r := newRepo(t)
		for name, content := range from {
			r.write(name, content)
		}
		target, before := r.treeOf(to), r.snapshot().Tree
		if err := r.Mover.Begin(before, target); err != nil {
			t.Fatal(err)
		}
		r.write("dist/kept", "mine\n")
		if got := r.inTheWay(target); !slices.Equal(got, []string{"dist/kept"}) {
			t.Errorf("in the way: %q", got)
		}
	})
}

// boundByModes runs a test again in a process to which file modes apply, if they do not apply to this one, as for root.
// It reports whether it did.
func boundByModes(t *testing.T) bool {
	t.Helper()
	const inside = "WFS_TEST_BOUND"
	if os.Getuid() != 0 || os.Getenv(inside) != "" {
		return false
	}
	const caps = "-dac_override,-dac_read_search,-fowner"
	less := []string{"--bounding-set=" + caps, "--inh-caps=" + caps}
	if out, err := exec.Command("setpriv", append(less, "true")...).CombinedOutput(); err != nil {
		notHere(t, fmt.Sprintf("root is not bound by modes, and setpriv takes no rights away: %v: %s", err, out))
	}
	c := exec.Command("setpriv", append(less, os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")...)
	c.Env = append(os.Environ(), inside+"=1")
	out, err := c.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "--- PASS: "+t.Name()) {
		t.Errorf("%v\n%s", err, out)
	}
	return true
}

func TestMoveReportsWhatItCouldNotDo(t *testing.T) {
	t.Parallel()
	if filepath.Separator != '/' {
		t.Skip("needs a user whom file modes bind")
	}
	if boundByModes(t) {
		return
	}
	r := newRepo(t)
	r.write("dir/f", "f\n")
	if err := os.Chmod(r.path("dir"), 0o500); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.Chmod(r.path("dir"), 0o700) })
	if err := r.tryMove(r.treeOf(map[string]string{"a.txt": "a\n"})); err == nil {
		t.Error("a file that could not be deleted was not reported")
	}
}

// TestMoveOfUnnormalisedContent: content that git normalises looks changed right after a checkout. The move must not
// fail for that.
func TestMoveOfUnnormalisedContent(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	crlf := map[string]string{".gitattributes": "*.txt text eol=crlf\n", "a.txt": "a\r\nb\r\n"}
	r.move(r.treeOf(crlf))
	r.move(r.treeOf(map[string]string{"b": "b\n"}))
	r.move(r.treeOf(map[string]string{".gitattributes": "*.txt text eol=crlf\n", "a.txt": "a\nb\n"}))
	if got := r.read("a.txt"); got != "a\r\nb\r\n" {
		t.Errorf("a.txt holds %q", got)
	}
}

func TestMoveInLinkedAndSparseWorkTree(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	r.write("in/f", "f\n")
	r.write("out/f", "f\n")
	r.run("add", ".")
	r.run("commit", "-q", "-m", "two directories")
	linked := filepath.Join(r.home, "linked")
	r.run("worktree", "add", "-q", "-b", "other", linked)
	main := r.disk()
	r.open(linked)
	r.run("sparse-checkout", "set", "in")
	if _, err := os.Stat(r.path("out")); !gitcmd.Absent(err) {
		t.Fatal("not sparse")
	}
	r.move(r.treeOf(map[string]string{"in/f": "F\n", "in/g": "g\n", "out/f": "F\n", "out/g": "g\n"}))
	if got := r.disk(); !maps.Equal(got, map[string]string{"in/f": "false F\n", "in/g": "false g\n"}) {
		t.Errorf("got %q", diskOf(t, linked))
	}
	if got := diskOf(t, filepath.Join(r.home, "repo")); !maps.Equal(got, main) {
		t.Errorf("the main work tree changed: %q", got)
	}
}

// TestMoveIsIdentity draws trees of every shape: directories and files in each other's place, links, modes, empty
// files, odd names.
func TestMoveIsIdentity(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	os.Remove(r.path("a.txt"))
	r.run("rm", "-q", "--cached", "a.txt")
	r.write(".git/info/exclude", "*.ignored\n")
	r.write("top.ignored", "precious\n")
	segment := rapid.SampledFrom([]string{"a", "b", "-c", "d e", "f\ng", "ü", "#", "'q'", "\"", ".h", "日本", "é"})
	path := rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(segment, 1, 3).Draw(t, "path"), "/")
	})
	content := rapid.SampledFrom([]string{"", "1\n", "2\n", "3", "\x00\xff\r\n", "-> a", "-> /nowhere", "-> ../b",
		"x 1\n", "x #!"})
	tree := rapid.Custom(func(t *rapid.T) map[string]string {
		files := map[string]string{}
		for p, c := range rapid.MapOfN(path, content, 0, 8).Draw(t, "files") {
			clash := false
			for q := range files {
				clash = clash || strings.HasPrefix(p+"/", q+"/") || strings.HasPrefix(q+"/", p+"/")
			}
			if !clash {
				files[p] = c
			}
		}
		return files
	})
	now := r.snapshot()
	rapid.Check(t, func(rt *rapid.T) {
		for _, files := range []map[string]string{tree.Draw(rt, "A"), tree.Draw(rt, "B")} {
			want := map[string]string{"top.ignored": "false precious\n"}
			for p, c := range files {
				if x, ok := strings.CutPrefix(c, "x "); ok {
					want[p] = "true " + x
				} else if strings.HasPrefix(c, "-> ") {
					want[p] = c
				} else {
					want[p] = "false " + c
				}
			}
			to := r.treeOf(files)
			if err := r.moveFrom(now, to); err != nil {
				rt.Fatal(err)
			}
			if got := diskOf(rt, r.Git.Root); !maps.Equal(got, want) {
				rt.Fatalf("got %q, want %q", got, want)
			}
			if now = r.snapshot(); now.Tree != to {
				rt.Fatalf("a snapshot of it is %s, not %s", now.Tree, to)
			}
		}
	})
}
