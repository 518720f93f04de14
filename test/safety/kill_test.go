package safety

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/wfs-dev/wfs/internal/durable"
	"github.com/wfs-dev/wfs/internal/testkit"
)

// deed is a command that the tests kill at every step that it passes, and the state that the repository must have
// once the same command, typed again, has succeeded.
type deed struct {
	name string
	args string // without wfs
	// stdin is a file for its standard input, "" for none.
	stdin string
	tdd   bool // in the repository with test-driven development
	// before prepares the fixture for the command.
	before func(f *fixture)
	// done checks the end. It must hold whether or not the first, killed try had succeeded.
	done  func(f *fixture)
	dirty bool // `git status` need not be clean at the end
	hurt  bool // before damages a file after it has filled kept; until the command succeeds, git and wfs may complain
	clean bool // it is killed only at the steps that make clean trees, which most runs pass
	fails bool // its first run ends with an error, killed or not
	waits bool // no I/O error is injected: its agent waits for files that it has written, or it always exits 0
	// outlive waits for processes that the command started and that live a moment longer than the command.
	outlive func(f *fixture)
}

const crlf = "one\r\ntwo\r\n"

// lineEnds makes a checkpoint of a file whose bytes git changes when it stores them.
func (f *fixture) lineEnds() {
	f.write(".gitattributes", "*.crlf text\n")
	f.write("ends.crlf", crlf)
	f.ok("wfs", "checkpoint")
}

// lineEndsKept checks that those bytes are in the work tree or reachable.
func (f *fixture) lineEndsKept() {
	f.t.Helper()
	if text, err := os.ReadFile(filepath.Join(f.dir, "ends.crlf")); err == nil && string(text) == crlf {
		return
	}
	f.write(".git/raw", crlf)
	if !f.reachable()[f.ok("git", "hash-object", "--no-filters", ".git/raw")] {
		f.t.Error("the bytes of a file that git converts are lost")
	}
}

func onHanded(f *fixture) { f.t.Helper(); f.on("handed"); f.branchHolds("handed", "work.txt") }

const newInTree = "new three --workflow plain --agent true --worktree"

// holdOut writes files into the work tree that no checkpoint may have.
func (f *fixture) holdOut() {
	f.write(".env", "a secret that is nowhere else\n")
	f.write("node_modules/x.js", "x of a dependency\n")
}

// withSetup configures a setup command, a copy and a link for new work trees.
func withSetup(f *fixture) {
	f.write(".wfs/config.yaml", "version: 1\ngates:\n  tests: {run: 'true'}\nworktree: {copy: [keep.ignored], link: [linked.ignored], setup: 'echo made > made.ignored'}\n")
	f.write("linked.ignored", "shared\n")
	f.ok("wfs", "trust", "--yes")
}

// treesWhole checks that git lists no missing work tree, that no half-made one is left, and that session three is in
// its own.
func (f *fixture) treesWhole() {
	f.t.Helper()
	aside := false
	for _, line := range strings.Split(f.ok("git", "worktree", "list", "--porcelain"), "\n") {
		if path, ok := strings.CutPrefix(line, "worktree "); ok {
			aside = strings.Contains(path, ".wfs-kept-")
			if _, err := os.Stat(filepath.Join(path, ".git")); err != nil {
				f.t.Errorf("git has a work tree that is not there: %v", err)
			}
		}
		if strings.HasPrefix(line, "locked") || strings.HasPrefix(line, "prunable") || line == "detached" && !aside {
			f.t.Errorf("git has a work tree that is %s", line)
		}
	}
	for _, pattern := range []string{"../.*wfs-removed*", ".git/wfs/half-made/[a-z]*"} {
		if left, _ := filepath.Glob(filepath.Join(f.dir, pattern)); len(left) > 0 {
			f.t.Errorf("left behind: %v", left)
		}
	}
	if f.exists("../repo-three") {
		if on := f.ok("git", "-C", "../repo-three", "symbolic-ref", "HEAD"); on != "refs/heads/wfs/three" {
			f.t.Errorf("HEAD of the new work tree is on %s", on)
		}
		if status := f.ok("git", "-C", "../repo-three", "status", "--porcelain"); status != "" {
			f.t.Errorf("the new work tree is not clean: %s", status)
		}
		for _, name := range []string{"keep.ignored", "linked.ignored", "made.ignored"} {
			if !f.exists("../repo-three/" + name) {
				f.t.Errorf("%s is missing in the new work tree", name)
			}
		}
	}
}

