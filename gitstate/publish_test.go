package gitstate

import (
	"context"
	"errors"
	"os"
	"reflect"
	"testing"

	"github.com/wfs-dev/wfs/gitstate/gitcmd"
	"github.com/wfs-dev/wfs/gitstate/refs"
	"github.com/wfs-dev/wfs/session"
)

func TestPublishLosesToWhoWasFirst(t *testing.T) {
	t.Parallel()
	r, d := newSession(t)
	r.write("b.txt", "b\n")
	p := r.prepare(d)
	base := r.head()
	r.run("update-ref", refs.LedgerRef(testID), string(base))
	if _, err := r.Publish(context.Background(), p); !errors.Is(err, refs.ErrMoved) {
		t.Fatalf("%v", err)
	}
	if r.head() != base || r.resolve(refs.LedgerRef(testID)) != base {
		t.Error("something moved")
	}
}

func TestPublishTwice(t *testing.T) {
	t.Parallel()
	r, d := newSession(t)
	r.write("b.txt", "b\n")
	p := r.prepare(d)
	for range 2 {
		r.publish(p)
	}
	r.wantClean()
}

// aMove returns a move from main, where b.txt is staged, to a branch that has c.txt; its files are already moved.
func aMove(t *testing.T) (*testRepo, session.Turn) {
	r := newRepo(t)
	r.run("switch", "-q", "-c", "wfs/s")
	r.write("c.txt", "c\n")
	r.run("add", "c.txt")
	r.run("commit", "-q", "-m", "c")
	target := r.head()
	r.run("switch", "-q", "main")
	r.run("branch", "-q", "-D", "wfs/s")
	r.write("b.txt", "b\n")
	r.run("add", "b.txt")
	s := r.snapshot()
	if err := os.Remove(r.path("b.txt")); err != nil {
		t.Fatal(err)
	}
	r.write("c.txt", "c\n")
	tree := session.Tree(r.run("rev-parse", string(target)+"^{tree}"))
	return r, session.Turn{
		Worktree: "main", Refs: []session.RefMove{{Ref: refs.BranchRef(testID), New: target}},
		HeadOld: "refs/heads/main", HeadOldCommit: s.Head.Commit, HeadNew: refs.BranchRef(testID),
		Tree: tree, Index: tree, TreeOld: s.Tree, IndexOld: s.Index,
	}
}

func (r *testRepo) settle(turn session.Turn) session.Settled {
	r.t.Helper()
	settled, err := r.Settle(context.Background(), testID, turn)
	if err != nil {
		r.t.Fatal(err)
	}
	return settled
}

func (r *testRepo) wantSettled(turn session.Turn) {
	r.t.Helper()
	if got := r.run("symbolic-ref", "HEAD"); got != turn.HeadNew {
		r.t.Errorf("HEAD is on %s", got)
	}
	if r.head() != turn.Refs[0].New {
		r.t.Errorf("branch is at %s", r.head())
	}
	r.wantClean()
	if _, err := os.Stat(r.Git.IndexPath() + ".lock"); err == nil {
		r.t.Error("the index is still locked")
	}
}

func TestSettle(t *testing.T) {
	t.Parallel()
	r, turn := aMove(t)
	for range 3 {
		if s := r.settle(turn); !reflect.DeepEqual(s, session.Settled{}) {
			t.Errorf("%+v", s)
		}
		r.wantSettled(turn)
	}
	// Settling again does not undo later changes by the user.
	r.write("b.txt", "b\n")
	r.run("rm", "-q", "--cached", "c.txt")
	r.run("add", "b.txt")
	staged := r.run("write-tree")
	r.settle(turn)
	if got := r.run("write-tree"); got != staged {
		t.Error("what was staged later is gone")
	}
	r.run("commit", "-q", "-m", "mine")
	if s := r.settle(turn); len(s.Foreign) != 1 || s.Foreign[0].New != r.head() {
		t.Errorf("%+v", s)
	}
}

// TestSettleAfterAKill: after a kill between any two of its moves, the next command repeats Settle.
func TestSettleAfterAKill(t *testing.T) {
	t.Parallel()
	for name, step := range map[string]func(r *testRepo, turn session.Turn){
		"nothing done": func(r *testRepo, turn session.Turn) {},
		"locked": func(r *testRepo,
			turn session.Turn) {
			mustWrite(r, r.Git.IndexPath()+".lock", string(gitcmd.LockMark))
		},
		"index": func(r *testRepo, turn session.Turn) {
			r.run("read-tree", string(turn.Index))
		},
		"index, still locked": func(r *testRepo, turn session.Turn) {
			r.run("read-tree", string(turn.Index))
			mustWrite(r, r.Git.IndexPath()+".lock", string(gitcmd.LockMark))
		},
		"branch": func(r *testRepo, turn session.Turn) {
			r.run("read-tree", string(turn.Index))
			r.run("update-ref", turn.Refs[0].Ref, string(turn.Refs[0].New))
		},
		"head": func(r *testRepo, turn session.Turn) {
			r.run("read-tree", string(turn.Index))
			r.run("update-ref", turn.Refs[0].Ref, string(turn.Refs[0].New))
			r.run("symbolic-ref", "HEAD", turn.HeadNew)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, turn := aMove(t)
			step(r, turn)
			if s := r.settle(turn); !reflect.DeepEqual(s, session.Settled{}) {
				t.Errorf("%+v", s)
			}
			r.wantSettled(turn)
		})
	}
}

