package object

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/wfs-dev/wfs/internal/testkit"
)

// someObjects returns a tree of a few blobs, one of them incompressible and large, and a commit of it.
func (r *testRepo) someObjects() []Object {
	r.T.Helper()
	var objects []Object
	var entries []Entry
	noise := uint32(1)
	for i := range 300 {
		data := []byte(fmt.Sprint(i))
		for range i % 40 * i {
			noise = noise*1664525 + 1013904223
			data = append(data, byte(noise>>24))
		}
		o := r.NewObject("blob", data)
		objects, entries = append(objects, o), append(entries, Entry{Mode: ModeFile, Name: fmt.Sprintf("f%03d", i), ID: o.ID})
	}
	tree, err := r.NewTree(entries)
	if err != nil {
		r.T.Fatal(err)
	}
	return append(objects, tree, r.NewCommit(tree.ID, nil, "A <a@b>", at, "x"), r.NewObject("blob", nil))
}

// TestPacksAreGits: git would make, byte for byte, the same index for a pack of wfs, and accepts the pack.
func TestPacksAreGits(t *testing.T) {
	t.Parallel()
	for _, format := range []string{"sha1", "sha256"} {
		t.Run(format, func(t *testing.T) {
			t.Parallel()
			r := newRepo(t, "--object-format="+format)
			objects := r.someObjects()
			stream, entries, err := r.Pack(objects)
			if err != nil {
				t.Fatal(err)
			}
			p, err := r.storePack(stream, entries)
			if err != nil {
				t.Fatal(err)
			}
			if out, err := r.TryGit("cat-file", "-e", objects[0].ID); err == nil {
				t.Errorf("git sees the pack before it is shown: %s", out)
			}
			if err := p.Show(); err != nil {
				t.Fatal(err)
			}
			r.Fsck()
			r.Run("verify-pack", filepath.Join(p.Dir, p.Name+".idx"))
			for _, o := range objects {
				if got := r.Run("cat-file", "-t", o.ID); got != o.Kind {
					t.Fatalf("%s is a %s to git", o.Kind, got)
				}
			}
			ours, err := os.ReadFile(filepath.Join(p.Dir, p.Name+".idx"))
			if err != nil {
				t.Fatal(err)
			}
			gits := filepath.Join(r.Home, "git.idx")
			r.Run("index-pack", "--strict", "--index-version=2", "-o", gits, filepath.Join(p.Dir, p.Name+".pack"))
			if theirs, err := os.ReadFile(gits); err != nil || !slices.Equal(ours, theirs) {
				t.Errorf("git's index of the same pack is another one (%v)", err)
			}
			again, err := r.storePack(stream, entries)
			if err != nil {
				t.Fatal(err)
			}
			if err := again.Show(); err != nil {
				t.Errorf("the same pack once more: %v", err)
			}
			if left, _ := filepath.Glob(filepath.Join(p.Dir, "*tmp_*")); len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
			if packs, err := r.PackFiles(); err != nil || len(packs) != 2 || again.Name == p.Name {
				t.Errorf("packs: %v, %v", packs, err)
			}
		})
	}
}

func TestPackIsReadableToWhomItsDirectoryIs(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	dir := filepath.Join(r.Git.CommonDir, "objects", "pack")
	for _, mode := range []os.FileMode{0o700, 0o750, 0o775} {
		if err := os.Chmod(dir, mode); err != nil {
			t.Fatal(err)
		}
		stream, entries, err := r.Pack([]Object{r.NewObject("blob", []byte(mode.String()))})
		if err != nil {
			t.Fatal(err)
		}
		p, err := r.storePack(stream, entries)
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Show(); err != nil {
			t.Fatal(err)
		}
		st, err := os.Stat(filepath.Join(dir, p.Name+".pack"))
		if err != nil || st.Mode().Perm() != mode&0o444 {
			t.Errorf("in a directory of mode %v: %v, %v", mode, st.Mode(), err)
		}
	}
}

