package gitstate

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/wfs-dev/wfs/session"
)

// What is remembered of a checkpoint's trees is in that checkpoint, all of it; and what builds on it makes no tree that is
// there already, and is whole.
func TestTreesAreRememberedOfTheirCommit(t *testing.T) {
	defer drawn(t, 6)()
	skipped := 0
	rapid.Check(t, func(rt *rapid.T) {
		r, d := newSession(t)
		for i := range 6 {
			r.write(fmt.Sprintf("d%d/deep/f", i), "first")
			r.write(fmt.Sprintf("d%d/g", i), "first")
		}
		if rapid.Bool().Draw(rt, "own") {
			r.write(".wfs/config.yaml", "version: 1\n")
			r.run("add", "-f", ".wfs")
		}
		for n := range rapid.IntRange(2, 6).Draw(rt, "checkpoints") {
			for range rapid.IntRange(1, 3).Draw(rt, "edits") {
				i := rapid.IntRange(0, 5).Draw(rt, "directory")
				// The same words again bring back trees of earlier checkpoints.
				r.write(fmt.Sprintf("d%d/deep/f", i), rapid.SampledFrom([]string{"first", "second", "third"}).Draw(rt, "text"))
			}
			if rapid.IntRange(0, 4).Draw(rt, "by hand") == 0 {
				r.write(fmt.Sprintf("d%d/g", n), "by hand")
				r.run("add", "-A", "--", "d0", "d1")
				r.run("write-tree")
			}
			base := session.Tree(r.run("rev-parse", "HEAD^{tree}"))
			p := r.prepare(d)
			r.publish(p)
			d = r.draft(p.Ledger)
			r.run("fsck", "--strict")
			in := map[string]bool{}
			for line := range strings.Lines(r.run("ls-tree", "-r", "-t", "HEAD")) {
				if f := strings.Fields(line); f[1] == "tree" {
					in[f[2]] = true
				}
			}
			for id := range r.treesIn(p.Tree) {
				if !in[id] {
					rt.Errorf("%s is remembered, and not in the checkpoint", id)
				}
				skipped++
			}
			if base != p.Tree && len(r.treesIn(base)) > 0 {
				rt.Errorf("what is remembered of %s counts for %s: %v", p.Tree, base, r.treesIn(base))
			}
		}
	})
	if skipped == 0 {
		t.Error("nothing was ever remembered")
	}
}