var deeds = []deed{
	{
		name: "checkpoint", args: "checkpoint -m x", before: dirty,
		done: func(f *fixture) { f.branchHolds("wfs/one", "edited.txt", "untracked.txt") },
	},
	{
		name: "checkpoint that holds something out", args: "checkpoint -m x",
		before: func(f *fixture) { f.dirty(); f.holdOut() }, dirty: true,
		done: func(f *fixture) {
			f.branchHolds("wfs/one", "edited.txt", "untracked.txt")
			f.heldOut(".env", "node_modules/x.js")
		},
	},
	{
		name: "allow", args: "allow node_modules", dirty: true,
		before: func(f *fixture) {
			f.holdOut()
			f.write("edited.txt", "with something held out\n")
			f.ok("wfs", "checkpoint")
		},
		done: func(f *fixture) {
			f.write("edited.txt", "with something let in\n")
			f.ok("wfs", "checkpoint")
			f.branchHolds("wfs/one", "node_modules/x.js")
			f.heldOut(".env")
			if n := strings.Count(f.ok("wfs", "allow", "--list"), "allowed"); n != 1 {
				f.t.Errorf("allowed %d times", n)
			}
		},
	},
	{
		name: "checkpoint that merges packs", args: "checkpoint -m x",
		before: func(f *fixture) { f.dirty(); f.manyPacks() },
		done: func(f *fixture) {
			f.branchHolds("wfs/one", "edited.txt", "untracked.txt")
			f.write("once.txt", "a checkpoint that begins after the kill\n")
			f.ok("wfs", "checkpoint")
			// A kill while the old packs are removed leaves some of them until the next merge.
			packs, _ := filepath.Glob(filepath.Join(f.dir, ".git", "objects", "pack", "*.pack"))
			indexes, _ := filepath.Glob(filepath.Join(f.dir, ".git", "objects", "pack", "*.idx"))
			if len(packs) > 18 || len(indexes) > len(packs) || len(packs) > len(indexes)+1 { // git gc removes a pack without index

				f.t.Errorf("left: %v %v", packs, indexes)
			}
			if f.exists(".git/gc.pid") {
				f.t.Error("git gc is kept away")
			}
		},
	},
	{
		name: "checkpoint of what is in the index alone", args: "checkpoint",
		before: func(f *fixture) {
			f.write("staged.txt", "staged, and nowhere else\n")
			f.ok("git", "add", "staged.txt")
			f.write("staged.txt", "as committed\n")
			f.write("more.txt", "or nothing would be new, and the index stay as it is\n")
		},
		done: func(f *fixture) { f.on("wfs/one") },
	},
	{
		name: "new", args: "new three --workflow plain --agent true --leave", before: dirtyOnMain,
		done: func(f *fixture) {
			onThree(f)
			if f.exists("untracked.txt") {
				f.t.Error("what was to be left was carried")
			}
		},
	},
	{
		name: "new --carry", args: "new three --workflow plain --agent true --carry", before: dirtyOnMain,
		done: func(f *fixture) {
			onThree(f)
			f.ok("wfs", "resume", "three")
			f.branchHolds("wfs/three", "untracked.txt")
		},
	},
	{
		name: "fork", args: "fork one@1 three", before: dirty,
		done: func(f *fixture) {
			onThree(f)
			f.branchHolds("wfs/one", "untracked.txt")
			if !f.exists("first.txt") || f.exists("second.txt") {
				f.t.Error("the work tree is not checkpoint 1's")
			}
		},
	},
	{
		name: "new on a session's branch", args: "new three --workflow plain --agent true", before: dirty,
		done: func(f *fixture) {
			onThree(f)
			f.branchHolds("wfs/one", "untracked.txt")
			if f.exists("first.txt") {
				f.t.Error("the new session begins on top of the other")
			}
		},
	},
	{
		name: "new --worktree", args: newInTree, dirty: true,
		before: func(f *fixture) { withSetup(f); f.dirty() },
		done:   func(f *fixture) { f.on("wfs/one"); f.treesWhole(); f.ok("wfs", "run", "three") },
	},
	{
		name: "new --worktree --carry --from", args: newInTree + " --carry --from HEAD", dirty: true, before: func(f *fixture) { dirtyOnMain(f); withSetup(f) },
		done: func(f *fixture) { f.on("main"); f.treesWhole(); f.branchHolds("wfs/three", "untracked.txt") },
	},
	{
		name: "checkpoint beside a work tree that was being made", args: "checkpoint", dirty: true,
		before: func(f *fixture) {
			withSetup(f)
			f.dirty()
			if out, exit := f.try([]string{"WFS_FAILPOINT=worktree/set-up#1"}, append([]string{"wfs"}, strings.Fields(newInTree)...)...); exit != -1 {
				f.t.Fatalf("exit %d: %s", exit, out)
			}
			f.write("../repo-three/theirs.txt", "typed there\n")
			f.ok("git", "-C", "../repo-three", "add", "theirs.txt")
			f.ok("git", "-C", "../repo-three", "commit", "-q", "-m", "theirs")
			f.write("../repo-three/ignored.ignored", "made there\n")
		},
		done: func(f *fixture) {
			f.ok("wfs", "checkpoint") // the next command finishes the cleanup, if the first could not
			f.treesWhole()
			if f.exists("../repo-three") {
				f.t.Error("the work tree is left")
			}
			if text := f.ok("git", "show", "refs/wfs/three/rescue/1^1:theirs.txt"); text != "typed there" {
				f.t.Errorf("the edit is not kept: %q", text)
			}
			if kept, _ := filepath.Glob(filepath.Join(f.dir, "../repo-three.wfs-kept-*/ignored.ignored")); len(kept) != 1 {
				f.t.Errorf("the ignored file is not kept: %v", kept)
			}
		},
	},
	{
		name: "delete --worktree", args: "delete --worktree three --discard-ignored", dirty: true,
		before: func(f *fixture) {
			withSetup(f)
			f.ok(append([]string{"wfs"}, strings.Fields(newInTree)...)...)
			f.write("../repo-three/theirs.txt", "typed there\n")
			f.write("../repo-three/ignored.ignored", "made there\n")
		},
		done: func(f *fixture) {
			f.treesWhole()
			f.branchHolds("wfs/three", "theirs.txt")
			if f.exists("../repo-three") {
				f.t.Error("the work tree is left")
			}
		},
	},
	{
		name: "switch", args: "switch two", before: dirty,
		done: func(f *fixture) {
			f.on("wfs/two")
			f.branchHolds("wfs/one", "edited.txt", "untracked.txt")
		},
	},
	{
		name: "leave", args: "switch main", before: dirty,
		done: func(f *fixture) { f.on("main"); f.branchHolds("wfs/one", "untracked.txt") },
	},
	{
		name: "leave for what was left", args: "switch main", dirty: true,
		before: func(f *fixture) { dirtyOnMain(f); f.ok("wfs", "switch", "one") },
		done: func(f *fixture) {
			f.on("main")
			if !f.exists("untracked.txt") || f.exists("a.txt") {
				f.t.Error("the edits are not back")
			}
		},
	},
	{
		name: "resume", args: "resume @1", before: dirty,
		done: func(f *fixture) {
			f.on("wfs/one")
			if f.exists("second.txt") || !f.exists("first.txt") {
				f.t.Error("the work tree is not checkpoint 1's")
			}
		},
	},
	{
		name: "resume of another session", args: "resume two@0", before: dirty,
		done: func(f *fixture) {
			f.on("wfs/two")
			f.branchHolds("wfs/one", "untracked.txt")
			if f.exists("of-two.txt") {
				f.t.Error("the work tree is not checkpoint 0's")
			}
		},
	},
	{
		name: "resume over bytes that git converts", args: "resume @1",
		before: func(f *fixture) { f.lineEnds(); f.dirty() },
		done: func(f *fixture) {
			f.lineEndsKept()
			if f.exists("ends.crlf") {
				f.t.Error("the work tree is not checkpoint 1's")
			}
		},
	},
	// The same undo again undoes the operation before: these deeds check only the rules that always hold.
	{
		name: "undo over bytes that git converts", args: "undo", dirty: true,
		before: func(f *fixture) { f.lineEnds(); f.ok("wfs", "resume", "@1"); f.dirty() },
		done:   func(f *fixture) { f.lineEndsKept() },
	},
	{
		name: "undo of resume", args: "undo", dirty: true,
		before: func(f *fixture) { f.dirty(); f.ok("wfs", "resume", "@1") },
	},
	{
		name: "undo of new", args: "undo", dirty: true,
		before: func(f *fixture) {
			dirtyOnMain(f)
			f.ok("wfs", "new", "three", "--workflow", "plain", "--agent", "true", "--leave")
			f.write("of-three.txt", "three\n")
		},
	},
	{
		name: "undo of finish", args: "undo", dirty: true,
		before: func(f *fixture) {
			f.ok("wfs", "run")
			f.ok("wfs", "finish", "--branch", "handed")
			f.write("later.txt", "later\n")
		},
	},
	{
		name: "abandon", args: "abandon one", before: dirty,
		done: func(f *fixture) {
			f.branchHolds("wfs/one", "edited.txt", "untracked.txt")
			if s := f.ok("wfs", "status", "one"); !strings.Contains(s, "abandoned") {
				f.t.Errorf("not abandoned: %s", s)
			}
		},
	},
	{
		name: "resume of an abandoned session", args: "resume two",
		before: func(f *fixture) { f.ok("wfs", "abandon", "two"); f.dirty() },
		done: func(f *fixture) {
			f.on("wfs/two")
			if s := f.ok("wfs", "status", "two"); strings.Contains(s, "abandoned") {
				f.t.Errorf("still abandoned: %s", s)
			}
		},
	},
	{name: "undo of abandon", args: "undo", dirty: true, before: func(f *fixture) { f.ok("wfs", "abandon", "one") }},
	{
		name: "rename", args: "rename one title",
		done: func(f *fixture) {
			if s := f.ok("wfs", "status", "one"); !strings.Contains(s, "one  title") {
				f.t.Errorf("not renamed: %s", s)
			}
		},
	},
	{
		name: "edit", args: "edit one --goal another",
		done: func(f *fixture) {
			if s := f.ok("wfs", "status", "one"); !strings.Contains(s, "one  another") {
				f.t.Errorf("not edited: %s", s)
			}
		},
	},
	{
		name: "repin", args: "repin one --agent false",
		done: func(f *fixture) {
			if plan := f.ok("git", "show", "refs/wfs/one/ledger:plan.json"); !strings.Contains(plan, `"false"`) {
				f.t.Errorf("the plan is\n%s", plan)
			}
			f.ok("wfs", "run", "one", "--dry-run")
		},
	},
	{
		name: "delete", args: "delete two --force",
		done: func(f *fixture) {
			if refs := f.ok("git", "for-each-ref", "refs/wfs/two", "refs/heads/wfs/two"); refs != "" {
				f.t.Errorf("two is not deleted:\n%s", refs)
			}
			f.ok("wfs", "delete", "--restore", "two")
			f.branchHolds("wfs/two", "of-two.txt")
		},
	},
	{name: "undo of delete", args: "undo", dirty: true, before: func(f *fixture) { f.ok("wfs", "delete", "two", "--force") }},
	{
		name: "delete --restore", args: "delete --restore two", before: func(f *fixture) { f.ok("wfs", "delete", "two", "--force") },
		done: func(f *fixture) {
			f.branchHolds("wfs/two", "of-two.txt")
			f.ok("wfs", "status", "two")
			if refs := f.ok("git", "for-each-ref", "refs/wfs-deleted"); refs != "" {
				f.t.Errorf("copies are left:\n%s", refs)
			}
		},
	},
	{
		name: "gc", args: "gc --force --days 0",
		before: func(f *fixture) {
			f.write("rescued.txt", "rescued\n")
			f.ok("wfs", "resume", "@1")
			f.ok("wfs", "undo")
			f.ok("wfs", "checkpoint")
		},
		done: func(f *fixture) {
			f.branchHolds("wfs/one", "rescued.txt")
			if refs := f.ok("git", "for-each-ref", "refs/wfs/one/rescue"); refs != "" {
				f.t.Errorf("what is in a checkpoint is still rescued:\n%s", refs)
			}
		},
	},
	{
		name: "finish", args: "finish --branch handed", done: onHanded,
		before: func(f *fixture) { f.ok("wfs", "run") },
	},
	{
		name: "finish --keep", args: "finish --branch handed --keep", done: onHanded,
		before: func(f *fixture) { f.ok("wfs", "run") },
	},
	{
		name: "finish --without-carried", args: "finish --branch handed --without-carried", dirty: true,
		before: func(f *fixture) {
			dirtyOnMain(f)
			f.ok("wfs", "new", "three", "--workflow", "plain", "--agent", "echo work > work.txt", "--carry")
			f.ok("wfs", "run")
		},
		done: func(f *fixture) {
			onHanded(f)
			f.branchLacks("handed", "untracked.txt")
			if !f.exists("untracked.txt") {
				f.t.Error("what was carried is not in the work tree")
			}
		},
	},
	{
		name: "run", args: "run",
		done: func(f *fixture) { f.branchHolds("wfs/one", "work.txt") },
	},
	{
		name: "approve", args: "approve -m good",
		before: func(f *fixture) { f.waitingForReview(); f.write("edited.txt", "by the reviewer\n") },
		done: func(f *fixture) {
			f.on("wfs/review")
			f.branchHolds("wfs/review", "work.txt")
			if s := f.ok("wfs", "status"); !strings.Contains(s, "DONE at @") {
				f.t.Errorf("approved, and status says %s", s)
			}
		},
	},
	{
		name: "reject", args: "reject --reason bad",
		before: func(f *fixture) { f.waitingForReview(); f.write("edited.txt", "by the reviewer\n") },
		done: func(f *fixture) {
			if s := f.ok("wfs", "status"); !strings.Contains(s, "in WORK") {
				f.t.Errorf("rejected, and status says %s", s)
			}
		},
	},
	{
		name: "run through two laps", args: "run", tdd: true, before: dirty,
		done: func(f *fixture) {
			f.branchHolds("wfs/one", "two", "two.test", "three", "three.test", "untracked.txt")
			f.ok("wfs", "finish", "--branch", "handed")
			if two := f.ok("git", "show", "handed:two"); two != "two" && !(f.Cut && two == "2") {
				f.t.Errorf("the first lap's REFACTOR is lost: %q", two)
			}
		},
	},
}

