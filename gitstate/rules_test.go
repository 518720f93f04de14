package gitstate

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/wfs-dev/wfs/gitstate/gitcmd"
)

// held returns the files of a snapshot.
func (r *testRepo) held() []string {
	r.t.Helper()
	return strings.Fields(r.run("ls-tree", "-r", "--name-only", string(r.snapshot().Tree)))
}

// TestExcludesOfTheUser: the user's own rules are read as by git: a relative path starts at the top of the work tree,
// in whichever directory wfs is run; there are none if they are disabled; and a setting that an agent changes takes
// effect.
func TestExcludesOfTheUser(t *testing.T) {
	t.Parallel()
	r, _ := newSession(t)
	r.write("sub/s", "s")
	r.write("a.log", "a")
	r.write("secret", "s")
	r.write(".git/mine", "secret\n")
	config := filepath.Join(r.home, "config")
	r.must(os.MkdirAll(filepath.Join(config, "git"), 0o755))
	r.must(os.WriteFile(filepath.Join(config, "git", "ignore"), []byte("*.log\n"), 0o644))
	r.env = append(r.env, "XDG_CONFIG_HOME="+config)
	for _, dir := range []string{r.Git.Root, r.path("sub")} {
		for i, c := range []struct {
			value string
			out   string
		}{{"", "secret"}, {".git/mine", "a.log"}} {
			r.run("config", "core.excludesFile", c.value)
			repo, err := Open(context.Background(), gitcmd.Options{Dir: dir, Env: r.env, Write: true})
			r.must(err)
			r.Repo = repo
			got := r.held()
			if all := []string{"a.log", "secret"}; !slices.Contains(got, c.out) || slices.Contains(got, all[i]) == (i == 1) {
				t.Errorf("%q in %s: %q", c.value, dir, got)
			}
		}
		r.run("config", "core.excludesFile", "") // by an agent
		if got := r.held(); !slices.Contains(got, "secret") || !slices.Contains(got, "a.log") {
			t.Errorf("switched off meanwhile: %q", got)
		}
	}
}

// TestRulesThatAreIgnored: files with rules that are ignored themselves may change while nothing else does.
func TestRulesThatAreIgnored(t *testing.T) {
	t.Parallel()
	r, _ := newSession(t)
	r.write("tracked", "x")
	r.run("add", "-A")
	r.run("commit", "-q", "-m", "tracked")
	r.aged()
	r.write(".gitignore", ".gitignore\n*.gen\n")
	r.write("b.gen", "precious")
	r.open(r.Git.Root)
	if got := r.held(); slices.Contains(got, "b.gen") {
		t.Fatalf("%q", got)
	}
	r.write(".gitignore", ".gitignore\n")
	if got := r.held(); !slices.Contains(got, "b.gen") {
		t.Errorf("%q", got)
	}
}
