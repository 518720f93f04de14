package gitstate

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/wfs-dev/wfs/gitstate/gitcmd"
	"github.com/wfs-dev/wfs/gitstate/object"
	"github.com/wfs-dev/wfs/session"
)

// treeFiles lists the files of a tree, in the same form.
func (r *testRepo) treeFiles(tree session.Tree) map[string]string {
	r.t.Helper()
	want := map[string]string{}
	for _, line := range gitcmd.SplitZ([]byte(r.run("ls-tree", "-r", "-z", string(tree)))) {
		meta, name, _ := strings.Cut(line, "\t")
		f := strings.Fields(meta)
		_, data, err := r.Objects.Read(context.Background(), f[2])
		if err != nil {
			r.t.Fatal(err)
		}
		want[name] = string(data)
		if f[0] == object.ModeLink {
			want[name] = "-> " + string(data)
		}
	}
	return want
}

func sameFiles(t *testing.T, got, want map[string]string) {
	t.Helper()
	for name, text := range want {
		if have, ok := got[name]; !ok || have != text {
			t.Errorf("%s is %q, want %q", name, have, text)
		}
	}
	for name := range got {
		if _, ok := want[name]; !ok {
			t.Errorf("%s is there and not in the tree", name)
		}
	}
}

func (r *testRepo) snap() session.Tree {
	r.t.Helper()
	s, err := r.Files.Snapshot(context.Background(), "")
	if err != nil {
		r.t.Fatal(err)
	}
	return s.Tree
}

func TestOverlay(t *testing.T) {
	r := newRepo(t)
	ctx := context.Background()
	r.write("test/one.txt", "one\n")
	r.write("test/two.txt", "two\n")
	r.write("src/x", "a file\n")
	from := r.snap()
	r.write("test/one.txt", "weakened\n")
	r.write("a.txt", "work\n")
	r.write("test/new.txt", "new\n")
	if err := errors.Join(os.Remove(filepath.Join(r.Git.Root, "test", "two.txt")),
		os.Remove(filepath.Join(r.Git.Root, "src", "x"))); err != nil {
		t.Fatal(err)
	}
	r.write("src/x/deep.txt", "a directory\n")
	base := r.snap()
	for _, c := range []struct {
		paths []string
		want  map[string]string
	}{
		{nil, map[string]string{"a.txt": "work\n", "test/one.txt": "weakened\n", "test/new.txt": "new\n",
			"src/x/deep.txt": "a directory\n"}},
		{[]string{"test/one.txt"}, map[string]string{"a.txt": "work\n", "test/one.txt": "one\n", "test/new.txt": "new\n",
			"src/x/deep.txt": "a directory\n"}},
		{[]string{"test/"}, map[string]string{"a.txt": "work\n", "test/one.txt": "one\n", "test/two.txt": "two\n",
			"src/x/deep.txt": "a directory\n"}},
		{[]string{"test/new.txt", "nowhere"},
			map[string]string{"a.txt": "work\n", "test/one.txt": "weakened\n", "src/x/deep.txt": "a directory\n"}},
		{[]string{"src"}, map[string]string{"a.txt": "work\n", "test/one.txt": "weakened\n", "test/new.txt": "new\n",
			"src/x": "a file\n"}},
	} {
		tree, err := r.Objects.Overlay(ctx, base, from, c.paths)
		if err != nil {
			t.Fatal(err)
		}
		if got := r.treeFiles(tree); !slices.Equal(slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(c.want))) {
			t.Errorf("%q: %v, want %v", c.paths, got, c.want)
		} else {
			sameFiles(t, got, c.want)
		}
	}
}