// leaveDeeds are about requests: wfs takes each of them in, and none twice.
var leaveDeeds = []deed{
	{
		name: "note", args: "note hello", before: dirty, dirty: true,
		done: func(f *fixture) {
			f.ok("wfs", "note", "another") // takes in requests that are still in the inbox
			f.heardOnce("hello", "another")
		},
	},
	{
		name: "budget set", args: "budget set --usd 3 --calls-per-hour 7", before: dirty, dirty: true,
		done: func(f *fixture) {
			f.ok("wfs", "note", "another") // takes in requests that are still in the inbox
			if s := f.ok("wfs", "budget", "--json"); !strings.Contains(s, `"cap":{"usd":3}`) || !strings.Contains(s, `"per_hour":7`) {
				f.t.Errorf("the budget is %s", s)
			}
		},
	},
	{
		name: "run that has to wait with work in its hands", args: "run",
		before: func(f *fixture) {
			// It reports how long to wait, twice if the first try fails: without the report wfs would wait a while.
			f.ok("wfs", "repin", "--agent", `says() { echo '{"wait_until": 1, "cost_usd": 0.5}' > "$WFS_RESULT"; }; test -e half.txt || { echo half > half.txt; says || says || exit 1; exit 75; }; echo x > work.txt`)
		},
		done: func(f *fixture) {
			f.branchHolds("wfs/one", "half.txt", "work.txt")
			// The cost is counted once, whichever command saw the run end. After a power cut the agent's report may
			// be gone.
			s, told := f.ok("wfs", "status", "--json"), f.results()
			right := strings.Contains(s, fmt.Sprintf(`"cost_usd":%g,`, 0.5*float64(told)))
			if none := !strings.Contains(s, `"cost_usd"`); told == 0 || f.Dark {
				right = none || f.Dark && strings.Contains(s, `"cost_usd":0.5,`)
			}
			if !right {
				f.t.Errorf("of %d costs that the agent told, these are known: %s", told, s)
			}
		},
	},
	{
		name: "run with requests in the inbox", args: "run",
		before: func(f *fixture) {
			f.post(1, `"kind":"note","text":"first"`)
			f.post(2, `"kind":"stop","driver":"1-1"`)
			f.post(3, `"kind":"note","text":"second"`)
		},
		done: func(f *fixture) {
			f.branchHolds("wfs/one", "work.txt")
			f.heardOnce("first", "second")
		},
	},
}

