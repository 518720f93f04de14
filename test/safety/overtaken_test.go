package safety

import (
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// pushing makes a commit on a branch, as a push or a fetch into it does.
func pushing(branch string) string {
	return `blob=$(echo theirs | git hash-object -w --stdin); tip=$(git rev-parse ` + branch + `)
tree=$(export GIT_INDEX_FILE=.git/theirs; git read-tree $tip; git update-index --add --cacheinfo 100644,$blob,theirs.txt; git write-tree)
git update-ref refs/heads/` + branch + ` $(git commit-tree -p $tip -m theirs $tree)`
}

func (f *fixture) pushes(branch string) { f.t.Helper(); f.ok("sh", "-c", pushing(branch)) }

const (
	takesTree   = "git worktree add -q ../other wfs/two"
	takesBranch = "git update-ref -d refs/heads/wfs/two"
)

// If a branch moves, or another work tree checks it out, during a switch to it, the switch fails: the files would be
// those of its old tip, and the next commit would revert the newer ones.
func TestWhereAMoveGoesIsTakenMeanwhile(t *testing.T) {
	for name, r := range map[string]struct{ takes, says string }{
		"a push":            {pushing("wfs/two"), "wfs/two was moved by another process"},
		"another work tree": {takesTree, "wfs/two is checked out in"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := plainTemplate.fixture(t)
			f.dirty()
			before := f.blobs()
			out, exit := f.meddles(1, r.takes)
			if exit != exitError || !strings.Contains(out, r.says) || !strings.Contains(out, "all files are as they were before") {
				t.Fatalf("exit %d: %s", exit, out)
			}
			f.nothingLost(before)
			f.on("wfs/one")
			mine(f)
			if now := f.ok("git", "status", "--porcelain"); now != "" {
				t.Errorf("git status is not clean:\n%s", now)
			}
			f.happened("two", "move_started dropped")
		})
	}
}

// The same between a kill and the next command, which undoes the move.
func TestWhereADeadMoveGoesIsTaken(t *testing.T) {
	t.Parallel()
	f := plainTemplate.fixture(t)
	f.switchDies(moveHalf)
	f.pushes("wfs/two")
	before := f.blobs()
	out, exit := f.try(nil, "wfs", "checkpoint")
	if exit != exitError || !strings.Contains(out, "all files are as they were before") || !strings.Contains(out, "wfs/two was moved by another process") || !strings.Contains(out, "hint: wfs switch two") {
		t.Errorf("exit %d: %s", exit, out)
	}
	f.nothingLost(before)
	f.on("wfs/one")
	f.ok("wfs", "switch", "two")
	f.branchHolds("wfs/two", "theirs.txt")
	f.ok("wfs", "checkpoint")
	f.branchHolds("wfs/two", "theirs.txt")
}

// If the user goes on with git after a move was killed half-way, the user's commits stay.
func TestGoingOnWithGitAfterADeadMove(t *testing.T) {
	t.Parallel()
	f := plainTemplate.fixture(t)
	f.switchDies(moveHalf)
	f.ok("git", "switch", "-q", "-f", "wfs/two")
	f.write("day.txt", "a day's work\n")
	f.ok("git", "add", "day.txt")
	f.ok("git", "commit", "-q", "-m", "a day's work")
	before := f.blobs()
	if out, exit := f.try(nil, "wfs", "checkpoint"); exit != exitOK || !strings.Contains(out, "is given up: HEAD was moved since") {
		t.Errorf("exit %d: %s", exit, out)
	}
	f.on("wfs/two")
	f.branchHolds("wfs/two", "day.txt")
	if out := f.ok("git", "status", "--porcelain", "--untracked-files=no"); !f.exists("day.txt") || out != "" {
		t.Errorf("day.txt is there: %t; %s", f.exists("day.txt"), out)
	}
	f.nothingLost(before)
}

