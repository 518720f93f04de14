package gitstate

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/wfs-dev/wfs/gitstate/object"
)

// TestTreesAreNoted: a checkpoint caches in the index exactly the trees that git would cache, and all of them exist.
func TestTreesAreNoted(t *testing.T) {
	defer drawn(t, 6)()
	noted := 0
	rapid.Check(t, func(rt *rapid.T) {
		r, d := newSession(t)
		for i := range 6 {
			r.write(fmt.Sprintf("d%d/deep/f", i), "first")
			r.write(fmt.Sprintf("d%d/g", i), "first")
		}
		own := rapid.Bool().Draw(rt, "own")
		if own {
			r.write(".wfs/config.yaml", "version: 1\n")
			r.run("add", "-f", ".wfs")
		}
		for n := range rapid.IntRange(2, 6).Draw(rt, "checkpoints") {
			for range rapid.IntRange(1, 3).Draw(rt, "edits") {
				i := rapid.IntRange(0, 5).Draw(rt, "directory")
				// The same texts again give the same trees as in earlier checkpoints.
				r.write(fmt.Sprintf("d%d/deep/f", i), rapid.SampledFrom([]string{"first", "second", "third"}).Draw(rt, "text"))
			}
			if rapid.IntRange(0, 4).Draw(rt, "by hand") == 0 {
				r.write(fmt.Sprintf("d%d/g", n), "by hand")
				r.run("add", "-A", "--", "d0", "d1")
				r.run("write-tree")
			}
			p := r.prepare(d)
			r.publish(p)
			d = r.draft(p.Ledger)
			r.run("fsck", "--strict") // checks the index as well
			x, err := r.Objects.ReadIndex(context.Background(), r.Git.IndexPath())
			r.must(err)
			tree := x.Info().Tree
			if tree == "" {
				continue
			}
			noted++
			index := filepath.Join(r.home, "fresh")
			os.Remove(index)
			fresh := &testRepo{Repo: r.Repo, t: r.t, home: r.home, env: append(slices.Clone(r.env), "GIT_INDEX_FILE="+index)}
			fresh.run("read-tree", tree)
			theirs, err := r.Objects.ReadIndex(context.Background(), index)
			r.must(err)
			if got, want := string(x.Cached.Append(nil)), string(theirs.Cached.Append(nil)); got != want ||
				!sameContent(x, theirs) {
				rt.Errorf("noted of the trees is %q, by git %q", got, want)
			}
			if !own && tree != r.run("rev-parse", "HEAD^{tree}") {
				rt.Errorf("the index holds %s, the checkpoint another tree", tree)
			}
		}
	})
	if noted == 0 {
		t.Error("nothing was ever noted")
	}
}

// sameContent reports whether two indexes have the same content.
func sameContent(a, b *object.Index) bool {
	return a == b || slices.EqualFunc(a.Entries, b.Entries, func(a, b object.IndexEntry) bool {
		return a.Mode == b.Mode && a.Stage == b.Stage && a.Intended == b.Intended && bytes.Equal(a.ID, b.ID) &&
			bytes.Equal(a.Name, b.Name)
	})
}
