package gitstate

import (
	"context"
	"strings"
	"testing"

	"github.com/wfs-dev/wfs/gitstate/refs"
	"github.com/wfs-dev/wfs/session"
)

// TestOnlyIn: a rescue is the only copy of something while no checkpoint of the session has its files, or while nothing
// else records the staged changes, HEAD's commits, or the raw bytes.
func TestOnlyIn(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	for name, c := range map[string]struct {
		before func(r *testRepo)
		want   string
	}{
		"everything is in a checkpoint": {func(r *testRepo) { r.write("a.txt", "kept\n") }, ""},
		"and all of it was staged":      {func(r *testRepo) { r.write("a.txt", "kept\n"); r.run("add", "a.txt") }, ""},
		"files that are nowhere else":   {func(r *testRepo) { r.write("a.txt", "alone\n") }, "the only copy"},
		"files that are on a branch of the user's": {func(r *testRepo) {
			r.write("a.txt", "alone\n")
			r.run("switch", "-q", "-c", "side")
			r.run("commit", "-q", "-am", "side")
			r.run("switch", "-q", "main")
			r.write("a.txt", "alone\n")
		}, "the only copy"},
		"staged apart from the files": {func(r *testRepo) {
			r.write("a.txt", "staged\n")
			r.run("add", "a.txt")
			r.write("a.txt", "kept\n")
		}, "what was staged"},
		"commits that nothing leads to": {func(r *testRepo) {
			r.run("switch", "-q", "--detach")
			r.write("a.txt", "mine\n")
			r.run("commit", "-q", "-am", "nowhere else")
			r.write("a.txt", "kept\n")
		}, "older commits"},
		"bytes that git converts": {func(r *testRepo) {
			r.write("a.txt", "kept\r\n")
			r.run("config", "core.autocrlf", "input")
		}, "git converts"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRepo(t)
			c.before(r)
			s := r.snapshot()
			if strings.Contains(c.want, "converts") {
				var err error
				s.Raw, err = r.RawBytes.RawFiles(ctx, s)
				r.must(err)
			}
			ref, err := r.Rescue(ctx, "one", "a test", s, at)
			r.must(err)
			tip := session.Commit(r.run("rev-parse", ref))
			state, err := r.State(ctx, tip)
			r.must(err)

			// A ledger with a checkpoint that was made since.
			r.run("switch", "-q", "-f", "main")
			r.write("a.txt", "kept\n")
			r.run("commit", "-q", "-am", "a checkpoint")
			r.run("update-ref", refs.LedgerRef("one"), "HEAD")
			trees, err := r.LedgerTrees(ctx, "one")
			r.must(err)
			only, err := r.OnlyIn(ctx, tip, state, trees)
			if err != nil || c.want == "" && only != "" || !strings.Contains(only, c.want) {
				t.Errorf("%q, %v; want %q", only, err, c.want)
			}
		})
	}
}
