package gitstate

import (
	"context"
	"crypto/sha1"
	"encoding/binary"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/wfs-dev/wfs/gitstate/object"
	"github.com/wfs-dev/wfs/gitstate/snapshot"
	"github.com/wfs-dev/wfs/session"
)

// notSeen makes the index claim that a changed file was read in the second in which it has now been written, at other
// nanoseconds. This happens if a file is written twice in a second, with the same size, and read in between. Most
// builds of git compare only seconds.
func (r *testRepo) notSeen(file string) {
	r.t.Helper()
	r.seenAt(file, 1)
}

// seenAt makes the index claim that a file was read in its present state, apart from the nanoseconds of its times.
func (r *testRepo) seenAt(file string, later uint32) {
	r.t.Helper()
	data, err := os.ReadFile(r.Git.IndexPath())
	r.must(err)
	f, ok := object.LookAt(r.path(file))
	x := r.Objects.Parsed(data)
	if !ok || x == nil {
		notHere(r.t, "nothing is told of files here")
	}
	e, _ := object.Find(x.Entries, 0, file)
	for i, n := range []uint32{f.Changed, f.ChangedNano, f.Modified, f.ModifiedNano} {
		if i%2 == 1 {
			n = (n + later) % uint32(time.Second)
		}
		binary.BigEndian.PutUint32(e.Stat[4*i:], n)
	}
	binary.BigEndian.PutUint32(e.Stat[20:], f.Inode)
	sum := sha1.Sum(data[:len(data)-sha1.Size])
	copy(data[len(data)-sha1.Size:], sum[:])
	r.must(os.WriteFile(r.Git.IndexPath(), data, 0o644))
	written := time.Unix(int64(f.Modified)+2, 0)
	r.must(os.Chtimes(r.Git.IndexPath(), written, written))
}

// TestReread: an edit that git does not notice, because it compares times in seconds, is in the next snapshot and
// checkpoint.
func TestReread(t *testing.T) {
	t.Parallel()
	for name, more := range map[string]func(r *testRepo){
		"told of few":  func(*testRepo) {},
		"split index":  func(*testRepo) {},
		"sparse index": func(*testRepo) {},
		"looks at all": func(r *testRepo) { r.write("intended", "x"); r.run("add", "-N", "intended") },
		"many are new": func(r *testRepo) {
			for i := range snapshot.MaxNamed + 1 {
				r.write(fmt.Sprint("new", i), "new")
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, _ := newSession(t)
			r.write("a", "version 1")
			r.write("other", "other")
			r.write("d/x", "x")
			r.run("add", "-A")
			r.run("commit", "-q", "-m", "tracked")
			r.write("a", "version 2")
			more(r)
			r.notSeen("a")
			later := mustStat(t, r.Git.IndexPath()).ModTime()
			switch name {
			case "split index":
				r.run("update-index", "--split-index")
			case "sparse index":
				r.run("sparse-checkout", "init", "--cone", "--sparse-index")
			}
			r.must(os.Chtimes(r.Git.IndexPath(), later, later))
			r.open(r.Git.Root)
			for what, tree := range map[string]string{"a snapshot": string(r.snapshot().Tree),
				"a checkpoint": string(r.prepare(r.draft("")).Tree)} {
				if got := r.run("cat-file", "blob", tree+":a"); strings.TrimSpace(got) != "version 2" {
					t.Errorf("%s holds %q", what, got)
				}
			}
		})
	}
}

