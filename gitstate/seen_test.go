package gitstate

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/wfs-dev/wfs/session"
)

// A directory that is not read again must not let anything in that a look would have found.
func TestSeenDirectories(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	for i := range 3 {
		r.write(fmt.Sprintf("d%d/deep/tracked", i), "x")
	}
	r.run("add", "-A")
	r.run("commit", "-q", "-m", "tracked")
	ctx := context.Background()
	look := func() []string {
		t.Helper()
		x, _, err := r.readParsed(ctx, r.indexPath())
		if err != nil || x == nil {
			t.Fatal(err)
		}
		return r.look(x, nil, session.Guard{}).suspects
	}
	if _, ok := stampOf(r.root, tellingDevice(r.root)); !ok {
		t.Skip("this system does not tell when a directory changed")
	}
	// As if everything had been there for long: the sums of names are kept, and the times are those of now.
	if found := look(); len(found) > 0 {
		t.Fatal(found)
	}
	seen := r.rememberAll()
	if got := r.seenDirs(); len(got) != len(seen) || got["d1/deep/"] != seen["d1/deep/"] {
		t.Fatalf("%v was kept as %v", seen, got)
	}
	key := r.path("d1/deep/id_rsa")
	if err := os.WriteFile(key, []byte("key"), 0o600); err != nil {
		t.Fatal(err)
	}
	// Whoever sets the time of the directory back is found out by its change time.
	long := time.Unix(1_000_000_000, 0)
	if err := os.Chtimes(filepath.Dir(key), long, long); err != nil {
		t.Fatal(err)
	}
	if found := look(); len(found) != 1 || found[0] != "d1/deep/id_rsa" {
		t.Errorf("found %v", found)
	}
	if err := os.Remove(key); err != nil {
		t.Fatal(err)
	}
	// What git does not track any more is found though its directory is as it was.
	r.write("d2/deep/.env", "x")
	r.run("add", "-f", "d2/deep/.env")
	x, _, _ := r.readParsed(ctx, r.indexPath())
	stamp, _ := stampOf(r.path("d2/deep"), tellingDevice(r.root))
	for _, d := range []string{"", "d2/"} {
		s, _ := stampOf(filepath.Join(r.root, d), tellingDevice(r.root))
		_, _, names := trackedDir{prefix: d, entries: entriesBelow(x, d)}.children()
		seen[d] = seenDir{s, names}
	}
	_, _, names := trackedDir{prefix: "d2/deep/", entries: entriesBelow(x, "d2/deep/")}.children()
	seen["d2/deep/"] = seenDir{stamp, names}
	r.keepSeen(seen)
	if found := look(); len(found) > 0 {
		t.Fatalf("tracked, and found: %v", found)
	}
	r.run("rm", "-q", "--cached", "d2/deep/.env")
	if found := look(); len(found) != 1 || found[0] != "d2/deep/.env" {
		t.Errorf("found %v", found)
	}
}

func entriesBelow(x *index, prefix string) []indexEntry {
	var list []indexEntry
	for _, e := range x.entries {
		if len(e.name) > len(prefix) && string(e.name[:len(prefix)]) == prefix {
			list = append(list, e)
		}
	}
	return list
}

// rememberAll keeps every directory as one that was found to hold nothing else, as if it had not changed for long.
func (r *testRepo) rememberAll() map[string]seenDir {
	r.t.Helper()
	x, _, err := r.readParsed(context.Background(), r.indexPath())
	if err != nil || x == nil {
		r.t.Fatal(err)
	}
	seen, last := map[string]seenDir{}, uint64(0)
	for todo := []trackedDir{{entries: x.entries}}; len(todo) > 0; {
		d := todo[0]
		below, _, names := d.children()
		stamp, _ := stampOf(filepath.Join(r.root, d.prefix), tellingDevice(r.root))
		seen[d.prefix] = seenDir{stamp, names}
		last = max(last, stamp.changed, stamp.made)
		todo = append(todo[1:], below...)
	}
	r.keepSeen(seen)
	for r.fileTime() <= last { // what changes now has another time
	}
	return seen
}

// Whatever changes, a snapshot is what `git add -A` would make of the work tree, also when no directory is read again.
func TestOnlyTrackedFilesLooksNoFurther(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(r *testRepo){
		"nothing":        func(r *testRepo) {},
		"edit":           func(r *testRepo) { r.write("d/deep/a", "other") },
		"in place of":    func(r *testRepo) { r.write("d/deep/tmp", "new"); r.mustRename("d/deep/tmp", "d/deep/a") },
		"new":            func(r *testRepo) { r.write("d/deep/new", "x") },
		"new directory":  func(r *testRepo) { r.write("d/more/new", "x") },
		"removed":        func(r *testRepo) { r.mustRemove("d/deep/a") },
		"all removed":    func(r *testRepo) { r.mustRemove("d") },
		"executable":     func(r *testRepo) { r.must(os.Chmod(r.path("d/deep/a"), 0o755)) },
		"file to link":   func(r *testRepo) { r.mustRemove("d/b"); r.must(os.Symlink("deep", r.path("d/b"))) },
		"dir to link":    func(r *testRepo) { r.mustRemove("d/deep"); r.must(os.Symlink("../e", r.path("d/deep"))) },
		"dir to file":    func(r *testRepo) { r.mustRemove("d/deep"); r.write("d/deep", "file") },
		"file to dir":    func(r *testRepo) { r.mustRemove("d/b"); r.write("d/b/in", "x") },
		"no more in git": func(r *testRepo) { r.run("rm", "-q", "--cached", "d/b") },
		"added, gone":    func(r *testRepo) { r.write("d/c", "x"); r.run("add", "d/c"); r.mustRemove("d/c") },
		"meant to come":  func(r *testRepo) { r.write("d/c", "x"); r.run("add", "-N", "d/c") },
		"ignored":        func(r *testRepo) { r.write(".gitignore", "*.o\n"); r.write("d/x.o", "x") },
		"a repository":   func(r *testRepo) { r.run("init", "-q", "d/deep"); r.write("d/deep/new", "x") },
		"taken out":      func(r *testRepo) { r.run("rm", "-q", "-r", "d"); r.write("d/deep/a", "x") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRepo(t)
			for _, f := range []string{"d/deep/a", "d/b", "e/f/g"} {
				r.write(f, f)
			}
			r.run("add", "-A")
			r.run("commit", "-q", "-m", "tracked")
			r.rememberAll()
			change(r)
			got := r.snapshot().Tree
			index := filepath.Join(t.TempDir(), "index")
			data, err := os.ReadFile(r.indexPath())
			r.must(err)
			r.must(os.WriteFile(index, data, 0o600))
			r.env = append(r.env, "GIT_INDEX_FILE="+index)
			r.run("add", "-A", "--ignore-errors")
			if want := r.run("write-tree"); string(got) != want {
				t.Errorf("%s, git add -A makes %s:\n%s", got, want, r.run("diff", "--stat", string(got), want))
			}
		})
	}
}

func (r *testRepo) must(err error) {
	r.t.Helper()
	if err != nil {
		r.t.Fatal(err)
	}
}

func (r *testRepo) mustRemove(name string) { r.t.Helper(); r.must(os.RemoveAll(r.path(name))) }
func (r *testRepo) mustRename(from, to string) {
	r.t.Helper()
	r.must(os.Rename(r.path(from), r.path(to)))
}