// post leaves a request in the inbox of session one, see docs/formats.md.
func (f *fixture) post(n int, request string) {
	f.t.Helper()
	f.write(fmt.Sprintf(".git/wfs/sessions/one/inbox/%020d-00000000.json", n), `{"v":1,"at":1800000000,`+request+"}\n")
}

// heardOnce checks that every request became one event, and that these texts were noted, in this order.
func (f *fixture) heardOnce(texts ...string) {
	f.t.Helper()
	seen := map[string]bool{}
	for _, e := range f.events("one") {
		if e.Kind != "noted" {
			continue
		}
		if seen[e.Data.Request] {
			f.t.Errorf("%q was heard twice", e.Data.Text)
		}
		seen[e.Data.Request] = true
		if len(texts) > 0 && e.Data.Text == texts[0] {
			texts = texts[1:]
		}
	}
	if len(texts) > 0 {
		f.t.Errorf("not noted: %q", texts)
	}
	if left, err := filepath.Glob(filepath.Join(f.dir, ".git/wfs/sessions/one/inbox/*.json")); err != nil || len(left) > 0 {
		f.t.Errorf("requests that nobody took in: %v, %v", left, err)
	}
}

// TestKillAtEveryStep kills wfs at every named step of every deed. Afterwards everything that was in the work tree,
// in the index or in a ref is still there, git finds nothing wrong, and the same command, typed again, succeeds.
func TestKillAtEveryStep(t *testing.T) {
	var mu sync.Mutex
	passed, kills, short := map[durable.Point]bool{}, 0, os.Getenv("WFS_ROWS") == ""
	t.Run("deeds", func(t *testing.T) {
		for _, d := range slices.Concat(deeds, undoDeeds, leaveDeeds, backDeeds, savingDeeds, repairDeeds, hookDeeds, holdoutDeeds, cleanDeeds) {
			t.Run(d.name, func(t *testing.T) {
				t.Parallel()
				if short { // only some commands, and some of their steps
					testkit.Sample(t)
				}
				b := newBed(t, d)
				for _, at := range b.passes(t, d) {
					p, _, _ := strings.Cut(at, "#")
					mu.Lock()
					passed[durable.Point(p)] = true
					mu.Unlock()
					t.Run(at, func(t *testing.T) {
						testkit.Sample(t)
						b.killAt(t, d, at)
						mu.Lock()
						kills++
						mu.Unlock()
					})
				}
			})
		}
	})
	for _, p := range durable.Points {
		if !passed[p] && !short {
			t.Errorf("no deed passes %s: a durable step without a test", p)
		}
	}
	t.Logf("killed %d times; %d named steps are passed", kills, len(passed))
}

