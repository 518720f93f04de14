package gitstate

import (
	"context"
	"errors"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/wfs-dev/wfs/gitstate/gitcmd"
	"github.com/wfs-dev/wfs/gitstate/handover"
	"github.com/wfs-dev/wfs/session"
)

const handedOver = "refs/heads/feature/x"

func (r *testRepo) hook(name, script string) {
	r.t.Helper()
	path := filepath.Join(r.Git.CommonDir, "hooks", name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755),
		os.WriteFile(path, []byte("#!/bin/sh\n"+script), 0o755)); err != nil {
		r.t.Fatal(err)
	}
}

// everything returns all that a handover must not change: files, HEAD, index and refs.
func (r *testRepo) everything() map[string]string {
	r.t.Helper()
	all := r.disk()
	all["HEAD"] = r.run("symbolic-ref", "HEAD")
	all["index"] = r.run("ls-files", "-s")
	all["refs"] = r.run("for-each-ref")
	return all
}

func (r *testRepo) failsToCommit(base session.Commit, tree session.Tree) error {
	r.t.Helper()
	before := r.everything()
	c, err := r.CommitOnto(context.Background(), handedOver, base, tree, "subject\n")
	if err == nil {
		r.t.Fatalf("committed %s", c)
	}
	if got := r.everything(); !maps.Equal(got, before) {
		r.t.Errorf("left behind: %q, before %q", got, before)
	}
	if _, err := os.Stat(filepath.Join(r.Git.PrivateDir(), "finish")); !gitcmd.Absent(err) {
		r.t.Errorf("the git directory is still there: %v", err)
	}
	return err
}

func TestCommitOnto(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	r.write("new", "n\n")
	r.run("config", "commit.template", "no-such-template")
	r.run("config", "commit.verbose", "true")
	r.run("config", "commit.cleanup", "strip")
	r.run("config", "i18n.commitEncoding", "ISO-8859-1")
	r.hook("pre-commit", "test \"$(git diff --cached --name-only)\" = new || exit 1\necho hello\n")
	r.hook("commit-msg", "echo 'Change-Id: I1' >>\"$1\"\n")
	base, s, before := r.head(), r.snapshot(), r.everything()
	c, err := r.CommitOnto(context.Background(), handedOver, base, s.Tree, "subjéct\n\n# not a comment\n\nbody\n")
	if err != nil {
		t.Fatal(err)
	}
	if got := r.run("log", "-1", "--format=%H %P %T %an", handedOver); got != string(c)+" "+string(base)+" "+
		string(s.Tree)+" Ann" {
		t.Errorf("commit: %s", got)
	}
	info, err := r.Objects.CommitInfo(context.Background(), c)
	if err != nil || info.Subject != "subjéct" || info.Body != "# not a comment\n\nbody\nChange-Id: I1\n" ||
		info.At != at || info.Author != "Ann <ann@example.org>" {
		t.Errorf("info: %+v, %v", info, err)
	}
	after := r.everything()
	if !strings.Contains(after["refs"], handedOver) {
		t.Error("no branch")
	}
	delete(before, "refs")
	delete(after, "refs")
	if !maps.Equal(before, after) {
		t.Errorf("changed: %q, before %q", after, before)
	}
	r.fsck()
	_, err = r.CommitOnto(context.Background(), handedOver, base, s.Tree, "again\n")
	if !errors.Is(err, handover.ErrBranchExists) || r.run("rev-parse", handedOver) != string(c) {
		t.Errorf("a second time: %v", err)
	}
}