func TestHasFindsWhatGitFinds(t *testing.T) {
	t.Parallel()
	for _, format := range []string{"sha1", "sha256"} {
		t.Run(format, func(t *testing.T) {
			t.Parallel()
			r := newRepo(t, "--object-format="+format)
			for i := range 700 {
				testkit.Write(r.T, r.Root, fmt.Sprintf("d%d/f%d", i%7, i), strings.Repeat(fmt.Sprintln(i), i))
			}
			r.Run("add", "-A")
			r.Run("commit", "-q", "-m", "packed")
			r.Run("gc", "-q")
			testkit.Write(r.T, r.Root, "d0/loose", strings.Repeat("much of it\n", 100_000))
			r.Run("add", "-A")
			r.Run("commit", "-q", "-m", "loose")
			all := map[string]string{}
			for line := range strings.Lines(r.Run("cat-file", "--batch-all-objects", "--batch-check=%(objectname) %(objecttype)")) {
				id, kind, _ := strings.Cut(strings.TrimSpace(line), " ")
				all[id] = kind
			}
			if len(all) < 700 || !r.has(all) {
				t.Fatalf("not all of %d objects were found", len(all))
			}
			for id := range all { // neighbours of existing ids
				digit := "0"
				if strings.HasSuffix(id, "0") {
					digit = "1"
				}
				if other := id[:len(id)-1] + digit; all[other] == "" && r.has(map[string]string{other: "blob"}) {
					t.Fatalf("%s is said to be there", other)
				}
			}
			blob := r.Run("rev-parse", ":d0/loose")
			if r.has(map[string]string{blob: "tree"}) {
				t.Error("a blob passes for a tree")
			}
			path := filepath.Join(r.Git.CommonDir, "objects", blob[:2], blob[2:])
			if err := os.Chmod(path, 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.Truncate(path, 0); err != nil {
				t.Fatal(err)
			}
			if r.has(map[string]string{blob: "blob"}) {
				t.Error("an empty file passes for a blob")
			}
		})
	}
}

// TestWriteObjectsInASharedClone: if objects are not certainly there, git decides: it finds those in an alternate
// object store.
func TestWriteObjectsInASharedClone(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	testkit.Write(r.T, r.Root, "b.txt", "b\n")
	r.Run("add", "-A")
	blob := r.Run("rev-parse", ":b.txt")
	r.Run("commit", "-q", "-m", "second")
	clone := filepath.Join(r.Home, "clone")
	r.Run("clone", "-q", "--shared", ".", clone)
	r.open(clone)
	var objects []Object
	for i := range 8 {
		objects = append(objects, r.NewObject("blob", []byte(fmt.Sprint("new", i))))
	}
	tree, err := r.NewTree([]Entry{{Mode: ModeFile, Name: "b.txt", ID: blob}})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.WriteObjects(context.Background(), append(objects, tree)...); err != nil {
		t.Fatal(err)
	}
	r.Fsck()
}

// TestLargePackIndex has as many ids with the same first byte as packs of a hundred thousand objects and more.
func TestLargePackIndex(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	var entries []PackEntry
	id := func(first byte, i int) []byte {
		return append([]byte{first, byte(i >> 8), byte(i)}, make([]byte, 17)...)
	}
	for _, first := range []byte{0, 7, 255} {
		for i := range 3000 {
			entries = append(entries, PackEntry{ID: id(first, 2*i)})
		}
	}
	path := filepath.Join(r.Home, "large.idx")
	if err := os.WriteFile(path, r.packIndex(make([]byte, 20), entries), 0o600); err != nil {
		t.Fatal(err)
	}
	p := openPackIndex(path, 20)
	if p == nil {
		t.Fatal("not opened")
	}
	defer p.Close()
	for i := range 6000 {
		for first, there := range map[byte]bool{0: true, 1: false, 7: true, 255: true} {
			if got, want := p.has(id(first, i)), there && i%2 == 0; got != want {
				t.Fatalf("id %x: %v", id(first, i), got)
			}
		}
	}
}

// TestPackThatCannotBeShown: if files of a pack are removed before it is shown, nothing is left that a `git repack`
// could find; the pack that is stored instead has another name.
func TestPackThatCannotBeShown(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	for _, gone := range []string{TempOfIndex, TempOfPack} {
		o := r.NewObject("blob", []byte(gone))
		p := r.stored(o)
		files, _ := filepath.Glob(filepath.Join(p.Dir, gone+"*"))
		if len(files) != 1 {
			t.Fatalf("%s: %v", gone, files)
		}
		if err := os.Remove(files[0]); err != nil {
			t.Fatal(err)
		}
		if err := r.showKept(p, []Object{o}); err == nil {
			t.Fatal("shown")
		}
		if err := r.WriteObjects(context.Background(), o); err != nil {
			t.Fatal(err)
		}
		r.Run("cat-file", "-e", o.ID)
		packs, err := r.PackFiles()
		if err != nil || slices.Contains(packs, filepath.Join(p.Dir, p.Name)) {
			t.Errorf("without %s: %v, %v", gone, packs, err)
		}
		r.LetGo(true)
		r.Fsck()
	}
}

// TestPackBesideGC: git does not remove incomplete packs, however often it collects garbage.
func TestPackBesideGC(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	o := r.NewObject("blob", []byte("beside git"))
	p := r.stored(o)
	for _, line := range []string{"gc -q --prune=now", "prune --expire=now", "repack -a -d -q"} {
		r.Run(strings.Fields(line)...)
	}
	if err := r.showKept(p, []Object{o}); err != nil {
		t.Fatal(err)
	}
	r.Run("repack", "-a", "-d", "-q")
	r.Run("cat-file", "-e", o.ID)
}

// stored returns a pack of an object that is not shown yet.
func (r *testRepo) stored(o Object) *NewPack {
	r.T.Helper()
	stream, entries, err := r.Pack([]Object{o})
	r.Must(err)
	p, err := r.storePack(stream, entries)
	r.Must(err)
	return p
}
