package gitstate

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/wfs-dev/wfs/gitstate/gitcmd"
)

// TestLinksIntoAWorkTreeAreNoCopies: a path of the main work tree that only leads into the work tree to be removed is
// not a copy.
func TestLinksIntoAWorkTreeAreNoCopies(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		lay  func(main, there *testRepo)
		same bool
	}{
		"a copy": {func(main, there *testRepo) { main.write("data/m.csv", "m"); there.write("data/m.csv", "m") }, true},
		"a copy that a link leads to": {func(main, there *testRepo) {
			there.write("data/m.csv", "m")
			main.write("../big/m.csv", "m")
			main.link("../big", "data")
		}, true},
		"another name of the same file": {func(main, there *testRepo) {
			main.write("data/m.csv", "m")
			_ = os.MkdirAll(there.path("data"), 0o755)
			_ = os.Link(main.path("data/m.csv"), there.path("data/m.csv"))
		}, true},
		"a link to it": {func(main, there *testRepo) {
			there.write("data/m.csv", "m")
			main.link("../there/data",
				"data")
		}, false},
		"a link to what is above it": {func(main, there *testRepo) {
			there.write("data/m.csv", "m")
			there.write("m.csv", "m")
			main.link("../there", "data")
		}, false},
		"a link below it": {func(main, there *testRepo) {
			there.write("data/sub/m.csv", "m")
			main.write("data/x", "")
			main.link("../../there/data/sub", "data/sub")
		}, false},
		"a link to a link": {func(main, there *testRepo) {
			there.write("data/m.csv", "m")
			main.link("there/data", "../by-way")
			main.link("../by-way", "data")
		}, false},
		"each file a link": {func(main, there *testRepo) {
			there.write("data/m.csv", "m")
			main.write("data/x", "")
			main.link("../../there/data/m.csv", "data/m.csv")
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRepo(t)
			r.write(".gitignore", "data\n")
			r.commit()
			dir := filepath.Join(r.home, "there")
			r.run("worktree", "add", "-q", "--detach", dir)
			there := &testRepo{Repo: repoOf(gitcmd.New(gitcmd.Place{Root: dir})), t: t, home: r.home, env: r.env}
			there.open(dir)
			c.lay(r, there)
			list, err := there.Unkept(context.Background(), "", there.snapshot().Staged, r.Git)
			if err != nil || (len(list) == 0) != c.same {
				t.Errorf("not kept: %q, %v", list, err)
			}
		})
	}
}
