package room

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/wfs-dev/wfs/internal/testkit"
	"github.com/wfs-dev/wfs/session"
)

func TestMain(m *testing.M) { os.Exit(testkit.Main(m)) }

// testRepo is a repository in a temporary directory, untouched by the machine's and the user's configuration.
type testRepo struct {
	*Set
	t    *testing.T
	home string
	env  []string
}

// newRepo makes a repository with one commit that holds a.txt ("a\n"). Further arguments go to git init.
func newRepo(t *testing.T, initArgs ...string) *testRepo {
	t.Helper()
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	root := filepath.Join(home, "repo")
	if err := os.MkdirAll(root, 0o755); err != nil {
		t.Fatal(err)
	}
	r := &testRepo{t: t, home: home, env: []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + home, "GIT_CONFIG_GLOBAL=" + filepath.Join(home, "gitconfig"),
		"GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=Ann", "GIT_AUTHOR_EMAIL=ann@example.org", "GIT_COMMITTER_NAME=Ann",
		"GIT_COMMITTER_EMAIL=ann@example.org", "GIT_AUTHOR_DATE=1700000000 +0000",
		"GIT_COMMITTER_DATE=1700000000 +0000", "LC_ALL=C", "TZ=UTC",
	}}
	common := filepath.Join(root, ".git")
	r.Set = &Set{Root: root, CommonDir: common, Memory: filepath.Join(common, "wfs", "rooms"), Git: r.git, Head: r.head,
		Worktrees: r.worktrees}
	r.run(append([]string{"init", "-q", "-b", "main"}, initArgs...)...)
	r.Format = r.run("rev-parse", "--show-object-format")
	r.write("a.txt", "a\n")
	r.run("add", "a.txt")
	r.run("commit", "-q", "-m", "first")
	return r
}

func (r *testRepo) git(ctx context.Context, c Call, args ...string) ([]byte, error) {
	dir := r.Root
	if c.Dir != "" {
		dir = c.Dir
	}
	if c.GitDir != "" {
		args = append([]string{"--git-dir=" + c.GitDir, "--work-tree=" + dir}, args...)
	}
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir, cmd.Env, cmd.Stdin = dir, r.env, bytes.NewReader(c.Stdin)
	if c.Index != "" {
		cmd.Env = append(slices.Clone(r.env), "GIT_INDEX_FILE="+c.Index)
	}
	out, err := cmd.Output()
	if cmd.ProcessState != nil && slices.Contains(c.OkExit, cmd.ProcessState.ExitCode()) {
		err = nil
	}
	return out, err
}

func (r *testRepo) head(context.Context) (session.Commit, int64, error) {
	commit, date, _ := strings.Cut(r.run("log", "-1", "--format=%H %ct"), " ")
	at, err := strconv.ParseInt(date, 10, 64)
	return session.Commit(commit), at, err
}

func (r *testRepo) worktrees(context.Context) (paths []string, err error) {
	for line := range strings.Lines(r.run("worktree", "list", "--porcelain")) {
		if path, ok := strings.CutPrefix(strings.TrimSpace(line), "worktree "); ok {
			paths = append(paths, path)
		}
	}
	return paths, nil
}

// run runs git as the user would and returns what it printed, without the last line feed.
func (r *testRepo) run(args ...string) string {
	r.t.Helper()
	out, err := r.git(context.Background(), Call{}, args...)
	if err != nil {
		r.t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSuffix(string(out), "\n")
}

func (r *testRepo) path(name string) string { return r.live(name) }

// write writes a file of the work tree and makes its directories.
func (r *testRepo) write(name, content string) {
	r.t.Helper()
	if err := os.MkdirAll(filepath.Dir(r.path(name)), 0o755); err != nil {
		r.t.Fatal(err)
	}
	if err := os.WriteFile(r.path(name), []byte(content), 0o644); err != nil {
		r.t.Fatal(err)
	}
}

// snap is the work tree as a tree.
func (r *testRepo) snap() session.Tree {
	r.t.Helper()
	r.run("add", "-A")
	return session.Tree(r.run("write-tree"))
}

// treeFiles lists what a tree has, by path: the text of a file, and where a link leads.
func (r *testRepo) treeFiles(tree session.Tree) map[string]string {
	r.t.Helper()
	want := map[string]string{}
	for _, line := range splitZ([]byte(r.run("ls-tree", "-r", "-z", string(tree)))) {
		meta, name, _ := strings.Cut(line, "\t")
		f := strings.Fields(meta)
		data, err := r.git(context.Background(), Call{}, "cat-file", "blob", f[2])
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
