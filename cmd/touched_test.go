package cmd

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/wfs-dev/wfs/engine"
	"github.com/wfs-dev/wfs/gitstate"
	"github.com/wfs-dev/wfs/session"
)

// meddling is a store in which somebody writes to the work tree right before files are moved, so many times.
type meddling struct {
	*gitstate.Repo
	times *int
	write func(n int)
}

func (m meddling) MoveTree(ctx context.Context, p session.Move) error {
	if *m.times > 0 {
		m.write(*m.times)
		*m.times--
	}
	return m.Repo.MoveTree(ctx, p)
}

// meddles goes from session one to session two while somebody writes.
func (f *fixture) meddles(times int, write func(n int)) error {
	f.t.Helper()
	return f.goesToTwo(func(r *gitstate.Repo) engine.Store { return meddling{r, &times, write} })
}

// goesToTwo goes from session one to session two, with a store of one's own.
func (f *fixture) goesToTwo(store func(*gitstate.Repo) engine.Store) error {
	f.t.Helper()
	a := f.app()
	defer a.close()
	ctx := context.Background()
	a.eng.Store = store(a.repo)
	if err := a.hold("test", "two"); err != nil {
		f.t.Fatal(err)
	}
	h, err := a.take(ctx, "two")
	if err == nil {
		_, err = h.Enter(ctx)
	}
	return err
}

// What is written between the snapshot of a move and its files is kept like all that was there before, and the move goes on.
func TestWrittenToInTheMiddleOfAMove(t *testing.T) {
	for name, write := range map[string]func(f *fixture, n int){
		"a file that goes is edited":                    func(f *fixture, n int) { f.write("first.txt", fmt.Sprintln("edited in between", n)) },
		"a file appears where one comes":                func(f *fixture, n int) { f.write("of-two.txt", fmt.Sprintln("appeared in between", n)) },
		"a directory appears there":                     func(f *fixture, n int) { f.write("of-two.txt/x", fmt.Sprintln("appeared in between", n)) },
		"a file goes by itself":                         func(f *fixture, n int) { f.ok("rm", "-f", "first.txt") },
		"a file that has nothing to do with it appears": func(f *fixture, n int) { f.write("beside.txt", fmt.Sprintln("beside", n)) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := plainTemplate.fixture(t)
			f.dirty()
			before := f.blobs()
			if err := f.meddles(2, func(n int) {
				write(f, n)
				for id := range f.onDisk() {
					before[id] = "work tree, for a moment"
				}
			}); err != nil {
				t.Fatal(err)
			}
			f.nothingLost(before)
			f.sound()
			f.on("wfs/two")
			if !f.exists("of-two.txt") || f.exists("first.txt") {
				t.Error("the work tree is not two's")
			}
		})
	}
}

// Whoever never stops has the command fail, and the next one go on.
func TestWrittenToWithoutEndInTheMiddleOfAMove(t *testing.T) {
	t.Parallel()
	f := plainTemplate.fixture(t)
	f.dirty()
	before := f.blobs()
	err := f.meddles(100, func(n int) {
		f.write("first.txt", fmt.Sprintln("edited in between", n))
		for id := range f.onDisk() {
			before[id] = "work tree, for a moment"
		}
	})
	if !errors.Is(err, session.ErrTouched) || !strings.Contains(err.Error(), "first.txt") {
		t.Errorf("the error is %v", err)
	}
	f.nothingLost(before)
	f.ok("wfs", "switch", "two")
	f.nothingLost(before)
	onTwo(f)
	f.sound()
}

// Somebody who takes HEAD elsewhere in the middle has it there.
func TestHeadMovedInTheMiddleOfAMove(t *testing.T) {
	t.Parallel()
	f := plainTemplate.fixture(t)
	f.dirty()
	before := f.blobs()
	err := f.meddles(1, func(int) {
		f.write("first.txt", "edited in between\n")
		f.ok("git", "symbolic-ref", "HEAD", "refs/heads/side")
	})
	var refused *session.Refusal
	if !errors.As(err, &refused) || refused.Code != session.RefuseMoved {
		t.Errorf("the error is %v", err)
	}
	f.nothingLost(before)
	f.on("side")
	f.happened("two", "move_started dropped")
}

// A commit that somebody made on a session's branch, and that no checkpoint has adopted yet, is reachable when the branch
// is moved back.
func TestCommitsByHandOutliveAMove(t *testing.T) {
	for _, elsewhere := range []bool{false, true} {
		t.Run(fmt.Sprintf("elsewhere=%t", elsewhere), func(t *testing.T) {
			t.Parallel()
			f := plainTemplate.fixture(t)
			f.write("by-hand.txt", "by hand\n")
			f.ok("git", "add", "-A")
			f.ok("git", "commit", "-q", "-m", "by hand")
			if elsewhere {
				f.ok("git", "switch", "-q", "main")
			}
			before := f.blobs()
			f.ok("wfs", "resume", "one@0")
			f.nothingLost(before)
			f.ok("wfs", "checkpoint")
			f.nothingLost(before)
			f.ok("wfs", "undo")
			f.nothingLost(before)
			f.ok("wfs", "switch", "main")
			f.ok("wfs", "switch", "one")
			f.branchHolds("wfs/one", "by-hand.txt")
		})
	}
}
