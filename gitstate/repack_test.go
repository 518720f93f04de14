package gitstate

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/wfs-dev/wfs/gitstate/gitcmd"
	"github.com/wfs-dev/wfs/gitstate/object"
	"github.com/wfs-dev/wfs/gitstate/refs"
)

// packed writes n packs of three objects each, two of which are in no other pack, and returns the ids of all.
func (r *testRepo) packed(n, from int) map[string]string {
	r.t.Helper()
	ids := map[string]string{}
	for i := range n {
		objects := []object.Object{
			r.Objects.NewObject("blob", []byte("in every pack")),
			r.Objects.NewObject("blob", []byte(fmt.Sprint("of pack ", from+i))),
			r.Objects.NewObject("blob", []byte(strings.Repeat(fmt.Sprintln("compressed", from+i), 1000))),
		}
		if err := r.Objects.WriteObjects(context.Background(), objects...); err != nil {
			r.t.Fatal(err)
		}
		for _, o := range objects {
			ids[o.ID] = string(o.Data)
		}
		r.Objects.LetGo(false)
	}
	return ids
}

func (r *testRepo) packFiles() []string {
	r.t.Helper()
	files, err := os.ReadDir(filepath.Join(r.Git.CommonDir, "objects", "pack"))
	if err != nil {
		r.t.Fatal(err)
	}
	var names []string
	for _, f := range files {
		names = append(names, f.Name())
	}
	return names
}

// holds checks that git finds all of these objects in packs, and that nothing is damaged.
func (r *testRepo) holds(ids map[string]string) {
	r.t.Helper()
	for id, data := range ids {
		if got := r.run("cat-file", "blob", id); got != strings.TrimSuffix(data, "\n") {
			r.t.Fatalf("%s holds %q", id, refs.Cut(got, 40))
		}
	}
	r.fsck()
}

// packsHere counts packs.
func (r *testRepo) packsHere() int {
	r.t.Helper()
	packs, err := r.Objects.PackFiles()
	if err != nil {
		r.t.Fatal(err)
	}
	return len(packs)
}

func TestManyPacksBecomeOne(t *testing.T) {
	t.Parallel()
	for _, format := range []string{"sha1", "sha256"} {
		t.Run(format, func(t *testing.T) {
			t.Parallel()
			r := newRepo(t, "--object-format="+format)
			ids := r.packed(object.RepackFrom-1, 0)
			if err := r.Objects.Repack(context.Background(), object.RepackFrom); err != nil ||
				r.packsHere() != object.RepackFrom-1 {
				t.Fatalf("merged too early: %v, %v", err, r.packFiles())
			}
			maps.Copy(ids, r.packed(1, object.RepackFrom))
			if err := r.Objects.Repack(context.Background(), object.RepackFrom); err != nil {
				t.Fatal(err)
			}
			if got := r.packFiles(); r.packsHere() != 1 {
				t.Fatalf("left: %v", got)
			}
			r.holds(ids)
			if _, err := os.Stat(filepath.Join(r.Git.CommonDir, "gc.pid")); !gitcmd.Absent(err) {
				t.Error(err)
			}
		})
	}
}

// TestPacksStayFew: the packs of turns are merged now and then.
func TestPacksStayFew(t *testing.T) {
	t.Parallel()
	r, d := newSession(t)
	most := 0
	for i := range 3 * object.RepackFrom {
		r.write("a.txt", fmt.Sprintln("line", i))
		p := r.prepare(d)
		r.publish(p)
		d = r.draft(p.Ledger)
		most = max(most, r.packsHere())
	}
	if most > object.RepackFrom {
		t.Errorf("up to %d packs", most)
	}
	r.fsck()
}