// passes lists the steps at which to kill a deed: every step that it passes, but of a step that it passes often only
// the first, the third and the last time. Runs pass a step once in each attempt, and the third attempt is a lap's last.
func (b *bed) passes(t *testing.T, d deed) []string {
	f := b.fixture(t)
	log := filepath.Join(t.TempDir(), "points")
	if out, exit := f.try([]string{"WFS_FAILPOINT_LOG=" + log}, d.command()...); exit != 0 && !d.fails {
		t.Fatalf("exit %d without being killed: %s", exit, out)
	}
	data, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	count, order := map[string]int{}, []string{}
	for _, p := range strings.Fields(string(data)) {
		if count[p]++; count[p] == 1 {
			order = append(order, p)
		}
	}
	var list []string
	for _, p := range order {
		if aside := strings.HasPrefix(p, "clean/") || strings.HasPrefix(p, "result/") || strings.HasPrefix(p, "packages/"); aside != d.clean {
			continue
		}
		for n := 1; n <= count[p]; n++ {
			if n == 1 || count[p] <= 3 && !d.clean || n == 3 && !d.clean || n == count[p] {
				list = append(list, fmt.Sprintf("%s#%d", p, n))
			}
		}
	}
	return list
}

// results counts the complete result files of the session's runs. An agent whose write fails reports nothing, or
// reports again.
func (f *fixture) results() (n int) {
	files, _ := filepath.Glob(filepath.Join(f.dir, ".git/wfs/sessions/one/runs/*/result.json"))
	for _, path := range files {
		if text, err := os.ReadFile(path); err == nil && json.Valid(text) {
			n++
		}
	}
	return n
}

