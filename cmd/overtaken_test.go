package cmd

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/wfs-dev/wfs/engine"
	"github.com/wfs-dev/wfs/gitstate"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
)

// pushes makes a commit on a branch, as a push or a fetch into it does.
func (f *fixture) pushes(branch string) {
	f.t.Helper()
	f.write("../theirs", "theirs\n")
	blob := strings.TrimSpace(f.ok("git", "hash-object", "-w", "../theirs"))
	env := []string{"GIT_INDEX_FILE=" + filepath.Join(f.dir, ".git", "theirs")}
	for _, args := range [][]string{{"read-tree", branch}, {"update-index", "--add", "--cacheinfo", "100644," + blob + ",theirs.txt"}} {
		if out, exit := f.try(env, append([]string{"git"}, args...)...); exit != exitOK {
			f.t.Fatal(out)
		}
	}
	tree, _ := f.try(env, "git", "write-tree")
	commit := strings.TrimSpace(f.ok("git", "commit-tree", "-p", branch, "-m", "theirs", strings.TrimSpace(tree)))
	f.ok("git", "update-ref", "refs/heads/"+branch, commit)
}

// A branch that moves, or that another work tree takes, while a switch to it goes on is not gone to: the files would be
// those of its former tip, and the next commit would take the newer ones back.
func TestWhereAMoveGoesIsTakenMeanwhile(t *testing.T) {
	for name, r := range map[string]struct {
		takes func(f *fixture)
		code  session.RefusalCode
	}{
		"a push":            {func(f *fixture) { f.pushes("wfs/two") }, session.RefuseMoved},
		"another work tree": {func(f *fixture) { f.ok("git", "worktree", "add", "-q", "../other", "wfs/two") }, session.RefuseWorktree},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := plainTemplate.fixture(t)
			f.dirty()
			before, files := f.blobs(), f.ok("git", "status", "--porcelain")
			err := f.meddles(1, func(int) { r.takes(f) })
			var refused *session.Refusal
			var failed *engine.MoveFailedError
			if !errors.As(err, &refused) || refused.Code != r.code || !errors.As(err, &failed) || failed.Stuck != nil {
				t.Fatalf("the error is %v", err)
			}
			f.nothingLost(before)
			f.on("wfs/one")
			if now := f.ok("git", "status", "--porcelain"); now != files {
				t.Errorf("the work tree was\n%s\nand is\n%s", files, now)
			}
			f.happened("two", "move_started dropped")
		})
	}
}

// The same between a kill and the next command, which takes the move back.
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

// Whoever goes on with git after a move was killed half-way has what he commits.
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