func TestPacksThatAreLeftAlone(t *testing.T) {
	t.Parallel()
	// Each makes the pack at path one that must not be changed.
	for name, spoil := range map[string]func(r *testRepo, path string){
		"kept":     func(r *testRepo, path string) { r.put(path+".keep", "") },
		"promised": func(r *testRepo, path string) { r.put(path+".promisor", "") },
		"damaged":  func(r *testRepo, path string) { r.flip(path + ".pack") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRepo(t)
			r.packed(object.RepackFrom+1, 0)
			dir := filepath.Join(r.Git.CommonDir, "objects", "pack")
			path := filepath.Join(dir, strings.TrimSuffix(r.packFiles()[0], ".idx"))
			spoil(r, path)
			before := r.contents(dir)
			_ = r.Objects.Repack(context.Background(), object.RepackFrom)
			after := r.contents(dir)
			for _, ext := range []string{".pack", ".idx"} {
				if file := filepath.Base(path) + ext; after[file] != before[file] {
					t.Errorf("%s is gone, or another one", file)
				}
			}
		})
	}
	for name, spoil := range map[string]func(r *testRepo){
		"git gc is at work": func(r *testRepo) { r.put(filepath.Join(r.Git.CommonDir, "gc.pid"), "1 somewhere") },
		"git gc begins":     func(r *testRepo) { r.put(filepath.Join(r.Git.CommonDir, "gc.pid.lock"), "") },
		"git maintenance is at work": func(r *testRepo) {
			r.put(filepath.Join(r.Git.CommonDir, "objects", "maintenance.lock"), "")
		},
		"objects are precious": func(r *testRepo) { r.run("config", "extensions.preciousObjects", "true") },
		"objects are borrowed": func(r *testRepo) {
			r.put(filepath.Join(r.Git.CommonDir, "objects", "info", "alternates"), r.path("elsewhere")+"\n")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRepo(t)
			r.packed(object.RepackFrom+1, 0)
			spoil(r)
			dir := filepath.Join(r.Git.CommonDir, "objects", "pack")
			before := r.contents(dir)
			_ = r.Objects.Repack(context.Background(), object.RepackFrom)
			if !maps.Equal(before, r.contents(dir)) {
				t.Errorf("left: %v", r.packFiles())
			}
		})
	}
}

// TestRepackAfterAKilledOne: leftovers of a killed wfs do not block the next one.
func TestRepackAfterAKilledOne(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	ids := r.packed(object.RepackFrom, 0)
	r.put(filepath.Join(r.Git.CommonDir, "gc.pid"), "1 somewhere wfs\n")
	temp := filepath.Join(r.Git.CommonDir, "objects", "pack", object.TempOfRepack+"1-pack-1.pack")
	r.put(temp, "")
	long := time.Unix(at, 0)
	chtimes(t, temp, long)
	if err := r.Objects.Repack(context.Background(), object.RepackFrom); err != nil {
		t.Fatal(err)
	}
	r.tidy()
	if names := r.packFiles(); r.packsHere() != 1 || slices.Contains(names, filepath.Base(temp)) {
		t.Errorf("left: %v", names)
	}
	r.holds(ids)
}

// TestMergeInACrowd: other processes write, merge, read and collect garbage at the same time.
func TestMergeInACrowd(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	ids := r.packed(object.RepackFrom, 0)
	var commits []string
	for i := range 8 { // for git gc to find
		r.write("f", fmt.Sprint(i))
		r.run("add", "-A")
		r.run("commit", "-q", "-m", fmt.Sprint(i))
		commits = append(commits, r.run("rev-parse", "HEAD"))
	}
	var crowd sync.WaitGroup
	var mu sync.Mutex
	for n := range 3 {
		crowd.Go(func() {
			repo, err := Open(context.Background(), gitcmd.Options{Dir: r.Git.Root, Env: r.env})
			if err != nil {
				t.Error(err)
				return
			}
			other := &testRepo{Repo: repo, t: t, home: r.home, env: r.env}
			for i := range 20 {
				made := other.packed(2, 1000*(n+1)+2*i)
				mu.Lock()
				maps.Copy(ids, made)
				mu.Unlock()
				if err := repo.Objects.Repack(context.Background(), object.RepackFrom); err != nil {
					t.Error(err)
				}
				for id := range made {
					if _, _, err := repo.Objects.Read(context.Background(), id); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	crowd.Go(func() {
		for range 4 {
			if out, err := r.try("gc", "-q"); err != nil && !strings.Contains(out, "gc is already running") {
				t.Errorf("gc: %v\n%s", err, out)
			}
			for _, c := range commits {
				if out, err := r.try("show", "--stat", c); err != nil {
					t.Errorf("%v\n%s", err, out)
				}
			}
		}
	})
	crowd.Wait()
	r.holds(ids)
}

func (r *testRepo) put(path, text string) {
	r.t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		r.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		r.t.Fatal(err)
	}
}

func (r *testRepo) remove(path string) {
	r.t.Helper()
	if err := os.Remove(path); err != nil {
		r.t.Fatal(err)
	}
}

// flip changes a byte in the middle of a file.
func (r *testRepo) flip(path string) {
	r.t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		r.t.Fatal(err)
	}
	data[len(data)/2] ^= 1
	r.remove(path)
	r.put(path, string(data))
}

// contents returns the files of a directory.
func (r *testRepo) contents(dir string) map[string]string {
	r.t.Helper()
	files, err := os.ReadDir(dir)
	if err != nil {
		r.t.Fatal(err)
	}
	all := map[string]string{}
	for _, f := range files {
		if f.Type().IsRegular() {
			data, err := os.ReadFile(filepath.Join(dir, f.Name()))
			if err != nil {
				r.t.Fatal(err)
			}
			all[f.Name()] = string(data)
		}
	}
	return all
}
