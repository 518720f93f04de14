package cmd

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/wfs-dev/wfs/engine"
	"github.com/wfs-dev/wfs/gitstate"
	"github.com/wfs-dev/wfs/session"
)

// refusing is a store that moves no file towards where a move leads.
type refusing struct{ *gitstate.Repo }

func (refusing) MoveTree(context.Context, session.Move) error { return errImmovable }

// works is what somebody does who does not know that a command was interrupted.
func (f *fixture) works() {
	f.write("edited.txt", "since\n")
	f.write("mine.txt", "since\n")
}

func (f *fixture) rescues(id string) []string {
	f.t.Helper()
	return strings.Fields(f.ok("git", "for-each-ref", "--format=%(refname)", "refs/wfs/"+id+"/rescue"))
}

// namesAll checks that every rescue of a session is named, and that one of them holds a file.
func (f *fixture) namesAll(id, said, file string) {
	f.t.Helper()
	held := false
	refs := f.rescues(id)
	for _, ref := range refs {
		if !slices.Contains(strings.FieldsFunc(said, func(r rune) bool { return strings.ContainsRune(" ,:;^\"[]\n", r) }), ref) {
			f.t.Errorf("%s is not named:\n%s", ref, said)
		}
		_, exit := f.try(nil, "git", "cat-file", "-e", ref+"^2:"+file)
		held = held || exit == 0
	}
	if !held {
		f.t.Errorf("none of %v holds %s", refs, file)
	}
}

// TestWhatADeadMoveRelocatesIsNamed lets a switch die half-way, somebody work on, and another command complete the move: it
// says so, and names all that keeps what is not in the work tree any more.
func TestWhatADeadMoveRelocatesIsNamed(t *testing.T) {
	const did = "switch from wfs/one to two"
	for name, r := range map[string]struct {
		at    step
		works func(f *fixture) // after it has died
		next  []string
		says  string
		holds string // a file that is in one of the rescues
	}{
		"half of the files are moved": {moveHalf, (*fixture).works, []string{"checkpoint"}, did + " was interrupted, and is completed now: operation ", "mine.txt"},
		"who completes it dies as well": {moveHalf, func(f *fixture) {
			f.works()
			f.dies("two", moveHalf, func(context.Context, *engine.Hand) error { return nil })
		}, []string{"checkpoint"}, "is completed now", "mine.txt"},
		"nothing was edited since": {ledgerMoved, func(*fixture) {}, []string{"checkpoint"}, "is completed now", "untracked.txt"},
		"HEAD is elsewhere by now": {moveHalf, func(f *fixture) { f.ok("git", "switch", "-q", "-c", "aside") }, []string{"switch", "one"},
			did + " was interrupted, and is given up: HEAD was moved since", "untracked.txt"},
		"JSON":       {moveHalf, (*fixture).works, []string{"checkpoint", "--json"}, `,"recovered":[{"session":"two","did":"` + did + `","became":"completed","operation":`, "mine.txt"},
		"JSON error": {moveHalf, (*fixture).works, []string{"resume", "--at", "99", "--json"}, `,"recovered":[{"session":"two","did":"` + did + `","became":"completed","operation":`, "mine.txt"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := plainTemplate.fixture(t)
			f.switchDies(r.at)
			r.works(f)
			before := f.blobs()
			out, exit := f.try(nil, append([]string{"wfs"}, r.next...)...)
			if exit != exitOK && r.next[0] != "resume" || !strings.Contains(out, r.says) {
				t.Errorf("exit %d, without %q:\n%s", exit, r.says, out)
			}
			f.namesAll("two", out, r.holds)
			f.nothingLost(before)
			if r.next[0] == "switch" {
				return
			}
			f.namesAll("two", f.ok("wfs", "undo", "--list", "--moves"), r.holds)
			a := f.app()
			named, err := a.namedRescues(context.Background())
			for _, ref := range f.rescues("two") {
				if err != nil || named[ref] == "" {
					t.Errorf("gc takes %s for nobody's: %v", ref, err)
				}
			}
			if out := f.ok("wfs", "checkpoint"); strings.Contains(out, "interrupted") {
				t.Errorf("it is said twice:\n%s", out)
			}
		})
	}
}