// waitingForReview begins a session and runs it until it waits for a person.
func (f *fixture) waitingForReview() {
	f.t.Helper()
	f.ok("wfs", "switch", "main")
	f.write(".wfs/workflows/review.yaml", `version: 1
name: review
start: WORK
phases:
  WORK: {gates: [{use: tests}, {name: changed, changes: ["**"]}], on: {pass: REVIEW}}
  REVIEW: {run: human, gates: [{use: tests}], on: {pass: done, fail: WORK}}
`)
	f.ok("git", "add", ".wfs")
	f.ok("git", "commit", "-q", "-m", "review")
	f.ok("wfs", "trust", "--yes")
	f.ok("wfs", "new", "review", "--workflow", "review", "--agent", "echo work > work.txt")
	if out, exit := f.try(nil, "wfs", "run"); exit != exitDecision {
		f.t.Fatalf("run: exit %d: %s", exit, out)
	}
}

// somePacks returns the files of many small packs, made by git.
var somePacks = sync.OnceValue(func() map[string][]byte {
	dir, err := os.MkdirTemp("", "wfs-packs-")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	packs := map[string][]byte{}
	git := func(args ...string) {
		c := exec.Command("git", args...)
		c.Dir, c.Env = dir, testkit.Env(dir)
		if out, err := c.CombinedOutput(); err != nil {
			panic(fmt.Sprintf("git %v: %v: %s", args, err, out))
		}
	}
	git("init", "-q")
	for i := range 20 {
		if err := os.WriteFile(filepath.Join(dir, "f"), fmt.Append(nil, "packed ", i), 0o600); err != nil {
			panic(err)
		}
		git("add", "f")
		git("-c", "pack.writeReverseIndex=false", "repack", "-d", "-q")
	}
	files, err := filepath.Glob(filepath.Join(dir, ".git", "objects", "pack", "*"))
	if err != nil {
		panic(err)
	}
	for _, file := range files {
		if packs[filepath.Base(file)], err = os.ReadFile(file); err != nil {
			panic(err)
		}
	}
	return packs
})

