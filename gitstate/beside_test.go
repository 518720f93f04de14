package gitstate

import (
	"context"
	"testing"
)

// A result in place is believed again only if all is as it was beside the tree: whatever is ignored or not tracked.
func TestBeside(t *testing.T) {
	t.Parallel()
	r, _ := newSession(t)
	r.write(".gitignore", "build/\n.cache/\nlib/\n")
	r.run("add", "-A")
	r.run("commit", "-q", "-m", "rules")
	r.write("build/x", "one")
	beside := func() string {
		t.Helper()
		r.snapshot()
		digest, err := r.Beside(context.Background(), nil)
		if err != nil {
			t.Fatal(err)
		}
		return digest
	}
	r.snapshot()
	r.open(r.root)
	if got, err := r.Beside(t.Context(), nil); got != "" || err != nil {
		t.Errorf("what another process has looked at says %q, %v", got, err)
	}
	first := beside()
	if _, ok := changeOf(mustStat(t, r.path("build/x"))); !ok {
		if first != "" {
			t.Errorf("%q, and this system does not tell when a file last changed", first)
		}
		return
	}
	if first == "" || first != beside() {
		t.Fatalf("%q, then %q", first, beside())
	}
	r.write(".cache/tool", "what a tool remembers")
	r.write("a.txt", "what is in the tree is in another part of the key")
	if got := beside(); got != first {
		t.Errorf("a cache and a tracked file changed it to %q", got)
	}
	r.write("build/x", "two")
	second := beside()
	r.write("build/y", "new")
	if third := beside(); first == second || second == third || second == "" || third == "" {
		t.Errorf("%q, edited %q, one more file %q", first, second, third)
	}
	r.write("lib/.git/HEAD", "ref: refs/heads/main\n")
	r.run("init", "-q", "lib")
	r.write("lib/code", "of somebody else")
	if got := beside(); got != "" {
		t.Errorf("with a repository in it: %q", got)
	}
}
