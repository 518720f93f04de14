package object

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/wfs-dev/wfs/session"
)

// TestLines compares the differences of many pairs of trees with those that git tells of one pair at a time.
func TestLines(t *testing.T) {
	ctx, r := context.Background(), newRepo(t)
	var trees []session.Tree
	for i := range 4 {
		for name, text := range map[string]string{"kept.txt": "kept\n", "other.txt": fmt.Sprint("line\n", i, "\n"),
			fmt.Sprintf("%d\t:new\nline", i): "a\nb\n", "binary": fmt.Sprint("a\x00", i)} {
			r.Must(os.WriteFile(r.Path(name), []byte(text), 0o644))
		}
		r.Run("add", "-A")
		trees = append(trees, session.Tree(strings.TrimSpace(r.Run("write-tree"))))
		r.Must(os.Remove(r.Path(fmt.Sprintf("%d\t:new\nline", i))))
	}
	var pairs []session.TreePair
	for _, p := range [][2]session.Tree{{"", trees[0]}, {trees[0], trees[1]}, {trees[1], trees[1]},
		{trees[3], trees[2]}, {trees[2], ""}, {trees[0], trees[1]}} {
		pairs = append(pairs, session.TreePair{From: p[0], To: p[1]})
	}
	diffs, err := r.Lines(ctx, pairs...)
	r.Must(err)
	for i, p := range pairs {
		changes, err := r.Changes(ctx, p.From, p.To)
		r.Must(err)
		numstat := ParseLines([]byte(r.Run("diff-tree", "-r", "-z", "--numstat", string(r.OrEmpty(p.From)),
			string(r.OrEmpty(p.To)))))
		var want []session.FileLines
		for k, c := range changes {
			n := numstat[k]
			want = append(want, session.FileLines{Path: c.Path, Status: c.Status, Added: n.Added, Removed: n.Removed,
				Binary: n.Binary})
		}
		if fmt.Sprint(diffs[i]) != fmt.Sprint(want) {
			t.Errorf("pair %d:\ngot  %+v\nwant %+v", i, diffs[i], want)
		}
	}
	if diffs, err := r.Lines(ctx); err != nil || len(diffs) != 0 {
		t.Errorf("no pairs: %v, %v", diffs, err)
	}
}