func mustWrite(r *testRepo, path, content string) {
	r.t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		r.t.Fatal(err)
	}
}

func TestSettleLeavesTheUsersStepsAlone(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		user  func(r *testRepo, turn session.Turn)
		check func(t *testing.T, r *testRepo, turn session.Turn, s session.Settled)
	}{
		"branch elsewhere": {
			func(r *testRepo, turn session.Turn) { r.run("update-ref", turn.Refs[0].Ref, "main") },
			func(t *testing.T, r *testRepo, turn session.Turn, s session.Settled) {
				if len(s.Foreign) != 1 || s.Foreign[0].New != turn.HeadOldCommit {
					t.Errorf("%+v", s)
				}
			},
		},
		"head elsewhere": {
			func(r *testRepo, turn session.Turn) {
				r.run("branch", "mine")
				r.run("symbolic-ref", "HEAD", "refs/heads/mine")
			},
			func(t *testing.T, r *testRepo, turn session.Turn, s session.Settled) {
				if s.HeadForeign != "refs/heads/mine" || r.run("symbolic-ref", "HEAD") != "refs/heads/mine" {
					t.Errorf("%+v", s)
				}
			},
		},
		"a commit on the old branch": {
			func(r *testRepo, turn session.Turn) { r.run("commit", "-q", "-m", "mine") },
			func(t *testing.T, r *testRepo, turn session.Turn, s session.Settled) {
				if s.HeadForeign != "refs/heads/main" || r.run("symbolic-ref", "HEAD") != "refs/heads/main" {
					t.Errorf("%+v", s)
				}
			},
		},
		"something staged": {
			func(r *testRepo, turn session.Turn) { r.run("add", "c.txt") },
			func(t *testing.T, r *testRepo, turn session.Turn, s session.Settled) {},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, turn := aMove(t)
			c.user(r, turn)
			index := r.run("write-tree")
			s := r.settle(turn)
			c.check(t, r, turn, s)
			if got := r.run("write-tree"); got != index {
				t.Error("the user's index was replaced")
			}
		})
	}
}

func TestSettleDetachedHead(t *testing.T) {
	t.Parallel()
	r, turn := aMove(t)
	r.settle(turn)
	r.settle(session.Turn{
		Worktree: "main", HeadOld: turn.HeadNew, HeadOldCommit: turn.Refs[0].New, HeadNew: string(turn.HeadOldCommit),
	})
	if got := r.run("rev-parse", "--abbrev-ref", "HEAD"); got != "HEAD" || r.head() != turn.HeadOldCommit {
		t.Errorf("HEAD: %s at %s", got, r.head())
	}
	forth := session.Turn{Worktree: "main", HeadOld: string(turn.HeadOldCommit), HeadNew: turn.HeadNew}
	r.settle(forth)
	if got := r.run("symbolic-ref", "HEAD"); got != turn.HeadNew {
		t.Errorf("HEAD is on %s", got)
	}
}

func TestSettleForAnotherWorktree(t *testing.T) {
	t.Parallel()
	r, turn := aMove(t)
	turn.Worktree = "other"
	index := r.run("write-tree")
	r.settle(turn)
	if r.resolve(turn.Refs[0].Ref) != turn.Refs[0].New {
		t.Error("the ref was not moved")
	}
	if r.run("symbolic-ref", "HEAD") != "refs/heads/main" || r.run("write-tree") != index {
		t.Error("HEAD or index of this work tree changed")
	}
}

func TestSettleCreatesAndDeletesRefs(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	c := r.head()
	moves := []session.RefMove{{Ref: "refs/heads/wfs/new", New: c}, {Ref: "refs/heads/old", Old: c}}
	r.run("branch", "old")
	for range 2 {
		r.settle(session.Turn{Worktree: "main", Refs: moves})
		if r.resolve("refs/heads/wfs/new") != c || r.resolve("refs/heads/old") != "" {
			t.Error("refs are not as the turn says")
		}
	}
}
