package safety

import (
	"slices"
	"strings"
	"testing"

	"github.com/wfs-dev/wfs/internal/testkit"
)

// works makes the edits of a user who does not know that a command was interrupted.
func (f *fixture) works() {
	f.write("edited.txt", "since\n")
	f.write("mine.txt", "since\n")
}

func (f *fixture) rescues(id string) []string {
	f.t.Helper()
	return strings.Fields(f.ok("git", "for-each-ref", "--format=%(refname)", "refs/wfs/"+id+"/rescue"))
}

// namesAll checks that said names every rescue of a session, and that one of them holds a file.
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

// leavesMain goes from main, with uncommitted edits, to session two, and dies.
func (f *fixture) leavesMain(at step) {
	f.t.Helper()
	dirtyOnMain(f)
	f.dies("two", at, "switch", "two")
}

// TestWhatADeadMoveRelocatesIsNamed has a switch that dies half-way and a user who continues to work; then another
// command completes the move. It says so, and names all refs that keep files which are no longer in the work tree.
func TestWhatADeadMoveRelocatesIsNamed(t *testing.T) {
	const did = "switch from main to two"
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
			f.dies("two", moveHalf, "checkpoint")
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
			f.leavesMain(r.at)
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
			if out := f.ok("wfs", "checkpoint"); strings.Contains(out, "interrupted") {
				t.Errorf("it is said twice:\n%s", out)
			}
			refs := f.rescues("two")
			if out := f.ok("wfs", "gc", "--days", "0", "--force"); !slices.Equal(f.rescues("two"), refs) {
				t.Errorf("gc takes a rescue for nobody's:\n%s", out)
			}
		})
	}
}

// If the next command undoes a move, it also names the newer edits: they are no longer in the work tree.
func TestWhatIsTakenBackIsNamed(t *testing.T) {
	t.Parallel()
	f := plainTemplate.fixture(t)
	f.leavesMain(moveHalf)
	files := f.rescues("two")
	f.works()
	before := f.blobs()
	f.picky("of-two.txt", refuses)
	out, exit := f.try(nil, "wfs", "checkpoint")
	if exit != exitError || !strings.Contains(out, "all files are as they were before") {
		t.Fatalf("exit %d: %s", exit, out)
	}
	f.namesAll("two", out+" "+strings.Join(files, " "), "mine.txt")
	if strings.Contains(out, files[0]) {
		t.Errorf("what was there before is back, and is not what lay there half-way: %s", out)
	}
	f.nothingLost(before)
	f.sound()
}

// The same goes for edits made while a command moves files, or undoes several operations.
func TestWhatIsWrittenInTheMiddleIsNamed(t *testing.T) {
	t.Parallel()
	const works = "echo since $n > edited.txt; echo since $n > mine.txt"
	f := plainTemplate.fixture(t)
	dirtyOnMain(f)
	out, exit := f.meddlesIn("move/files", 2, works, "switch", "two", "--json")
	if exit != exitOK || !strings.Contains(out, `"rescued":"refs/wfs/two/rescue/`) || !strings.Contains(out, `"also_rescued":["refs/wfs/two/rescue/`) {
		t.Errorf("exit %d: %s", exit, out)
	}
	f.namesAll("two", out, "mine.txt")

	f = plainTemplate.fixture(t)
	f.dirty()
	f.ok("wfs", "switch", "two")
	out, exit = f.meddlesIn("move/files", 2, works, "undo")
	if exit != exitOK || !strings.Contains(out, "checkpoint 3 of one") {
		t.Errorf("exit %d: %s", exit, out)
	}
	f.namesAll("two", out, "mine.txt") // rescues of the first of two operations
	f.on("wfs/one")
}

// The next command reports whether a finish of a dead process happened or not.
func TestWhatADeadFinishCameToIsSaid(t *testing.T) {
	for says, at := range map[string]step{
		"finish one on handed was interrupted, and did not happen":               finishCommit,
		"finish one on handed was interrupted, and is completed now: operation ": ledgerMoved,
	} {
		t.Run(says, func(t *testing.T) {
			t.Parallel()
			f := plainTemplate.fixture(t)
			f.finishDies(at)
			out, _ := f.try(nil, "wfs", "checkpoint")
			if !strings.Contains(out, says) {
				t.Errorf("without %q:\n%s", says, out)
			}
			if at.point == finishCommit.point {
				f.namesAll("one", out, "work.txt")
			}
		})
	}
}

// An interrupted move reports that it stopped half-way, and so does the next command, with the command that completes
// it.
func TestInterruptedMoveNamesTheWayOn(t *testing.T) {
	for name, r := range map[string]struct{ typed, way string }{
		"switch": {"switch two", "wfs switch two"},
		"resume": {"resume @0", "wfs resume one"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := plainTemplate.fixture(t)
			f.dirty()
			const interrupts = "rm first.txt; kill -INT $PPID; sleep 0.3" // when one file is moved
			out, exit := f.try(during("move/planned", interrupts), append([]string{"wfs"}, strings.Fields(r.typed)...)...)
			if exit != testkit.ExitInterrupted || !strings.Contains(out, "was interrupted half-way") || !strings.Contains(out, "hint: "+r.way+"\n") {
				t.Errorf("exit %d: %s", exit, out)
			}
			if out := f.ok("wfs", "status"); !strings.Contains(out, "a command was interrupted") || !strings.HasSuffix(out, "next: "+r.way) {
				t.Errorf("status says\n%s", out)
			}
			if out := f.ok(strings.Fields(r.way)...); !strings.Contains(out, "is completed now") || !strings.Contains(out, "is already checked out") {
				t.Errorf("%s says\n%s", r.way, out)
			}
			f.sound()
		})
	}
}

// In another work tree, a command refers the user to the first one, with a command that leaves HEAD where the move
// ends.
func TestInterruptedMoveElsewhereNamesTheWayOn(t *testing.T) {
	t.Parallel()
	f := plainTemplate.fixture(t)
	f.ok("git", "worktree", "add", "-q", "-b", "aside", "../aside")
	f.dirty()
	f.dies("one", headMoved, "switch", "main")
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

// A command that completes a move to a branch prints the dead process's message about uncommitted changes that were
// left there: no later command prints it.
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
			f.dies("one", r.at, "switch", "main")
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
