package room

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wfs-dev/wfs/gitstate/gitcmd"
	"github.com/wfs-dev/wfs/gitstate/object"
	"github.com/wfs-dev/wfs/gitstate/refs"
	"github.com/wfs-dev/wfs/gitstate/worktree"
	"github.com/wfs-dev/wfs/internal/testkit"
	"github.com/wfs-dev/wfs/session"
)

func TestMain(m *testing.M) { os.Exit(testkit.Main(m)) }

// testRepo is a repository in a temporary directory, independent of the configuration of the machine and the user.
type testRepo struct {
	*Set
	t    *testing.T
	home string
	env  []string
}

// newRepo creates a repository with one commit that has a.txt ("a\n"). Further arguments are passed to git init.
func newRepo(t *testing.T, initArgs ...string) *testRepo {
	t.Helper()
	made := testkit.NewGitRepo(t, initArgs...)
	r := &testRepo{t: t, home: made.Home, env: made.Env}
	r.Set = r.at(made.Root)
	return r
}

// at opens a work tree of the repository.
func (r *testRepo) at(dir string) *Set {
	r.t.Helper()
	git, err := gitcmd.Open(context.Background(), gitcmd.Options{Dir: dir, Env: r.env})
	if err != nil {
		r.t.Fatal(err)
	}
	objects := object.New(git)
	refs := refs.New(git, objects)
	return &Set{Git: git, Objects: objects, Refs: refs, Trees: worktree.New(git, objects, refs)}
}

// run runs git as the user would and returns its output, without the last line feed.
func (r *testRepo) run(dir string, args ...string) string {
	r.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env = dir, r.env
	out, err := cmd.Output()
	if err != nil {
		r.t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSuffix(string(out), "\n")
}

func (r *testRepo) git(args ...string) string { return r.run(r.Git.Root, args...) }

func (r *testRepo) path(name string) string { return r.live(name) }

// write writes a file of the work tree and creates its directories.
func (r *testRepo) write(name, content string) {
	r.t.Helper()
	if err := os.MkdirAll(filepath.Dir(r.path(name)), 0o755); err != nil {
		r.t.Fatal(err)
	}
	if err := os.WriteFile(r.path(name), []byte(content), 0o644); err != nil {
		r.t.Fatal(err)
	}
}

// snap returns the work tree as a tree.
func (r *testRepo) snap() session.Tree {
	r.t.Helper()
	r.git("add", "-A")
	return session.Tree(r.git("write-tree"))
}

// treeFiles lists a tree by path: the text of a file, or the target of a link.
func (r *testRepo) treeFiles(tree session.Tree) map[string]string {
	r.t.Helper()
	want := map[string]string{}
	for _, line := range gitcmd.SplitZ([]byte(r.git("ls-tree", "-r", "-z", string(tree)))) {
		meta, name, _ := strings.Cut(line, "\t")
		f := strings.Fields(meta)
		_, data, err := r.Objects.Read(context.Background(), f[2])
		if err != nil {
			r.t.Fatal(err)
		}
		want[name] = string(data)
		if f[0] == "120000" {
			want[name] = "-> " + string(data)
		}
	}
	return want
}