// TestRereadLeavesKinds: differences that git ignores because of a setting must not make it read the files again at
// each look: on some mounts every file seems to be executable, and links are files.
func TestRereadLeavesKinds(t *testing.T) {
	t.Parallel()
	r, _ := newSession(t)
	const files = snapshot.MaxNamed + 20
	for i := range files {
		r.write(fmt.Sprint("f", i), fmt.Sprintln(i))
	}
	for i := range 3 {
		r.must(os.Symlink("f1", r.path(fmt.Sprint("link", i))))
	}
	r.run("add", "-A")
	r.run("commit", "-q", "-m", "tracked")
	r.run("config", "core.fileMode", "false")
	r.run("config", "core.symlinks", "false")
	for i := range files {
		r.must(os.Chmod(r.path(fmt.Sprint("f", i)), 0o755))
	}
	for i := range 3 {
		r.mustRemove(fmt.Sprint("link", i))
		r.must(os.WriteFile(r.path(fmt.Sprint("link", i)), []byte("f1"), 0o644))
	}
	r.aged()
	r.open(r.Git.Root)
	x, err := r.Objects.ReadIndex(context.Background(), r.Git.IndexPath())
	r.must(err)
	if _, sure := r.looksAt(); sure {
		t.Error("git is told of some")
	}
	if again := r.Files.Look(x, nil, session.Guard{}).Doubted; len(again) > 0 {
		t.Errorf("%d of %d files would be read anew, %q first", len(again), len(x.Entries), again[0])
	}
	if got, want := string(r.snapshot().Tree), r.byGit(); r.filesBut(got, object.UserDir) != r.filesBut(want,
		object.UserDir) {
		t.Errorf("a snapshot holds\n%s\ngit adds\n%s", r.files(got), r.files(want))
	}
}

// TestRereadFindsModes: a file that became executable after it was read is in the next checkpoint, although its times
// are those in the index.
func TestRereadFindsModes(t *testing.T) {
	t.Parallel()
	for _, new := range []int{0, snapshot.MaxNamed + 1} {
		r, _ := newSession(t)
		r.must(os.Chmod(r.path("a.txt"), 0o755))
		r.seenAt("a.txt", 0)
		for i := range new {
			r.write(fmt.Sprint("new", i), "new")
		}
		for what, tree := range map[string]string{"a snapshot": string(r.snapshot().Tree),
			"a checkpoint": string(r.prepare(r.draft("")).Tree)} {
			if got := r.run("ls-tree", tree, "a.txt"); !strings.HasPrefix(got, "100755") {
				t.Errorf("with %d new files %s holds %s", new, what, got)
			}
		}
	}
}

// TestRereadOfMany: however many edits git does not notice, at most MaxNamed files are passed to it by name, and never
// .wfs, whose edits stay as they are.
func TestRereadOfMany(t *testing.T) {
	t.Parallel()
	r, _ := newSession(t)
	const files = snapshot.MaxNamed + 20
	for i := range files {
		r.write(fmt.Sprint("f", i), "version 1")
	}
	r.write(".wfs/config.yaml", "version 1")
	r.run("add", "-A")
	r.aged()
	r.run("commit", "-q", "-m", "tracked")
	r.run("config", "core.trustctime", "false")
	r.run("config", "core.checkStat", "minimal")
	edited := append([]string{".wfs/config.yaml"}, strings.Fields(r.run("ls-files", "f*"))...)
	for _, p := range edited {
		was := mustStat(t, r.path(p)).ModTime()
		r.write(p, "version 2")
		chtimes(t, r.path(p), was)
	}
	if got := r.run("status", "--porcelain"); got != "" {
		t.Fatalf("git sees %s", got)
	}
	r.open(r.Git.Root)
	log := r.home + "/names"
	r.beforeGit(`n=0; for a; do case "$a" in ":(top,literal)"*) n=$((n+1));; esac; done; echo $n >> '` + log + "'")
	taken, made := r.snapshot(), r.prepare(r.draft(""))
	r.publish(made)
	for what, tree := range map[string]string{"a snapshot": string(taken.Tree), "a checkpoint": string(made.Tree)} {
		for _, p := range edited[1:] {
			if got := r.run("cat-file", "blob", tree+":"+p); got != "version 2" {
				t.Fatalf("%s holds %q in %s", what, got, p)
			}
		}
	}
	said, err := os.ReadFile(log)
	r.must(err)
	for _, n := range strings.Fields(string(said)) {
		if named, err := strconv.Atoi(n); err != nil || named > snapshot.MaxNamed {
			t.Errorf("git was told of %s files by name", n)
		}
	}
	if got := r.run("diff", "--cached", "--name-only", "--", ".wfs"); got != "" {
		t.Errorf("staged as well: %s", got)
	}
}