// A move that is taken back by the next command names the edits that were made since, too: they are not there any more.
func TestWhatIsTakenBackIsNamed(t *testing.T) {
	t.Parallel()
	f := plainTemplate.fixture(t)
	f.switchDies(moveHalf)
	files := f.rescues("two")
	f.works()
	before := f.blobs()
	a := f.app()
	a.eng.Store = refusing{a.repo}
	err := a.hold("test", "two")
	a.gone("two")
	var failed *engine.MoveFailedError
	if !errors.As(err, &failed) || failed.Stuck != nil {
		t.Fatalf("the error is %v", err)
	}
	f.namesAll("two", err.Error()+" "+strings.Join(files, " "), "mine.txt")
	if strings.Contains(err.Error(), files[0]) {
		t.Errorf("what was there before is back, and is not what lay there half-way: %v", err)
	}
	f.nothingLost(before)
	f.sound()
}

// So is what somebody writes while a command moves files.
func TestWhatIsWrittenInTheMiddleIsNamed(t *testing.T) {
	t.Parallel()
	f := plainTemplate.fixture(t)
	f.dirty()
	a := f.app()
	times := 2
	a.eng.Store = meddling{a.repo, &times, func(int) { f.works() }}
	if err := a.hold("test", "two"); err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	h, err := a.take(ctx, "two")
	if err != nil {
		t.Fatal(err)
	}
	r, err := h.Enter(ctx)
	if err != nil {
		t.Fatal(err)
	}
	a.json = true
	var out bytes.Buffer
	a.env.Stdout = &out
	if err := a.sayMoved(h, r, nil); err != nil {
		t.Fatal(err)
	}
	var moved movedJSON
	if err := json.Unmarshal(out.Bytes(), &moved); err != nil || moved.Rescued == "" || len(moved.AlsoRescued) == 0 {
		t.Errorf("%v: %s", err, out.String())
	}
	out.Reset()
	a.json = false
	if err := a.sayUndone(h, []*engine.Relocated{{Event: r.Event, Rescued: []string{"refs/wfs/two/rescue/77"}}, r}); err != nil {
		t.Fatal(err)
	}
	a.gone("two")
	f.namesAll("two", out.String(), "mine.txt")
	if !strings.Contains(out.String(), "saved in refs/wfs/two/rescue/77") {
		t.Errorf("the first of two operations has a rescue as well:\n%s", out.String())
	}
}

// A handover that a dead process began is said to have happened or not.
func TestWhatADeadFinishCameToIsSaid(t *testing.T) {
	for at, says := range map[step]string{
		finishCommit: "finish one on handed was interrupted, and did not happen",
		ledgerMoved:  "finish one on handed was interrupted, and is completed now: operation ",
	} {
		t.Run(says, func(t *testing.T) {
			t.Parallel()
			f := plainTemplate.fixture(t)
			f.finishDies(at)
			out, _ := f.try(nil, "wfs", "checkpoint")
			if !strings.Contains(out, says) {
				t.Errorf("without %q:\n%s", says, out)
			}
			if at == finishCommit {
				f.namesAll("one", out, "work.txt")
			}
		})
	}
}

// cancelling is a store that is interrupted when it has moved one file.
type cancelling struct {
	*gitstate.Repo
	f      *fixture
	cancel func()
}

func (c cancelling) MoveTree(ctx context.Context, m session.Move) error {
	c.f.moveOne(m)
	c.cancel()
	return ctx.Err()
}

// Whoever interrupts a move is told that it stands half-way, and so is who comes after, with the command that ends it.
func TestInterruptedMoveNamesTheWayOn(t *testing.T) {
	for name, r := range map[string]struct {
		moves func(ctx context.Context, h *engine.Hand) error
		in    session.ID
		way   string
	}{
		"switch": {func(ctx context.Context, h *engine.Hand) error { _, err := h.Enter(ctx); return err }, "two", "wfs switch two"},
		"resume": {func(ctx context.Context, h *engine.Hand) error { _, err := h.Resume(ctx, 0); return err }, "one", "wfs resume one"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := plainTemplate.fixture(t)
			f.dirty()
			a := f.app()
			ctx, cancel := context.WithCancel(context.Background())
			a.eng.Store = cancelling{a.repo, f, cancel}
			if err := a.hold("test", r.in); err != nil {
				t.Fatal(err)
			}
			h, err := a.take(ctx, r.in)
			if err == nil {
				err = r.moves(ctx, h)
			}
			said := a.diagnose(err)
			a.gone(r.in)
			if !strings.Contains(said.Error, "was interrupted half-way") || said.Code != "interrupted" || said.Hint != r.way {
				t.Errorf("%v: %+v", err, said)
			}
			if out := f.ok("wfs", "status"); !strings.Contains(out, "a command was interrupted") || !strings.HasSuffix(strings.TrimSpace(out), "next: "+r.way) {
				t.Errorf("status says\n%s", out)
			}
			if out := f.ok(strings.Fields(r.way)...); !strings.Contains(out, "is completed now") || !strings.Contains(out, "is already checked out") {
				t.Errorf("%s says\n%s", r.way, out)
			}
			f.sound()
		})
	}
}