// A branch that moved after the ledger had, and before HEAD could, is not gone to either.
func TestHeadOfADeadMoveIsBehind(t *testing.T) {
	for name, takes := range map[string]func(f *fixture){
		"a push":            func(f *fixture) { f.pushes("wfs/two") },
		"another work tree": func(f *fixture) { f.ok("git", "worktree", "add", "-q", "../other", "wfs/two") },
		"a deletion":        func(f *fixture) { f.ok("git", "update-ref", "-d", "refs/heads/wfs/two") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := plainTemplate.fixture(t)
			f.switchDies(indexMoved)
			tip := strings.TrimSpace(f.ok("git", "rev-parse", "wfs/two"))
			takes(f)
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

// late is a store in which somebody is faster after the last look at where a move goes.
type late struct {
	*gitstate.Repo
	takes func()
}

func (l late) Publish(ctx context.Context, p session.Prepared) (session.Settled, error) {
	l.takes()
	return l.Repo.Publish(ctx, p)
}

// The same while the move goes on: the error says where HEAD is, and how to come to a branch from there.
func TestHeadOfAMoveIsBehind(t *testing.T) {
	for name, r := range map[string]struct {
		takes func(f *fixture)
		hint  string
	}{
		"a push":     {func(f *fixture) { f.pushes("wfs/two") }, "git switch wfs/two"},
		"a deletion": {func(f *fixture) { f.ok("git", "update-ref", "-d", "refs/heads/wfs/two") }, "git switch -c wfs/two"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := plainTemplate.fixture(t)
			tip := strings.TrimSpace(f.ok("git", "rev-parse", "wfs/two"))
			err := f.goesToTwo(func(repo *gitstate.Repo) engine.Store { return late{repo, func() { r.takes(f) }} })
			var refused *session.Refusal
			if !errors.As(err, &refused) || refused.Hint != r.hint || !strings.Contains(refused.Message, "so HEAD is detached at "+tip[:10]) {
				t.Errorf("the error is %v", err)
			}
			if out := f.ok("git", "status", "--porcelain"); out != "" || strings.TrimSpace(f.ok("git", "rev-parse", "HEAD")) != tip {
				t.Errorf("HEAD is on %s:\n%s", f.head(), out)
			}
			f.ok(strings.Fields(r.hint)...)
			f.on("wfs/two")
		})
	}
}

// Two work trees that go to one branch at the same time do not both get there.
func TestHoldHeads(t *testing.T) {
	t.Parallel()
	f := plainTemplate.fixture(t)
	a, b := f.app(), f.app()
	ctx, cancel := context.WithCancel(context.Background())
	release, err := a.repo.HoldHeads(ctx, "refs/heads/main")
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	if _, err := b.repo.HoldHeads(ctx, "refs/heads/main"); !errors.Is(err, context.Canceled) {
		t.Errorf("it is held twice: %v", err)
	}
	release()
	release, err = b.repo.HoldHeads(ctx, "refs/heads/main")
	if err != nil {
		t.Fatal(err)
	}
	release()
}

// hearing is where a command says what it does. heard is called with it.
type hearing struct {
	bytes.Buffer
	heard func(said string)
}

func (h *hearing) Write(p []byte) (int, error) {
	h.heard(string(p))
	return h.Buffer.Write(p)
}

// Whoever goes to a branch that another command is about to take says so, and waits until that one has come to its end.
func TestWaitsForAnotherHead(t *testing.T) {
	t.Parallel()
	f := plainTemplate.fixture(t)
	release, err := f.app().repo.HoldHeads(context.Background(), "refs/heads/main")
	if err != nil {
		t.Fatal(err)
	}
	out := &hearing{heard: func(said string) {
		if strings.Contains(said, "waiting") {
			release()
		}
	}}
	exit := Main(Env{Args: []string{"switch", "main"}, Dir: f.dir, Environ: f.env, Stdin: strings.NewReader(""), Stdout: out, Stderr: out,
		Now: time.Now, Rand: rand.Reader, PID: os.Getpid()})
	if want := fmt.Sprintf("waiting, for 10 min at most, for wfs (pid %d), which goes to main in %s\n", os.Getpid(), f.app().repo.Root()); exit != exitOK || !strings.Contains(out.String(), want) {
		t.Errorf("exit %d: %s", exit, out)
	}
	f.on("main")
}

// Nobody waits who goes to another branch, or to none.
func TestWaitsForNoOtherHead(t *testing.T) {
	t.Parallel()
	f := plainTemplate.fixture(t)
	for _, branch := range []string{"refs/heads/main", "refs/heads/wfs/one"} {
		release, err := f.app().repo.HoldHeads(context.Background(), branch)
		if err != nil {
			t.Fatal(err)
		}
		defer release()
	}
	for _, args := range [][]string{{"wfs", "resume", "@0"}, {"wfs", "switch", "two"}} {
		if out := f.ok(args...); strings.Contains(out, "waiting") {
			t.Errorf("%v: %s", args, out)
		}
	}
}

// Two work trees that are made at the same time have entries of their own, even if their directories have one name.
func TestTwoTreesOfOneName(t *testing.T) {
	t.Parallel()
	f := plainTemplate.fixture(t)
	a, b := f.app(), f.app()
	ctx, cancel := context.WithCancel(context.Background())
	first, err := a.planTree(ctx, filepath.Join(f.dir, "..", "trees", "a", "feat"), "first", workflows.Worktree{}, a.repo)
	if err != nil {
		t.Fatal(err)
	}
	second, err := b.planTree(ctx, filepath.Join(f.dir, "..", "trees", "b", "feat"), "second", workflows.Worktree{}, b.repo)
	if err != nil || first.Name == second.Name {
		t.Errorf("both are %s: %v", second.Name, err)
	}
	release, err := a.repo.HoldPlans(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	cancel()
	if _, err := b.planTree(ctx, filepath.Join(f.dir, "..", "trees", "c", "feat"), "third", workflows.Worktree{}, b.repo); !errors.Is(err, context.Canceled) {
		t.Errorf("one is planned while another one plans: %v", err)
	}
}

// Sessions that begin with the same hold-out tests at the same time are all written down as those that want the copy.
func TestHoldoutsClaimedAtOnce(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var all []string
	var wait sync.WaitGroup
	for i := range 8 {
		owner := "/repository/.git\tsession-" + string(rune('a'+i))
		all = append(all, owner)
		wait.Go(func() {
			if err := claimHoldout(dir, owner); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	got := (&app{}).holdoutOwners(dir)
	if slices.Sort(got); !slices.Equal(got, all) {
		t.Errorf("owners are %q", got)
	}
}