// manyPacks gives the repository so many packs that wfs merges them.
func (f *fixture) manyPacks() {
	f.t.Helper()
	for name, data := range somePacks() {
		if err := os.WriteFile(filepath.Join(f.dir, ".git", "objects", "pack", name), data, 0o444); err != nil {
			f.t.Fatal(err)
		}
	}
}

func (d deed) command() []string {
	if d.stdin != "" {
		return []string{"sh", "-c", "exec wfs " + d.args + " < " + d.stdin}
	}
	return append([]string{"wfs"}, strings.Fields(d.args)...)
}

func (d deed) fixture(t *testing.T) *fixture {
	t.Helper()
	return d.at(t, filepath.Join(t.TempDir(), "all"))
}

// tddTemplate is plainTemplate with test-driven development: session one has a checklist of two items, which a script
// works off in two laps of three attempts each. A test is a file x.test, which passes if a file x exists.
var tddTemplate = template{make: func(f *fixture) {
	f.writeAll(map[string]string{
		"../gitconfig":     testkit.GitConfig,
		"a.txt":            "a\n",
		"edited.txt":       "as committed\n",
		"staged.txt":       "as committed\n",
		".gitignore":       "*.ignored\n",
		"keep.ignored":     "never touched\n",
		"one":              "1\n",
		"one.test":         "there is one\n",
		"SPEC.md":          "- [ ] two\n- [ ] three\n",
		".wfs/config.yaml": "version: 1\ngates:\n  tests: {run: sh gate.sh, format: junit}\n",
		"gate.sh": `echo '<testsuite>'
for t in *.test; do
	n=${t%.test}
	if [ -e "$n" ]; then echo "<testcase classname='t' name='$n'/>"
	else echo "<testcase classname='t' name='$n'><failure message='no $n'>there is no $n</failure></testcase>"; bad=1; fi
done
echo '</testsuite>'
exit $bad
`,
		"../agent.yaml": `version: 1
steps:
  - {phase: RED, lap: 1, files: {two.test: "there is two\n"}}
  - {phase: GREEN, lap: 1, done: true, files: {two: "2\n"}}
  - {phase: REFACTOR, lap: 1, done: true, files: {two: "two\n"}}
  - {phase: RED, lap: 2, files: {three.test: "there is three\n"}}
  - {phase: GREEN, lap: 2, done: true, files: {three: "3\n"}}
  - {phase: REFACTOR, lap: 2, done: true, say: "good as it is"}
`,
	})
	f.begin("")
	f.ok("wfs", "new", "two", "--agent", "script:../agent.yaml")
	f.ok("wfs", "switch", "main")
	f.ok("wfs", "new", "one", "--spec", "SPEC.md", "--agent", "script:../agent.yaml")
}}

// at makes the fixture in a directory that does not exist yet.
func (d deed) at(t *testing.T, top string) *fixture {
	t.Helper()
	p := &plainTemplate
	if d.tdd {
		p = &tddTemplate
	}
	f := p.at(t, top)
	f.trust("one", "two")
	if d.before != nil {
		d.before(f)
	}
	return f
}

