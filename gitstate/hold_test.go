package gitstate

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/session/codec"
)

// sparse creates a file of that size, which needs no disk space.
func (r *testRepo) sparse(name string, size int64) {
	r.t.Helper()
	r.write(name, "")
	if err := os.Truncate(r.path(name), size); err != nil {
		r.t.Fatal(err)
	}
}

// guard writes a session's exclude file, and returns its path.
func (r *testRepo) guard(rules string, g session.Guard) string {
	r.t.Helper()
	file := filepath.Join(r.home, "exclude")
	if err := os.WriteFile(file, codec.WithGuard([]byte(rules), g), 0o644); err != nil {
		r.t.Fatal(err)
	}
	return file
}

func (r *testRepo) snapshotBy(exclude string) session.Snapshot {
	r.t.Helper()
	s, err := r.Files.Snapshot(context.Background(), exclude)
	if err != nil {
		r.t.Fatal(err)
	}
	return s
}

func heldPaths(held []session.Held) string {
	var names []string
	for _, h := range held {
		names = append(names, fmt.Sprintf("%s:%s", h.Path, h.Why))
	}
	return strings.Join(names, " ")
}

// checkpointBy prepares a checkpoint of the present work tree.
func (r *testRepo) checkpointBy(exclude string) session.Prepared {
	r.t.Helper()
	d := r.draft("")
	d.Exclude = exclude
	return r.prepare(d)
}

// hasBlob reports whether an object with a file's content exists, reachable or not.
func (r *testRepo) hasBlob(name string) bool {
	r.t.Helper()
	id := r.run("hash-object", "--no-filters", name)
	_, err := r.try("cat-file", "-e", id)
	return err == nil
}

// flood writes n small files with different contents.
func (r *testRepo) flood(dir string, n int) {
	r.t.Helper()
	for i := range n {
		r.write(fmt.Sprintf("%s/d%d/f%d", dir, i%3, i), fmt.Sprintf("%s %d\n", dir, i))
	}
}

// TestGuardHoldsOut: no tree and no object has files that the guard holds out, in a snapshot, a rescue and a
// checkpoint; they have all others.
func TestGuardHoldsOut(t *testing.T) {
	t.Parallel()
	for name, prepare := range map[string]func(r *testRepo){
		"an ordinary index": func(*testRepo) {},
		"a split index":     func(r *testRepo) { r.run("update-index", "--split-index") },
		"no index":          func(r *testRepo) { os.Remove(r.Git.IndexPath()) },
		"an empty index":    func(r *testRepo) { r.run("rm", "-q", "-r", "--cached", ".") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, _ := newSession(t)
			// Files of the base are never held out.
			r.write(".env.base", "base\n")
			r.sparse("base.bin", 3<<10)
			r.flood("base/flood", 20)
			r.write("node_modules/tracked.js", "tracked\n")
			r.write("src/a.go", "a\n")
			r.run("add", "-A")
			r.run("commit", "-q", "-m", "base")
			prepare(r)
			r.write(".env.base", "edited\n")
			r.sparse("base.bin", 5<<10)
			r.write("base/flood/more", "more\n")

			r.write("src/new.go", "new\n")
			r.write("src/id_rsa", "key\n")
			r.sparse("src/deep/er/big.bin", 3<<10+1)
			r.write("src/deep/er/small.txt", "small\n")
			r.flood("src/generated", 17)
			r.write("app/main.go", "main\n")
			r.flood("app/node_modules", 2)
			r.flood("app/vendor/generated", 12)
			r.write("app/many.txt", "many\n")
			r.write("odd [name]*\n/x.p12", "odd\n")
			file := r.guard("", session.Guard{MaxFileSize: 3 << 10, MaxNewFiles: 10})
			want := "app/node_modules/:name app/vendor/generated/:number odd [name]*\n/x.p12:key src/deep/er/big.bin:size src/generated/:number src/id_rsa:key"
			check := func(what string, tree session.Tree, held []session.Held) {
				t.Helper()
				if got := heldPaths(held); got != want {
					t.Errorf("%s holds out\n%s\nwant\n%s", what, got, want)
				}
				files := r.run("ls-tree", "-r", "--name-only", string(tree))
				for _, n := range []string{".env.base", "base.bin", "base/flood/more", "base/flood/d1/f1",
					"node_modules/tracked.js", "src/new.go", "src/deep/er/small.txt", "app/main.go", "app/many.txt"} {
					if !strings.Contains("\n"+files+"\n", "\n"+n+"\n") {
						t.Errorf("%s lacks %s:\n%s", what, n, files)
					}
				}
				if n := strings.Count(files, "\n") + 1; n != 20+10 {
					t.Errorf("%s has %d files:\n%s", what, n, files)
				}
				for _, n := range []string{"src/id_rsa", "src/deep/er/big.bin", "src/generated/d0/f0", "app/node_modules/d1/f1",
					"app/vendor/generated/d0/f0", "odd [name]*\n/x.p12"} {
					if r.hasBlob(n) {
						t.Errorf("after %s there is an object of %s", what, n)
					}
				}
			}
			s := r.snapshotBy(file)
			check("a snapshot", s.Tree, s.HeldOut)
			if _, err := r.Rescue(context.Background(), "one", "test", s, at); err != nil {
				t.Fatal(err)
			}
			check("a rescue", s.Tree, s.HeldOut)
			p := r.checkpointBy(file)
			check("a checkpoint", p.Tree, p.HeldOut)
			s = r.snapshotBy(file) // with everything else tracked
			check("the next snapshot", s.Tree, s.HeldOut)
			r.fsck()
		})
	}
}