func TestCommitOntoFails(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		lay  func(*testRepo)
		says string
	}{
		{"pre-commit refuses", func(r *testRepo) { r.hook("pre-commit", "echo lint: line 3 is bad\nexit 3\n") },
			"lint: line 3 is bad"},
		{"commit-msg refuses", func(r *testRepo) { r.hook("commit-msg", "echo no ticket >&2\nexit 1\n") }, "no ticket"},
		{"core.hooksPath", func(r *testRepo) {
			r.hook("../ourhooks/pre-commit", "echo from elsewhere\nexit 1\n")
			r.run("config", "core.hooksPath", ".git/ourhooks")
		}, "from elsewhere"},
		{"a hook adds a file", func(r *testRepo) { r.hook("pre-commit", "echo formatted >fmt\ngit add fmt\nrm fmt\n") },
			"fmt"},
		{"a hook amends", func(r *testRepo) {
			r.hook("post-commit", "test -e $GIT_DIR/once && exit\n: >$GIT_DIR/once\ngit rm -q --cached a.txt && git commit -q --amend -m a\n")
		}, "a.txt"},
		{"signing without a key", func(r *testRepo) {
			r.run("config", "commit.gpgSign", "true")
			r.run("config", "gpg.program", "no-such-gpg")
		}, "no-such-gpg"},
		{"an identity is missing", func(r *testRepo) {
			for i, kv := range r.env {
				if strings.HasPrefix(kv, "GIT_AUTHOR_NAME") || strings.HasPrefix(kv, "GIT_COMMITTER_NAME") ||
					strings.HasPrefix(kv, "GIT_AUTHOR_EMAIL") {
					r.env[i] = "UNUSED" + kv
				}
			}
			r.run("config", "user.useConfigOnly", "true")
			r.open(r.Git.Root)
		}, "tell me who you are"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := newRepo(t)
			r.write("new", "n\n")
			s := r.snapshot()
			tt.lay(r)
			err := r.failsToCommit(r.head(), s.Tree)
			if !strings.Contains(err.Error(), tt.says) {
				t.Errorf("error %q does not say %q", err, tt.says)
			}
		})
	}
}

// TestCommitOntoLeavesForeignCommits keeps commits that others have added to the branch.
func TestCommitOntoLeavesForeignCommits(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	s := r.snapshot()
	r.hook("post-commit", "test -e $GIT_DIR/once && exit\n: >$GIT_DIR/once\ngit commit -q --allow-empty -m theirs\n")
	_, err := r.CommitOnto(context.Background(), handedOver, r.head(), s.Tree, "subject\n")
	var changed *handover.HookChangedError
	if !errors.As(err, &changed) || !strings.Contains(err.Error(), "was left at") {
		t.Errorf("error: %v", err)
	}
	if got := r.run("log", "-1", "--format=%s", handedOver); got != "theirs" {
		t.Errorf("the branch ends in %q", got)
	}
}

func TestCommitOntoCancelled(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	s := r.snapshot()
	ctx, cancel := context.WithCancel(context.Background())
	pipe := filepath.Join(r.home, "pipe")
	if err := exec.Command("mkfifo", pipe).Run(); err != nil {
		t.Skip(err)
	}
	r.hook("pre-commit", ": >"+pipe+"\ncat "+pipe+"\n") // reports that it runs, and blocks
	go func() {
		os.ReadFile(pipe)
		cancel()
	}()
	before := r.everything()
	if _, err := r.CommitOnto(ctx, handedOver, r.head(), s.Tree, "subject\n"); !errors.Is(err, context.Canceled) {
		t.Errorf("error: %v", err)
	}
	if got := r.everything(); !maps.Equal(got, before) {
		t.Errorf("left behind: %q", got)
	}
}