func (b *bed) killAt(t *testing.T, d deed, at string) {
	f := b.fixture(t)
	if out, exit := f.try([]string{"WFS_FAILPOINT=" + at}, d.command()...); exit != -1 {
		t.Fatalf("not killed, but exit %d: %s", exit, out)
	}
	f.afterwards(d, b.before, b.theirs)
}

// bed runs one deed again and again: it makes the deed's fixture once and copies it, always to the same path, because
// trust and work trees are bound to the path.
type bed struct {
	top, saved string
	f          *fixture
	before     map[string]string
	theirs     string
	used       bool // top has been used since the fixture was copied there
}

// newBed makes the fixture, in memory if possible: it need not survive a crash of the machine.
func newBed(t *testing.T, d deed) *bed {
	t.Helper()
	const enough = 256 << 20 // bytes; a fixture takes one or two megabytes, and several are made at the same time
	parent := testkit.Memory()
	var left syscall.Statfs_t
	if parent != "" && (syscall.Statfs(parent, &left) != nil || left.Bavail*uint64(left.Bsize) < enough) {
		parent = ""
	}
	dir, err := os.MkdirTemp(parent, "wfs-bed-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { testkit.RemoveAll(t, dir) })
	b := &bed{top: filepath.Join(dir, "all"), saved: filepath.Join(dir, "saved")}
	b.f = d.at(t, b.top)
	b.before, b.theirs = d.contents(b.f), b.f.userThings()
	if out, err := exec.Command("cp", "-a", b.top, b.saved).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return b
}

// fixture returns an unused copy of the fixture.
func (b *bed) fixture(t *testing.T) *fixture {
	t.Helper()
	if b.used {
		testkit.RemoveAll(t, b.top)
		if out, err := exec.Command("cp", "-a", b.saved, b.top).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	b.used = true
	return &fixture{t: t, dir: b.f.dir, env: b.f.env}
}

// contents returns the contents that must never get lost.
func (d deed) contents(f *fixture) map[string]string {
	if d.hurt {
		return f.kept
	}
	return f.blobs()
}

// afterwards checks the state after a command that was stopped at any step, and that the command succeeds when it is
// typed again.
func (f *fixture) afterwards(d deed, before map[string]string, theirs string) {
	t := f.t
	t.Helper()
	if d.outlive != nil {
		d.outlive(f)
	}
	if !d.hurt {
		f.intact(before)
	}
	if d.fails && f.exists(".git/refuse") { // it was killed before it could fail, and fails now
		if out, exit := f.try(nil, d.command()...); exit != exitError || f.exists(".git/refuse") {
			t.Fatalf("typed again it does not fail, but exit %d: %s", exit, out)
		}
		f.intact(before)
	}
	f.Retries++
	again, exit := f.try(nil, d.command()...)
	if exit != 0 && !f.doneAlready(d, again) {
		t.Fatalf("typed again it fails with exit %d: %s", exit, again)
	}
	f.Succeeded++
	f.nothingLost(before)
	f.asDone(d, theirs)
}

// asDone checks the rules that hold after a command has succeeded.
func (f *fixture) asDone(d deed, theirs string) {
	f.t.Helper()
	refs, status := f.sound()
	if now := f.theirs(refs); now != theirs {
		f.Changed++
		f.t.Errorf("what is the user's was changed from\n%s\nto\n%s", theirs, now)
	}
	if status != "" && !d.dirty {
		f.t.Errorf("git status is not clean: %s", status)
	}
	if d.done != nil {
		d.done(f)
	}
}

// intact checks the rules that hold after any failure.
func (f *fixture) intact(before map[string]string) {
	f.t.Helper()
	f.nothingLost(before)
	f.sound()
	f.ok("wfs", "status", "one")
	f.ok("wfs", "list")
}

// doneAlready reports whether a command is refused the second time because the first, killed one had succeeded.
func (f *fixture) doneAlready(d deed, out string) bool {
	if d.name == "delete --worktree" {
		return strings.Contains(out, "checked out in no work tree")
	}
	if strings.HasPrefix(d.name, "redo") || strings.HasPrefix(d.name, "phase") {
		return strings.Contains(out, "nothing to redo") || strings.Contains(out, "there is no phase to skip")
	}
	if d.args == "undo" { // the operation before cannot be undone
		return strings.Contains(out, "cannot undo")
	}
	return strings.HasPrefix(d.name, "delete") && strings.Contains(out, "was deleted") ||
		strings.HasPrefix(d.name, "finish") && strings.Contains(out, "no session is current") && f.head() == "refs/heads/handed"
}
