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
)

// packed writes n packs of three objects each, two of them in that pack alone, and returns the ids of all.
func (r *testRepo) packed(n, from int) map[string]string {
	r.t.Helper()
	ids := map[string]string{}
	for i := range n {
		objects := []newObject{
			r.newObject("blob", []byte("in every pack")),
			r.newObject("blob", []byte(fmt.Sprint("of pack ", from+i))),
			r.newObject("blob", []byte(strings.Repeat(fmt.Sprintln("compressed", from+i), 1000))),
		}
		if err := r.writeObjects(context.Background(), objects...); err != nil {
			r.t.Fatal(err)
		}
		for _, o := range objects {
			ids[o.id] = string(o.data)
		}
		r.letGo(false)
	}
	return ids
}

// tooManyPacks makes new objects files. Git takes no notice of packs without an index, and they are not merged.
func (r *testRepo) tooManyPacks() {
	r.t.Helper()
	for i := range maxPacks {
		r.put(filepath.Join(r.commonDir, "objects", "pack", fmt.Sprintf("other-%d.pack", i)), "")
	}
}

func (r *testRepo) packFiles() []string {
	r.t.Helper()
	files, err := os.ReadDir(filepath.Join(r.commonDir, "objects", "pack"))
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
			r.t.Fatalf("%s holds %q", id, cut(got, 40))
		}
	}
	r.fsck()
}

func TestManyPacksBecomeOne(t *testing.T) {
	t.Parallel()
	for _, format := range []string{"sha1", "sha256"} {
		t.Run(format, func(t *testing.T) {
			t.Parallel()
			r := newRepo(t, "--object-format="+format)
			ids := r.packed(mergeFrom-1, 0)
			if err := r.mergePacks(); err != nil || len(r.packFiles()) != 2*(mergeFrom-1) {
				t.Fatalf("merged too early: %v, %v", err, r.packFiles())
			}
			maps.Copy(ids, r.packed(1, mergeFrom))
			if err := r.mergePacks(); err != nil {
				t.Fatal(err)
			}
			if got := r.packFiles(); len(got) != 2 {
				t.Fatalf("left: %v", got)
			}
			index := strings.TrimSuffix(filepath.Join(r.commonDir, "objects", "pack", r.packFiles()[0]), ".idx") + ".idx"
			r.run("verify-pack", index)
			r.holds(ids)
			if p := openPackIndex(index, r.idLength()/2); p == nil || int(p.count()) != len(ids) {
				t.Errorf("%d objects became %v", len(ids), p)
			}
		})
	}
}

// What is merged again and again is copied seldom: large packs wait until the small ones have caught up.
func TestPacksStayFew(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	ids, most, copied := map[string]string{}, 0, int64(0)
	for i := range 300 {
		maps.Copy(ids, r.packed(1, i))
		before := r.packFiles()
		if err := r.mergePacks(); err != nil {
			t.Fatal(err)
		}
		after := r.packFiles()
		most = max(most, len(after)/2)
		for _, name := range after {
			if strings.HasSuffix(name, ".pack") && !slices.Contains(before, name) {
				st, err := os.Stat(filepath.Join(r.commonDir, "objects", "pack", name))
				if err != nil {
					t.Fatal(err)
				}
				copied += st.Size()
			}
		}
	}
	if most > mergeFrom+5 {
		t.Errorf("up to %d packs", most)
	}
	var total int64
	for _, data := range ids {
		total += int64(len(data)) // more than they take in a pack
	}
	if copied > 8*total {
		t.Errorf("%d bytes were copied for %d", copied, total)
	}
	r.holds(ids)
}

func TestPacksThatAreLeftAlone(t *testing.T) {
	t.Parallel()
	// Each makes the pack at path one that must stay, as it is.
	for name, spoil := range map[string]func(r *testRepo, path string){
		"kept":            func(r *testRepo, path string) { r.put(path+".keep", "") },
		"promised":        func(r *testRepo, path string) { r.put(path+".promisor", "") },
		"with a bitmap":   func(r *testRepo, path string) { r.put(path+".bitmap", "x") },
		"of another name": func(r *testRepo, path string) { r.movePack(path, filepath.Join(filepath.Dir(path), "other-1")) },
		"damaged":         func(r *testRepo, path string) { r.flip(path + ".pack") },
		"index damaged":   func(r *testRepo, path string) { r.flip(path + ".idx") },
		"without index":   func(r *testRepo, path string) { r.remove(path + ".idx") },
		"in a multi-pack index": func(r *testRepo, path string) {
			others := r.packFiles()
			aside := filepath.Join(r.home, "aside")
			if err := os.Mkdir(aside, 0o700); err != nil {
				r.t.Fatal(err)
			}
			dir := filepath.Dir(path)
			for _, f := range others {
				if !strings.HasPrefix(f, filepath.Base(path)) {
					r.rename(filepath.Join(dir, f), filepath.Join(aside, f))
				}
			}
			r.run("multi-pack-index", "write")
			for _, f := range others {
				if !strings.HasPrefix(f, filepath.Base(path)) {
					r.rename(filepath.Join(aside, f), filepath.Join(dir, f))
				}
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRepo(t)
			r.packed(mergeFrom+1, 0)
			dir := filepath.Join(r.commonDir, "objects", "pack")
			spoil(r, filepath.Join(dir, strings.TrimSuffix(r.packFiles()[0], ".idx")))
			before := r.contents(dir)
			if err := r.mergePacks(); err != nil {
				t.Fatal(err)
			}
			after := r.contents(dir)
			changed := 0
			for file, data := range before {
				if after[file] != data {
					changed++
				}
			}
			if changed != 2*mergeFrom {
				t.Errorf("%d of %d files are gone; left: %v", changed, len(before), slices.Sorted(maps.Keys(after)))
			}
		})
	}
	for name, spoil := range map[string]func(r *testRepo){
		"git gc is at work": func(r *testRepo) { r.put(filepath.Join(r.commonDir, "gc.pid"), "1 somewhere") },
		"git gc begins":     func(r *testRepo) { r.put(filepath.Join(r.commonDir, "gc.pid.lock"), "") },
		"git maintenance is at work": func(r *testRepo) {
			r.put(filepath.Join(r.commonDir, "objects", "maintenance.lock"), "")
		},
		"objects are precious": func(r *testRepo) { r.run("config", "extensions.preciousObjects", "true") },
		"unknown multi-pack index": func(r *testRepo) {
			r.put(filepath.Join(r.commonDir, "objects", "pack", "multi-pack-index"), "MIDX\x07")
		},
		"short multi-pack index": func(r *testRepo) {
			r.put(filepath.Join(r.commonDir, "objects", "pack", "multi-pack-index"), "MIDX\x01\x01\x01")
		},
		"chain of them": func(r *testRepo) {
			r.put(filepath.Join(r.commonDir, "objects", "pack", "multi-pack-index.d", "multi-pack-index-chain"), "")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRepo(t)
			r.packed(mergeFrom+1, 0)
			spoil(r)
			dir := filepath.Join(r.commonDir, "objects", "pack")
			before := r.contents(dir)
			_ = r.mergePacks()
			if !maps.Equal(before, r.contents(dir)) {
				t.Errorf("left: %v", r.packFiles())
			}
		})
	}
}

