package gitstate

import (
	"context"
	"os"
	"strings"
	"testing"
)

// TestHeadIsMovedAsGitMovesIt checks that HEAD and its reflog are, byte for byte, the same as after git has moved HEAD;
// also if reflogs are disabled, or were disabled after this one began.
func TestHeadIsMovedAsGitMovesIt(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		config string
		noLog  bool // there is no reflog yet
	}{
		"as usual":         {"true", false},
		"no log yet":       {"always", true},
		"not wanted":       {"false", true},
		"no longer wanted": {"false", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRepo(t)
			r.run("branch", "other")
			r.run("config", "core.logAllRefUpdates", c.config)
			if c.noLog {
				if err := os.Remove(r.path(".git/logs/HEAD")); err != nil {
					t.Fatal(err)
				}
			}
			read := func() string {
				head, err := os.ReadFile(r.path(".git/HEAD"))
				if err != nil {
					t.Fatal(err)
				}
				log, err := os.ReadFile(r.path(".git/logs/HEAD"))
				if err != nil && !os.IsNotExist(err) {
					t.Fatal(err)
				}
				lines := strings.Split(strings.TrimSpace(string(log)), "\n")
				return string(head) + lines[len(lines)-1]
			}
			head, err := r.Refs.Head(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			const why = "checkout: moving from main to other"
			if err := r.Refs.SetHead(context.Background(), head, "refs/heads/other", head.Commit, why); err != nil {
				t.Fatal(err)
			}
			ours := read()
			if c.config != "false" && r.run("rev-parse", "--symbolic-full-name", "@{-1}") != "refs/heads/main" {
				t.Error("git finds no way back")
			}
			r.run("symbolic-ref", "HEAD", "refs/heads/main")
			if c.noLog {
				_ = os.Remove(r.path(".git/logs/HEAD"))
			}
			r.run("symbolic-ref", "-m", why, "HEAD", "refs/heads/other")
			if theirs := read(); ours != theirs {
				t.Errorf("wrote\n%q\nand git\n%q", ours, theirs)
			}
		})
	}
}
