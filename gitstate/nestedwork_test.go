package gitstate

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/wfs-dev/wfs/gitstate/gitcmd"
)

// TestUnsavedSubmodules: work in a submodule is only in the submodule's own repository. The cases are all ways to leave
// work there, and states without any.
func TestUnsavedSubmodules(t *testing.T) {
	t.Parallel()
	r, lib := newRepo(t), newRepo(t)
	lib.run("tag", "v0")
	lib.run("checkout", "-q", "--detach")
	lib.run("commit", "-q", "--allow-empty", "-m", "a release off every branch")
	lib.run("tag", "-a", "-m", "off", "off")
	lib.run("checkout", "-q", "main")
	r.run("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", lib.Git.Root, "sub")
	r.commit()
	old := time.Unix(1700000000, 0)
	for name, c := range map[string]struct {
		do   func(there *testRepo) // there is the work tree, with the submodule sub checked out
		lost bool
	}{
		"untouched": {func(_ *testRepo) {}, false},
		"such a tag, moved to a commit made here": {func(there *testRepo) {
			there.run("-C", "sub", "tag", "-f", "off",
				there.run("-C", "sub", "commit-tree", "-p", "HEAD", "-m", "wip", "HEAD^{tree}"))
		}, true},
		"a tag of a remote's commit": {func(there *testRepo) { there.run("-C", "sub", "tag", "mine") }, false},
		"a commit that a tag holds": {func(there *testRepo) {
			there.run("-C", "sub", "commit", "-q", "--allow-empty", "-m", "wip")
			there.run("-C", "sub", "tag", "milestone")
			there.run("-C", "sub", "checkout", "-q", "HEAD~")
			there.run("-C", "sub", "reflog", "expire", "--expire=now", "--all")
		}, true},
		"a tag of a file": {func(there *testRepo) {
			there.write("key", "text\n")
			there.run("-C", "sub", "tag", "key", there.run("-C", "sub", "hash-object", "-w", there.path("key")))
		}, true},
		"a commit that a tag holds, not checked out": {func(there *testRepo) {
			there.run("-C", "sub", "commit", "-q", "--allow-empty", "-m", "wip")
			there.run("-C", "sub", "tag", "milestone")
			there.run("-C", "sub", "checkout", "-q", "HEAD~")
			there.run("-C", "sub", "reflog", "expire", "--expire=now", "--all")
			there.run("submodule", "--quiet", "deinit", "sub")
		}, true},
		"assume-unchanged, edited": {func(there *testRepo) {
			there.run("-C", "sub", "update-index", "--assume-unchanged", "a.txt")
			there.write("sub/a.txt", "a month of edits\n")
		}, true},
		"skip-worktree, edited": {func(there *testRepo) {
			there.run("-C", "sub", "update-index", "--skip-worktree", "a.txt")
			there.write("sub/a.txt", "a month of edits\n")
		}, true},
		"skip-worktree, as it was": {func(there *testRepo) {
			there.run("-C", "sub", "update-index", "--skip-worktree",
				"a.txt")
		}, false},
		"skip-worktree, not there": {func(there *testRepo) {
			there.run("-C", "sub", "update-index", "--skip-worktree", "a.txt")
			_ = os.Remove(there.path("sub/a.txt"))
		}, false},
		"edited, with its time set back": {func(there *testRepo) {
			there.run("-C", "sub", "config", "core.trustctime", "false")
			_ = os.Chtimes(there.path("sub/a.txt"), old, old)
			there.run("-C", "sub", "update-index", "--refresh")
			there.write("sub/a.txt", "b\n")
			_ = os.Chtimes(there.path("sub/a.txt"), old, old)
		}, true},
		"a repository in a directory of it": {func(there *testRepo) {
			there.run("init", "-q", "sub/inner")
			there.run("-C", "sub/inner", "commit", "-q", "--allow-empty", "-m", "inner")
			there.run("-C", "sub", "add", "inner")
			there.run("-C", "sub", "commit", "-q", "-m", "inner")
			there.run("-C", "sub", "push", "-q", "origin", "HEAD:refs/heads/inner")
		}, true},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "there")
			r.run("worktree", "add", "-q", "--detach", dir)
			there := &testRepo{Repo: repoOf(gitcmd.New(gitcmd.Place{Root: dir})), t: t, home: r.home, env: r.env}
			there.run("-c", "protocol.file.allow=always", "submodule", "--quiet", "update", "--init")
			there.open(dir)
			if err := os.MkdirAll(there.Git.PrivateDir(), 0o700); err != nil {
				t.Fatal(err)
			}
			c.do(there)
			t.Parallel() // not earlier: git locks the configuration, which all work trees share
			list, err := there.Unsaved(context.Background(), r.Git)
			if err != nil || (strings.Join(list, " ") == "sub") != c.lost || !c.lost && len(list) > 0 {
				t.Errorf("unsaved: %q, %v; lost: %v", list, err, c.lost)
			}
		})
	}
}
