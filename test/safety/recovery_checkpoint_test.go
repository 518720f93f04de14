package safety

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// found is a state that the next command may find after a checkpoint died, part by part. It is a product: some
// combinations arise only from people's changes, or from disk errors.
type found struct {
	published bool   // the ledger has moved
	journal   string // "turn": it ends in the turn; "cut": in a torn turn; "gone": .git/wfs is gone
	branch    string // "old", "new", or "theirs": the user has committed since
	index     string // "old", "new", or "theirs": the user has staged something since
	head      string // "on" the branch, or "off" it, on one of the user's
	locks     string // "none", or "ours": wfs's git was killed
}

func (s found) String() string {
	return fmt.Sprintf("published=%t journal=%s branch=%s index=%s head=%s locks=%s", s.published, s.journal, s.branch, s.index, s.head, s.locks)
}

func everyFound() (all []found) {
	for _, published := range []bool{false, true} {
		for _, journal := range []string{"turn", "cut", "gone"} {
			for _, branch := range []string{"old", "new", "theirs"} {
				for _, index := range []string{"old", "new", "theirs"} {
					for _, head := range []string{"on", "off"} {
						for _, locks := range []string{"none", "ours"} {
							all = append(all, found{published, journal, branch, index, head, locks})
						}
					}
				}
			}
		}
	}
	return all
}

// foundRule is a row for a set of those states. The first row that fits applies.
type foundRule struct {
	name string
	fits func(s found) bool
	then func(f *fixture, s found) // checks after the next command, in addition to the general ones
}

var foundRules = []foundRule{
	{"it did not happen: dropped", func(s found) bool { return !s.published && s.journal == "turn" },
		func(f *fixture, _ found) { f.happened("one", "checkpointed dropped") }},
	{"it did not happen, and no word of it is left", func(s found) bool { return !s.published }, nil},
	{"it happened, and the evidence says that we were interrupted: settled", func(s found) bool { return s.journal == "turn" && s.branch == "old" },
		func(f *fixture, s found) {
			f.isAncestor("the checkpoint", f.prepared.Code, "wfs/one")
			f.oneParent(s)
		}},
	{"it happened, and the branch has moved: a journal is begun", func(s found) bool { return s.journal == "turn" && s.branch == "new" },
		func(f *fixture, s found) {
			f.isAncestor("the checkpoint", f.prepared.Code, "wfs/one")
			f.oneParent(s)
		}},
	{"it happened, and somebody else has moved the branch: left alone, and the next checkpoint is on theirs", func(s found) bool { return s.branch == "theirs" }, nil},
	{"it happened, and there is no evidence: the branch stays where it is", func(s found) bool { return s.journal != "turn" }, nil},
}

func ruleOf(s found) *foundRule {
	for i := range foundRules {
		if foundRules[i].fits(s) {
			return &foundRules[i]
		}
	}
	return nil
}

func (f *fixture) oneParent(s found) {
	f.t.Helper()
	if s.head == "on" {
		f.parents("wfs/one", 1)
	}
}

// TestRecoverProduct checks that every combination has one row, and that the next command leads to the state in that
// row. Nothing is lost, nothing of the user's is touched, and before that readers print the same result and change
// nothing. WFS_SWEEP=all builds all combinations.
func TestRecoverProduct(t *testing.T) {
	all, hit := everyFound(), map[string]int{}
	every := 13
	if os.Getenv("WFS_SWEEP") == "all" {
		every = 1
	}
	built := 0
	for n, s := range all {
		r := ruleOf(s)
		if r == nil {
			t.Errorf("no row for %s", s)
			continue
		}
		if hit[r.name]++; hit[r.name] > 1 && n%every != 0 {
			continue
		}
		built++
		t.Run(s.String(), func(t *testing.T) {
			t.Parallel()
			f := plainTemplate.fixture(t)
			f.leave(s)
			f.recovered(s, r)
		})
	}
	for _, r := range foundRules {
		if hit[r.name] == 0 {
			t.Errorf("no state for the row %q", r.name)
		}
	}
	t.Logf("%d combinations, %d rows, %d built", len(all), len(foundRules), built)
}