// Packs that git made may hold deltas: an entry of those says little without its neighbours.
func TestPacksOfDeltas(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	for i := range mergeFrom {
		text := strings.Repeat(fmt.Sprintln("line of", i), 500)
		r.write("delta.txt", text)
		r.run("add", "-A")
		r.run("commit", "-q", "-m", "a")
		r.write("delta.txt", text+"one more\n")
		r.run("add", "-A")
		r.run("commit", "-q", "-m", "b")
		r.run("repack", "-d", "-q")
	}
	for _, f := range r.packFiles() { // newer versions of git leave these, and then the packs are not looked at
		if strings.HasSuffix(f, ".rev") {
			r.remove(filepath.Join(r.commonDir, "objects", "pack", f))
		}
	}
	before := r.packFiles()
	if err := r.mergePacks(); err != nil || !slices.Equal(before, r.packFiles()) {
		t.Errorf("%v; from %v to %v", err, before, r.packFiles())
	}
	r.fsck()
}

// A merge that was killed leaves old packs beside the new one, or indexes whose packs are gone.
func TestMergeAfterAKilledMerge(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	dir := filepath.Join(r.commonDir, "objects", "pack")
	ids := r.packed(mergeFrom, 0)
	old := r.contents(dir)
	if err := r.mergePacks(); err != nil {
		t.Fatal(err)
	}
	i := 0
	for _, file := range slices.Sorted(maps.Keys(old)) {
		if i++; i%4 == 0 || strings.HasSuffix(file, ".idx") {
			r.put(filepath.Join(dir, file), old[file])
		}
	}
	stray := filepath.Join(dir, "pack-"+strings.Repeat("0", 40)+".idx") // of a pack that is nowhere
	r.put(stray, string(r.packIndex(make([]byte, 20), []packEntry{{id: make([]byte, 20)}})))
	maps.Copy(ids, r.packed(mergeFrom, mergeFrom))
	r.put(filepath.Join(r.commonDir, "gc.pid"), "1 somewhere wfs\n")
	if err := r.mergePacks(); err != nil {
		t.Fatal(err)
	}
	if got := r.packFiles(); len(got) != 3 || !slices.Contains(got, filepath.Base(stray)) {
		t.Errorf("left: %v", got)
	}
	if _, err := os.Stat(filepath.Join(r.commonDir, "gc.pid")); !absent(err) {
		t.Errorf("gc.pid: %v", err)
	}
	r.remove(stray)
	r.holds(ids)
}

// Others write, merge, look and collect garbage at the same time.
func TestMergeInACrowd(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	ids := r.packed(mergeFrom, 0)
	var commits []string
	for i := range 8 { // what git gc must find
		r.write("f", fmt.Sprint(i))
		r.run("add", "-A")
		r.run("commit", "-q", "-m", fmt.Sprint(i))
		commits = append(commits, r.run("rev-parse", "HEAD"))
	}
	var crowd sync.WaitGroup
	var mu sync.Mutex
	for n := range 3 {
		crowd.Go(func() {
			repo, err := Open(context.Background(), Options{Dir: r.root, Env: r.env})
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
				if err := repo.mergePacks(); err != nil {
					t.Error(err)
				}
				for id := range made {
					if _, _, err := repo.object(context.Background(), id); err != nil {
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

func (r *testRepo) rename(from, to string) {
	r.t.Helper()
	if err := os.Rename(from, to); err != nil {
		r.t.Fatal(err)
	}
}

// movePack renames a pack and its index.
func (r *testRepo) movePack(from, to string) {
	r.t.Helper()
	r.rename(from+".pack", to+".pack")
	r.rename(from+".idx", to+".idx")
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

// contents are the files of a directory.
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