// If a branch moves after the ledger and before HEAD, HEAD does not go to it either.
func TestHeadOfADeadMoveIsBehind(t *testing.T) {
	for name, takes := range map[string]string{"a push": pushing("wfs/two"), "another work tree": takesTree, "a deletion": takesBranch} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := plainTemplate.fixture(t)
			f.switchDies(indexMoved)
			tip := strings.TrimSpace(f.ok("git", "rev-parse", "wfs/two"))
			f.ok("sh", "-c", takes)
			out, _ := f.try(nil, "wfs", "undo")
			if !strings.Contains(out, "so HEAD is detached at "+tip[:10]) {
				t.Errorf("it does not say so:\n%s", out)
			}
			if head, _ := f.try(nil, "git", "symbolic-ref", "-q", "HEAD"); head != "" || strings.TrimSpace(f.ok("git", "rev-parse", "HEAD")) != tip {
				t.Errorf("HEAD is on %s", f.head())
			}
			if out := f.ok("git", "status", "--porcelain"); out != "" {
				t.Errorf("the next commit would change what is on the branch:\n%s", out)
			}
		})
	}
}

// The same during the move: the error tells where HEAD is, and how to get to a branch from there.
func TestHeadOfAMoveIsBehind(t *testing.T) {
	for name, r := range map[string]struct{ takes, hint string }{
		"a push":     {pushing("wfs/two"), "git switch wfs/two"},
		"a deletion": {takesBranch, "git switch -c wfs/two"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := plainTemplate.fixture(t)
			tip := f.ok("git", "rev-parse", "wfs/two")
			out, exit := f.try(during("checkpoint/journaled#1", r.takes), "wfs", "switch", "two") // after the last check
			if exit != exitError || !strings.Contains(out, "hint: "+r.hint) || !strings.Contains(out, "so HEAD is detached at "+tip[:10]) {
				t.Errorf("exit %d: %s", exit, out)
			}
			if out := f.ok("git", "status", "--porcelain"); out != "" || f.ok("git", "rev-parse", "HEAD") != tip {
				t.Errorf("HEAD is on %s:\n%s", f.head(), out)
			}
			f.ok(strings.Fields(r.hint)...)
			f.on("wfs/two")
		})
	}
}

// takesHeads acts as another command that goes to a branch: it holds the lock for that until release is called. See
// docs/formats.md.
func (f *fixture) takesHeads(branch, text string) (release func()) {
	f.t.Helper()
	sum := sha256.Sum256([]byte(branch))
	lock, err := os.OpenFile(filepath.Join(f.dir, fmt.Sprintf(".git/wfs/heads-%x.lock", sum[0]>>4)), os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	if err == nil {
		_, err = lock.WriteString(text)
	}
	if err == nil {
		err = syscall.Flock(int(lock.Fd()), syscall.LOCK_EX)
	}
	if err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(func() { _ = lock.Close() })
	return func() { _ = syscall.Flock(int(lock.Fd()), syscall.LOCK_UN) }
}

// hearing collects a command's output. It calls heard with each part.
type hearing struct {
	said  strings.Builder
	heard func(said string)
}

func (h *hearing) Write(p []byte) (int, error) {
	h.heard(string(p))
	return h.said.Write(p)
}

// A command that goes to a branch which another command is about to check out says so, and waits until that command
// ends.
func TestWaitsForAnotherHead(t *testing.T) {
	t.Parallel()
	f := plainTemplate.fixture(t)
	release := f.takesHeads("refs/heads/main", "wfs (pid 7), which goes to main in /other\n")
	out := &hearing{heard: func(said string) {
		if strings.Contains(said, "waiting") {
			release()
		}
	}}
	cmd := exec.Command("wfs", "switch", "main")
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = f.dir, f.env, out, out
	err := cmd.Run()
	if err != nil || !strings.Contains(out.said.String(), "waiting, for 10 min at most, for wfs (pid 7), which goes to main in /other\n") {
		t.Errorf("%v: %s", err, out.said.String())
	}
	f.on("main")
}

// A command that goes to another branch, or to none, does not wait.
func TestWaitsForNoOtherHead(t *testing.T) {
	t.Parallel()
	f := plainTemplate.fixture(t)
	for _, branch := range []string{"refs/heads/main", "refs/heads/wfs/one"} {
		f.takesHeads(branch, "wfs\n")
	}
	for _, args := range [][]string{{"wfs", "resume", "@0"}, {"wfs", "switch", "two"}} {
		if out := f.ok(args...); strings.Contains(out, "waiting") {
			t.Errorf("%v: %s", args, out)
		}
	}
}
