package gitstate

import (
	"context"
	"testing"

	"github.com/wfs-dev/wfs/session"
)

// TestRescuedWork rescues work trees and indexes in which some parts have more than others.
func TestRescuedWork(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		do   func(r *testRepo)
		want string
	}{
		{"files alone", func(r *testRepo) { r.write("a.txt", "mine\n") }, "the files;"},
		{"staged as they are", func(r *testRepo) { r.write("a.txt", "mine\n"); r.run("add", "-A") }, "the files;"},
		{"staged, and edited since", func(r *testRepo) {
			r.write("a.txt", "mine\n")
			r.run("add", "-A")
			r.write("a.txt", "mine again\n")
		}, "the files;what was staged;"},
		{"staged alone", func(r *testRepo) {
			r.write("a.txt", "mine\n")
			r.write("b.txt", "mine\n")
			r.run("add", "b.txt")
		}, "the files;"},
		{"other ends of lines", func(r *testRepo) { r.write("crlf.txt", "one\r\ntwo\n") }, "the files;"},
		{"what a filter takes out", func(r *testRepo) { r.write("x.nb", "in\nout\n") },
			"the files;bytes of files that git converts,;"},
		{"what a filter takes out of a session's documents", func(r *testRepo) { r.write(".workflow/x.nb", "in\nout\n") },
			"the files;"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			ctx := context.Background()
			r := newStripping(t)
			r.write(".gitattributes", "crlf.txt text\n*.nb filter=strip\n")
			r.write("a.txt", "base\n")
			r.run("add", "-A")
			r.run("commit", "-q", "-m", "base")
			c.do(r)
			snap := r.snapshot()
			var err error
			if snap.Raw, err = r.RawBytes.RawFiles(ctx, snap); err != nil {
				t.Fatal(err)
			}
			ref, err := r.Rescue(ctx, testID, "a test", snap, at)
			if err != nil {
				t.Fatal(err)
			}
			tip := session.Commit(r.resolve(ref))
			state, err := r.State(ctx, tip)
			if err != nil {
				t.Fatal(err)
			}
			parts, err := r.RescuedWork(ctx, tip, state)
			got := ""
			for _, p := range parts {
				got += p.What + ";"
			}
			if err != nil || got != c.want {
				t.Errorf("%s, want %s (%v)", got, c.want, err)
			}
		})
	}
}

// newStripping creates a repository with a filter, strip, that removes lines with "out" from files that git stores.
func newStripping(t *testing.T) *testRepo {
	t.Helper()
	r := newRepo(t)
	r.run("config", "filter.strip.clean", "grep -v out")
	r.run("config", "filter.strip.smudge", "cat")
	return r
}
