package gitstate

import (
	"context"
	"os"
	"testing"

	"github.com/wfs-dev/wfs/session"
)

// TestRefsKeepTheirModes: in a repository that a group shares, refs and HEAD keep their modes, and git creates the
// files of new refs.
func TestRefsKeepTheirModes(t *testing.T) {
	t.Parallel()
	r, _ := newSession(t)
	ctx := context.Background()
	r.run("config", "core.sharedRepository", "group")
	r.open(r.Git.Root)
	tip := session.Commit(r.run("rev-parse", "HEAD"))
	mode := func(file string) os.FileMode {
		info, err := os.Stat(r.path(".git/" + file))
		if err != nil {
			t.Fatal(err)
		}
		return info.Mode().Perm() & 0o060
	}
	if err := os.Chmod(r.path(".git/HEAD"), 0o664); err != nil {
		t.Fatal(err)
	}
	if err := r.Refs.Move(ctx, session.RefMove{Ref: "refs/wfs/shared/one", New: tip}, ""); err != nil {
		t.Fatal(err)
	}
	if got := mode("refs/wfs/shared/one"); got != 0o060 {
		t.Errorf("a new ref has %v", got)
	}
	next := session.Commit(r.run("commit-tree", "-m", "x", "-p", string(tip), "HEAD^{tree}"))
	if err := r.Refs.Move(ctx, session.RefMove{Ref: "refs/wfs/shared/one", Old: tip, New: next}, ""); err != nil {
		t.Fatal(err)
	}
	if got := mode("refs/wfs/shared/one"); got != 0o060 {
		t.Errorf("a moved ref has %v", got)
	}
	r.run("branch", "other")
	head, err := r.Refs.Head(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Refs.SetHead(ctx, head, "refs/heads/other", head.Commit, "x"); err != nil {
		t.Fatal(err)
	}
	if got := mode("HEAD"); got != 0o060 {
		t.Errorf("HEAD has %v", got)
	}
}