// leave brings the repository to the state s.
func (f *fixture) leave(s found) {
	f.t.Helper()
	f.checkpointDies(unpublished)
	p, old := f.prepared, f.ok("git", "rev-parse", "wfs/one")
	if s.journal == "cut" {
		f.change(f.journalFile("one"), func(text string) string { return text[:len(text)-20] })
	}
	if s.published {
		f.ok("git", "update-ref", ledgerOf("one"), p.Ledger, p.LedgerOld)
	}
	switch s.branch {
	case "new":
		f.ok("git", "update-ref", "refs/heads/wfs/one", p.Code, old)
	case "theirs":
		f.ok("git", "update-ref", "refs/heads/wfs/one", f.ok("git", "commit-tree", "-p", old, "-m", "by hand", old+"^{tree}"), old)
	}
	switch s.index {
	case "old":
		f.ok("git", "read-tree", old)
	case "theirs":
		f.write("staged-later.txt", "staged by hand\n")
		f.ok("git", "add", "staged-later.txt")
	}
	if s.head == "off" {
		f.ok("git", "symbolic-ref", "HEAD", "refs/heads/side")
	}
	if s.journal == "gone" {
		f.loseState()
	}
	if s.locks == "ours" {
		dir := filepath.Join(f.dir, ".git/wfs/worktrees/main/ref-locks")
		if err := os.MkdirAll(dir, 0o700); err != nil {
			f.t.Fatal(err)
		}
		for note, lock := range map[string]string{"HEAD": "HEAD", "refs%2Fheads%2Fwfs%2Fone": "refs/heads/wfs/one", "refs%2Fwfs%2Fone%2Fledger": "refs/wfs/one/ledger"} {
			f.write(".git/wfs/worktrees/main/ref-locks/"+note, "")
			f.write(".git/"+lock+".lock", "")
		}
		f.write(".git/index.lock", "locked by wfs\n")
	}
}

// recovered runs the next command, and checks the resulting state.
func (f *fixture) recovered(s found, r *foundRule) {
	t := f.t
	t.Helper()
	before, theirs, all := f.blobs(), f.userThings(), f.everything()
	at := "*   2 "
	if s.published {
		at = "* 3 WORK manual mine"
	}
	says := f.ok("wfs", "status", "one")
	holdsText(t, says+present(says), at)
	if now := f.everything(); now != all {
		t.Errorf("reading changed\n%s\nto\n%s", all, now)
	}
	does := []string{"wfs", "checkpoint", "-m", "again"}
	if s.head == "off" {
		does = []string{"wfs", "resume", "one"}
	}
	out, exit := f.try(nil, does...)
	if exit != 0 {
		t.Fatalf("%v: exit %d: %s", does, exit, out)
	}
	f.on("wfs/one")
	f.nothingLost(before)
	f.sound()
	if s.branch == "theirs" {
		f.isAncestor("what somebody committed", f.grep("by hand"), "wfs/one")
	}
	if s.published {
		f.isAncestor("the checkpoint", f.prepared.Ledger, ledgerOf("one"))
	}
	if s.head == "on" {
		mine(f)
		if status := f.ok("git", "status", "--porcelain"); status != "" {
			t.Errorf("git status is not clean: %s", status)
		}
	}
	if r.then != nil {
		r.then(f, s)
	}
	if now := f.userThings(); now != theirs {
		t.Errorf("what is the user's was changed from\n%s\nto\n%s", theirs, now)
	}
	for _, lock := range []string{"index", "HEAD", "refs/heads/wfs/one", "refs/wfs/one/ledger"} {
		if f.exists(".git/" + lock + ".lock") {
			t.Errorf("%s.lock is left", lock)
		}
	}
	after := f.repository()
	if out, exit := f.try(nil, does...); exit != 0 {
		t.Errorf("the second time: exit %d: %s", exit, out)
	}
	if now := f.repository(); now != after {
		t.Errorf("the second time changed\n%s\nto\n%s", after, now)
	}
}

func holdsText(t *testing.T, out, text string) {
	t.Helper()
	if !strings.Contains(out, text) {
		t.Errorf("%q is not in:\n%s", text, out)
	}
}