// TestGuardRemembers: a file that was held out once stays out, even if it shrinks, until it is allowed, added by force,
// ignored, or deleted.
func TestGuardRemembers(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	limits := session.Guard{MaxFileSize: 1 << 10, MaxNewFiles: 5}
	r.sparse("big.bin", 2<<10)
	r.flood("gen", 9)
	r.write("later.txt", "x\n")
	s := r.snapshotBy(r.guard("", limits))
	held, grown := limits.Hold(s.HeldOut)
	if got := heldPaths(s.HeldOut); got != "big.bin:size gen/:number" || !grown {
		t.Fatal(got)
	}
	os.RemoveAll(r.path("gen/d0"))
	os.RemoveAll(r.path("gen/d1"))
	r.write("big.bin", "small now\n")
	r.write("gen/d2/new", "new\n")
	file := r.guard("", held)
	expect := func(what, held, files string) {
		t.Helper()
		s := r.snapshotBy(file)
		if got := heldPaths(s.HeldOut); got != held {
			t.Errorf("%s: held out %q, want %q", what, got, held)
		}
		if got := strings.ReplaceAll(r.run("ls-tree", "-r", "--name-only", string(s.Tree)), "\n", " "); got != files {
			t.Errorf("%s: the tree has %q, want %q", what, got, files)
		}
	}
	expect("shrunk", "big.bin:size gen/:number", "a.txt later.txt")
	if s := r.snapshotBy(file); s.HeldOut[0].Bytes != int64(len("small now\n")) {
		t.Errorf("the size is an old one: %+v", s.HeldOut)
	}

	r.run("add", "-f", "gen/d2/new")
	expect("one added by force", "big.bin:size gen/:number", "a.txt gen/d2/new later.txt")
	r.write("gen/d2/new", "edited\n")
	s = r.snapshotBy(file)
	if got := r.run("cat-file", "-p", string(s.Tree)+":gen/d2/new"); got != "edited" {
		t.Errorf("what was added by force is not followed: %q", got)
	}
	r.run("rm", "-q", "--cached", "-f", "gen/d2/new")

	file = r.guard("", held.Allow("gen/d2/new"))
	expect("one allowed below", "big.bin:size gen/:number", "a.txt gen/d2/new later.txt")
	file = r.guard("", held.Allow("gen").Allow("big.bin"))
	expect("all allowed", "", "a.txt big.bin gen/d2/f2 gen/d2/f5 gen/d2/f8 gen/d2/new later.txt")
	file = r.guard("/gen/\n/big.bin\n", session.Guard{Allowed: []string{"big.bin", "gen/d2/f2"}})
	expect("ignored before, and allowed", "", "a.txt big.bin gen/d2/f2 later.txt")

	file = r.guard("", held)
	r.write(".gitignore", "gen/\n*.bin\n")
	expect("ignored", "", ".gitignore a.txt later.txt")
	os.Remove(r.path(".gitignore"))
	os.RemoveAll(r.path("gen"))
	os.Remove(r.path("big.bin"))
	expect("gone", "", "a.txt later.txt")
}

// TestGuardIsStrict: a rule of a .gitignore that includes everything does not include held-out files; only the user can
// allow them.
func TestGuardIsStrict(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	r.write(".gitignore", "!.env\n!*.bin\n!node_modules\n!node_modules/**\n")
	r.write(".env", "secret\n")
	r.sparse("big.bin", 2<<10)
	r.write("node_modules/i.js", "x\n")
	g := session.Guard{MaxFileSize: 1 << 10}
	for range 2 { // found first, and then remembered
		s := r.snapshotBy(r.guard("", g))
		if got := heldPaths(s.HeldOut); got != ".env:key big.bin:size node_modules/:name" {
			t.Errorf("held out %q", got)
		}
		if got := r.files(string(s.Tree)); got != "100644 .gitignore\n100644 a.txt" {
			t.Errorf("tree holds\n%s", got)
		}
		g, _ = g.Hold(s.HeldOut)
	}
}