// Whoever meets it from another work tree is told to go there, with a command that leaves HEAD where the move goes.
func TestInterruptedMoveElsewhereNamesTheWayOn(t *testing.T) {
	t.Parallel()
	f := plainTemplate.fixture(t)
	f.ok("git", "worktree", "add", "-q", "-b", "aside", "../aside")
	f.dirty()
	f.dies("one", headMoved, func(ctx context.Context, h *engine.Hand) error {
		_, err := h.Leave(ctx, "refs/heads/main")
		return err
	})
	there := strings.TrimSpace(f.ok("git", "rev-parse", "--show-toplevel"))
	out, exit := f.try(nil, "sh", "-c", "cd ../aside && exec wfs resume one")
	if want := "hint: cd " + there + " && wfs switch main\n"; exit == exitOK || !strings.Contains(out, want) {
		t.Errorf("exit %d: %s", exit, out)
	}
	if out := f.ok("wfs", "switch", "main"); !strings.Contains(out, "is completed now") || !strings.Contains(out, "HEAD is on main already") {
		t.Errorf("wfs switch main says\n%s", out)
	}
	f.on("main")
	f.ok("sh", "-c", "cd ../aside && exec wfs resume one")
}

// Who completes a move to a branch says what its own process would have said of uncommitted changes that were left there:
// nothing else does so any more.
func TestWhatWasLeftBehindIsSaidOfADeadMove(t *testing.T) {
	const kept = "main has moved since you left uncommitted changes there; they are saved: git cherry-pick -n refs/wfs/one/rescue/1^2"
	const back = "your uncommitted changes are back"
	for name, r := range map[string]struct {
		at    step
		moved bool // main, since
		next  []string
		says  string
		not   string
	}{
		"main has moved":    {moveHalf, true, []string{"switch", "main"}, "\n" + kept + "\n", back},
		"the turn is true":  {ledgerMoved, true, []string{"switch", "main"}, "\n" + kept + "\n", back},
		"main is as it was": {moveHalf, false, []string{"switch", "main"}, "\n" + back + "\n", "they are saved"},
		"JSON":              {moveHalf, true, []string{"switch", "main", "--json"}, `"note":"` + kept + `"`, back},
		"JSON error":        {ledgerMoved, true, []string{"checkpoint", "--json"}, `"note":"` + kept + `"`, back},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := plainTemplate.fixture(t)
			f.ok("wfs", "switch", "main")
			f.write("mine.txt", "mine\n")
			f.ok("wfs", "switch", "one")
			if r.moved {
				f.ok("git", "update-ref", "refs/heads/main", f.ok("git", "commit-tree", "-p", "main", "-m", "later", "main^{tree}"))
			}
			f.dies("one", r.at, func(ctx context.Context, h *engine.Hand) error {
				_, err := h.Leave(ctx, "refs/heads/main")
				return err
			})
			out, _ := f.try(nil, append([]string{"wfs"}, r.next...)...)
			if !strings.Contains(out, r.says) || strings.Contains(out, r.not) {
				t.Errorf("without %q, or with %q:\n%s", r.says, r.not, out)
			}
			if f.exists("mine.txt") == r.moved {
				t.Errorf("mine.txt is there: %v", !r.moved)
			}
			if out := f.ok("wfs", "switch", "main"); strings.Contains(out, "uncommitted") {
				t.Errorf("it is said twice:\n%s", out)
			}
		})
	}
}