func TestHandoverTree(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	ctx := context.Background()
	lines := func(edit ...string) string {
		all := strings.Split("1 2 3 4 5 6 7 8 9", " ")
		for i := 0; i < len(edit); i += 2 {
			all[slices.Index(all, edit[i])] = edit[i+1]
		}
		return strings.Join(all, "\n") + "\n"
	}
	base := map[string]string{"a": lines(), "bin": "\x00base", "gone": "g\n", "odd\nname": lines(), "mode": lines()}
	carried := map[string]string{"a": lines("1", "carried"), "bin": "\x00base", "new": "n\n",
		"odd\nname": lines("2", "c"), "mode": "x " + lines()}
	tests := []struct {
		name  string
		gated map[string]string
		want  map[string]string // nil: overlap
		over  []string
	}{
		{"nothing done", carried, base, nil},
		{"work elsewhere",
			map[string]string{"a": lines("1", "carried", "9", "work"), "bin": "\x00work", "new": "n\n",
				"odd\nname": lines("2", "c"),
				"mode":      "x " + lines("5", "w"), "more": "m\n"},
			map[string]string{"a": lines("9", "work"), "bin": "\x00work", "gone": "g\n", "odd\nname": lines(),
				"mode": lines("5", "w"), "more": "m\n"}, nil},
		{"the same lines",
			map[string]string{"a": lines("1", "work"), "bin": "\x00base", "new": "changed\n", "odd\nname": lines("2", "w"),
				"mode": lines()},
			nil, []string{"a", "new", "odd\nname"}},
	}
	for _, tt := range tests {
		with := maps.Clone(tt.gated)
		with[".workflow/x/plan.md"] = "plan\n"
		got, err := r.HandoverTree(ctx, r.treeOf(with), r.treeOf(base), r.treeOf(carried))
		if tt.want == nil {
			var overlap *handover.OverlapError
			if !errors.As(err, &overlap) || !errors.Is(err, handover.ErrOverlap) || !slices.Equal(overlap.Paths, tt.over) {
				t.Errorf("%s: error %v", tt.name, err)
			}
			continue
		}
		if want := r.treeOf(tt.want); err != nil || got != want {
			t.Errorf("%s: got %s, %v, want %s", tt.name, r.files(string(got)), err, r.files(string(want)))
		}
		if got, err := r.HandoverTree(ctx, r.treeOf(with), "", ""); err != nil || got != r.treeOf(tt.gated) {
			t.Errorf("%s: without .workflow: %s, %v", tt.name, got, err)
		}
	}
	if _, err := os.Stat(filepath.Join(r.Git.PrivateDir(), "handover")); !gitcmd.Absent(err) {
		t.Errorf("left behind: %v", err)
	}
}

// TestCommitOntoLeavesWhatOthersMade: while hooks run, others can check out the new branch and work on it. The branch
// stays, with their commits, and does not move while a work tree is on it.
func TestCommitOntoLeavesWhatOthersMade(t *testing.T) {
	const goThere = "unset GIT_DIR GIT_INDEX_FILE GIT_WORK_TREE; git worktree add -q -f ../theirs feature/x >&2"
	for name, c := range map[string]struct{ hook, script, stays, says string }{
		"a commit": {"pre-commit",
			"git update-ref " + handedOver + " $(git commit-tree -p HEAD -m mine HEAD^{tree}); exit 1", "mine", "was left at"},
		"a work tree, and the hook fails":  {"pre-commit", goThere + "; exit 1", "base", "where it began"},
		"a work tree, and the hook passes": {"pre-commit", goThere, "base", "where it began"},
		"a work tree, after the commit":    {"post-commit", goThere, "base", "where it began"},
		"a work tree, and the hook changes": {"pre-commit", "echo x > fmt; git add fmt; rm fmt; " + goThere, "base",
			"where it began"},
		"this work tree": {"pre-commit",
			"unset GIT_DIR GIT_INDEX_FILE GIT_WORK_TREE; git symbolic-ref HEAD " + handedOver, "base", "where it began"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRepo(t)
			r.hook(c.hook, c.script+"\n")
			r.write("new", "n\n")
			r.run("commit", "-q", "--allow-empty", "--no-verify", "-m", "base")
			_, err := r.CommitOnto(context.Background(), handedOver, r.head(), r.snapshot().Tree, "subject\n")
			if err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("the error is %v", err)
			}
			if got := r.run("log", "-1", "--format=%s", handedOver); got != c.stays {
				t.Errorf("the branch is at %q", got)
			}
			if c.hook == "pre-commit" && strings.HasPrefix(name, "a work tree") {
				if got := r.run("-C", "../theirs", "diff", "--cached", "--name-only"); got != "" {
					t.Errorf("somebody finds changes that he did not make: %s", got)
				}
			}
		})
	}
}