// TestGuardPassesOverWhatIsIgnored: an ignored file is not held out, however large it is, and git need not be asked
// about it again.
func TestGuardPassesOverWhatIsIgnored(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	r.write(".gitignore", "dist/\n*.bin\n*.log\n")
	r.flood("dist", 9)
	r.sparse("big.bin", 2<<10)
	for i := range 9 {
		r.write(fmt.Sprintf("logs/%d.log", i), "x\n")
	}
	r.write(".venv/.gitignore", "*\n")
	r.flood(".venv", 9)
	r.write("b.txt", "b\n")
	s := r.snapshotBy(r.guard("", session.Guard{MaxFileSize: 1 << 10, MaxNewFiles: 5}))
	if len(s.HeldOut) > 0 || strings.Join(s.Ignored, " ") != ".venv/ dist/" {
		t.Errorf("held out %+v, ignored %q", s.HeldOut, s.Ignored)
	}
	if got := r.files(string(s.Tree)); got != "100644 .gitignore\n100644 a.txt\n100644 b.txt" {
		t.Errorf("tree holds\n%s", got)
	}
}

// TestGuardAmongOddThings has files and directories that replaced each other, links, and nested repositories.
func TestGuardAmongOddThings(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	r.write("dir/x", "x\n")
	r.write("file", "file\n")
	r.write("a-b", "a-b\n")
	r.write("a/b", "a/b\n")
	r.run("add", "-A")
	r.run("commit", "-q", "-m", "odd")
	os.RemoveAll(r.path("dir"))
	os.Remove(r.path("file"))
	r.sparse("dir", 2<<10)
	r.write("file/new", "new\n")
	r.sparse("file/big", 2<<10)
	r.run("init", "-q", r.path("nested"))
	r.sparse("nested/big", 2<<10)
	r.write("empty/.keep", "")
	os.Remove(r.path("empty/.keep"))
	want := "120000 link"
	if err := os.Symlink(filepath.Join(r.home), r.path("link")); err != nil {
		t.Fatal(err)
	}
	s := r.snapshotBy(r.guard("", session.Guard{MaxFileSize: 1 << 10}))
	if got := heldPaths(s.HeldOut); got != "dir:size file/big:size" || paths(s.Skipped) != "nested" {
		t.Errorf("held out %q, skipped %+v", got, s.Skipped)
	}
	if got := strings.TrimSuffix(r.files(string(s.Tree)),
		"\n"+want); got != "100644 a-b\n100644 a.txt\n100644 a/b\n100644 file/new" {
		t.Errorf("tree holds\n%s", got)
	}
}

// TestCheckpointSaysThatMostIsGone: a checkpoint that lacks most files reports this, independent of the index, and is
// still made.
func TestCheckpointSaysThatMostIsGone(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(r *testRepo)
		want   session.Deleted
	}{
		"removed":       {func(r *testRepo) { os.RemoveAll(r.path("src")) }, session.Deleted{Files: 8, Of: 9}},
		"staged":        {func(r *testRepo) { r.run("rm", "-q", "-r", "src") }, session.Deleted{Files: 8, Of: 9}},
		"half":          {func(r *testRepo) { r.run("rm", "-q", "src/1", "src/2", "src/3", "src/4") }, session.Deleted{}},
		"moved":         {func(r *testRepo) { os.Rename(r.path("src"), r.path("lib")) }, session.Deleted{}},
		"moved by git":  {func(r *testRepo) { r.run("mv", "src", "lib") }, session.Deleted{}},
		"emptied index": {func(r *testRepo) { r.run("rm", "-q", "-r", "--cached", ".") }, session.Deleted{}},
		"both": {func(r *testRepo) { r.run("rm", "-q", "-r", "."); r.write("b", "b\n") },
			session.Deleted{Files: 9, Of: 9}},
		"replaced": {func(r *testRepo) { os.RemoveAll(r.path("src")); r.flood("lib", 9) }, session.Deleted{Files: 8, Of: 9}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, _ := newSession(t)
			for i := range 8 {
				r.write(fmt.Sprintf("src/%d", i), fmt.Sprint(i%4)) // each content twice
			}
			r.run("add", "-A")
			r.run("commit", "-q", "-m", "src")
			c.change(r)
			p := r.checkpointBy("")
			var got session.Deleted
			if p.Deleted != nil {
				got = *p.Deleted
			}
			if got != c.want {
				t.Errorf("%+v, want %+v", got, c.want)
			}
		})
	}
}
