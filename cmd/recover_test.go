package cmd

import (
	"context"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/wfs-dev/wfs/engine"
	"github.com/wfs-dev/wfs/session"
)

// row is one line of the recovery table: a state that a dead process, or a person after it, left behind, and what the
// next command makes of it.
type row struct {
	state string           // for people
	build func(f *fixture) // makes it
	reads string           // what `wfs status one` says of it, as long as nobody has recovered it
	does  string           // the next command, without wfs
	exit  int              // its exit code
	says  string           // something that it prints
	then  func(f *fixture) // what is so afterwards
	dirty bool             // `git status` need not be clean afterwards
	redo  bool             // the same command, typed again, does something again
}

const gone = "refs/wfs/gone" // where a row notes what it will look for

var recoveryTable = []row{
	// A checkpoint of session one, with edits of every sort in the work tree.
	{state: "checkpoint: the index is installed, nothing else", build: func(f *fixture) { f.checkpointDies(staged) },
		reads: "at checkpoint 2", does: "checkpoint -m again", says: "checkpoint 3: again", then: mine},
	{state: "checkpoint: the journal ends in the turn, the ledger has not moved", build: func(f *fixture) { f.checkpointDies(unpublished) },
		reads: "at checkpoint 2", does: "checkpoint -m again", says: "checkpoint 3: again", then: func(f *fixture) {
			mine(f)
			f.happened("one", "checkpointed dropped checkpointed")
		}},
	{state: "checkpoint: the same, and .git/wfs is gone", build: func(f *fixture) { f.checkpointDies(unpublished); f.loseState() },
		reads: "at checkpoint 2", does: "checkpoint -m again", says: "checkpoint 3: again", then: mine},
	{state: "checkpoint: the same, and the user committed in between", build: func(f *fixture) {
		f.checkpointDies(unpublished)
		f.ok("git", "commit", "-q", "-m", "by hand")
	}, reads: "at checkpoint 2", does: "checkpoint -m again", says: "checkpoint 3: again", then: func(f *fixture) {
		mine(f)
		f.isAncestor("one@{by hand}", f.grep("by hand"), "wfs/one")
	}},
	{state: "checkpoint: the ledger has moved, the branch has not", build: func(f *fixture) { f.checkpointDies(ledgerMoved) },
		reads: "at checkpoint 3: mine", does: "checkpoint", says: "nothing changed since checkpoint 3", then: mine},
	{state: "checkpoint: the same, with edits made since", build: func(f *fixture) {
		f.checkpointDies(ledgerMoved)
		f.write("later.txt", "later\n")
	}, reads: "at checkpoint 3: mine", does: "checkpoint -m again", says: "checkpoint 4: again", then: func(f *fixture) {
		mine(f)
		f.parents("wfs/one", 1)
		f.branchHolds("wfs/one", "later.txt")
	}},
	{state: "checkpoint: the same, and .git/wfs is gone", build: func(f *fixture) { f.checkpointDies(ledgerMoved); f.loseState() },
		reads: "at checkpoint 3: mine", does: "checkpoint -m again", says: "checkpoint 4: again", then: mine},
	{state: "checkpoint: ledger and branch have moved, there is no new journal", build: func(f *fixture) { f.checkpointDies(branchMoved) },
		reads: "at checkpoint 3: mine", does: "checkpoint", says: "nothing changed since checkpoint 3", then: func(f *fixture) {
			mine(f)
			if _, err := os.Stat(f.journalFile("one")); err != nil {
				f.t.Errorf("there is no journal still: %v", err)
			}
		}},
	{state: "checkpoint: the same, and the user has reset the branch since: left alone", build: func(f *fixture) {
		f.checkpointDies(branchMoved)
		f.ok("git", "reset", "-q", "--soft", "HEAD~2")
		f.ok("git", "update-ref", gone, "HEAD")
	}, reads: "at checkpoint 3: mine", does: "resume", says: "nothing was moved", dirty: true, then: func(f *fixture) { f.same("wfs/one", gone) }},
	{state: "checkpoint: recovered, and the user has reset the branch since: left alone", build: func(f *fixture) {
		f.checkpointDies(ledgerMoved)
		f.ok("wfs", "resume")
		f.ok("git", "reset", "-q", "--soft", "HEAD~1")
		f.ok("git", "update-ref", gone, "HEAD")
	}, reads: "at checkpoint 3: mine", does: "resume", says: "nothing was moved", dirty: true, then: func(f *fixture) { f.same("wfs/one", gone) }},

	// A switch from session one, with edits of every sort, to session two.
	{state: "switch: the journal says so, no file is moved", build: func(f *fixture) { f.switchDies(moveBegun) },
		reads: "a move was interrupted", does: "switch two", then: onTwo},
	{state: "switch: half of the files are moved", build: func(f *fixture) { f.switchDies(moveHalf) },
		reads: "a move was interrupted", does: "switch two", then: onTwo},
	{state: "switch: the same, and .git/wfs is gone", build: func(f *fixture) { f.switchDies(moveHalf); f.loseState() },
		reads: "at checkpoint 2", does: "switch two", then: onTwo},
	{state: "switch: all files are moved", build: func(f *fixture) { f.switchDies(moveDone) },
		reads: "a move was interrupted", does: "switch two", then: onTwo},
	{state: "switch: half of the files are moved, with edits made since", build: func(f *fixture) {
		f.switchDies(moveHalf)
		f.write("later.txt", "later\n")
		f.write("edited.txt", "edited later\n")
	}, reads: "a move was interrupted", does: "switch two", then: onTwo},
	{state: "switch: all files are moved, with edits made and staged since", build: func(f *fixture) {
		f.switchDies(moveDone)
		f.write("later.txt", "later\n")
		f.ok("git", "add", "later.txt")
		f.write("later.txt", "later still\n")
	}, reads: "a move was interrupted", does: "switch two", then: onTwo},
	{state: "switch: the journal ends in the turn, the ledger has not moved", build: func(f *fixture) { f.switchDies(unpublished) },
		reads: "a move was interrupted", does: "switch two", then: func(f *fixture) {
			onTwo(f)
			f.happened("two", "move_started moved dropped moved")
		}},
	{state: "switch: the ledger has moved, index and HEAD have not", build: func(f *fixture) { f.switchDies(ledgerMoved) },
		reads: "at checkpoint 2", does: "switch two", then: onTwo},
	{state: "switch: index and ledger have moved, HEAD has not", build: func(f *fixture) { f.switchDies(indexMoved) },
		reads: "at checkpoint 2", does: "switch two", then: onTwo},
	{state: "switch: HEAD has moved, there is no new journal", build: func(f *fixture) { f.switchDies(headMoved) },
		reads: "at checkpoint 2", does: "switch two", then: onTwo},
	{state: "switch: half of the files are moved, and the user has gone elsewhere since: given up", build: func(f *fixture) {
		f.switchDies(moveHalf)
		f.ok("git", "checkout", "-q", "-f", "main")
		f.ok("git", "clean", "-q", "-f", "-d")
	}, reads: "a move was interrupted", does: "resume one", then: func(f *fixture) {
		f.on("wfs/one")
		f.happened("two", "move_started dropped")
	}},

	{state: "switch: half of the files are moved, and the user committed what was there: given up", build: func(f *fixture) {
		f.switchDies(moveHalf)
		f.ok("git", "add", "-A")
		f.ok("git", "commit", "-q", "-m", "by hand")
		f.ok("git", "update-ref", gone, "HEAD")
	}, reads: "a move was interrupted", does: "switch two", then: func(f *fixture) {
		f.on("wfs/two")
		f.branchLacks("wfs/two", "untracked.txt", "first.txt")
		f.isAncestor("what was committed", gone, "wfs/one")
		f.happened("two", "move_started dropped move_started moved")
	}},

	// The same, half-way, met by other commands: files are two's, HEAD is on one's branch.
	{state: "switch, all files are moved: checkpoint", build: func(f *fixture) { f.switchDies(moveDone) },
		reads: "a move was interrupted", does: "checkpoint", says: "nothing changed since checkpoint 1", then: onTwo},
	{state: "switch, all files are moved, edits since: checkpoint", build: func(f *fixture) { f.switchDies(moveDone); f.write("later.txt", "later\n") },
		reads: "a move was interrupted", does: "checkpoint", then: onTwo},
	{state: "switch, all files are moved: switch one", build: func(f *fixture) { f.switchDies(moveDone) },
		reads: "a move was interrupted", does: "switch one", then: func(f *fixture) { f.on("wfs/one"); f.branchLacks("wfs/one", "of-two.txt") }},
	{state: "switch, all files are moved: switch main", build: func(f *fixture) { f.switchDies(moveDone) },
		reads: "a move was interrupted", does: "switch main", then: func(f *fixture) { f.on("main"); f.branchLacks("wfs/one", "of-two.txt") }},
	{state: "switch, all files are moved: new", build: func(f *fixture) { f.switchDies(moveDone) },
		reads: "a move was interrupted", does: "new four --workflow plain --agent true", redo: true, then: func(f *fixture) {
			f.branchLacks("wfs/one", "of-two.txt")
			f.branchLacks("wfs/four", "of-two.txt")
		}},
	{state: "switch, all files are moved: resume one", build: func(f *fixture) { f.switchDies(moveDone) },
		reads: "a move was interrupted", does: "resume one --at 1", redo: true, then: func(f *fixture) { f.on("wfs/one"); f.branchLacks("wfs/one", "of-two.txt") }},
	{state: "switch, all files are moved: undo", build: func(f *fixture) { f.switchDies(moveDone) },
		reads: "a move was interrupted", does: "undo", says: "undo: switch from wfs/one to two", redo: true, dirty: true, then: func(f *fixture) {
			f.on("wfs/one")
			f.branchLacks("wfs/one", "of-two.txt")
			if !f.exists("untracked.txt") || f.exists("a.txt") {
				f.t.Error("the edits of one are not back")
			}
		}},
	{state: "switch, all files are moved: run", build: func(f *fixture) { f.switchDies(moveDone) },
		reads: "a move was interrupted", does: "run", says: "WFS-two  completed", then: onTwo},
	{state: "switch, all files are moved: finish", build: func(f *fixture) { f.switchDies(moveDone) },
		reads: "a move was interrupted", does: "finish", exit: exitBlocked, then: onTwo},
	{state: "a claim whose session has nothing pending", build: func(f *fixture) {
		a := f.app()
		defer a.close()
		if err := a.clone.Claim(a.repo.Worktree(), "two"); err != nil {
			f.t.Fatal(err)
		}
		f.dirty()
	}, reads: "at checkpoint 2", does: "checkpoint", says: "checkpoint 3", then: unclaimed},
	{state: "a claim of a session that was never born", build: func(f *fixture) {
		a := f.app()
		defer a.close()
		if err := a.clone.Claim(a.repo.Worktree(), "never"); err != nil {
			f.t.Fatal(err)
		}
		f.dirty()
	}, reads: "at checkpoint 2", does: "checkpoint", says: "checkpoint 3", then: unclaimed},

	// Going back to checkpoint 0 of session one, with edits of every sort: the branch moves, HEAD stays.
	{state: "resume --at: half of the files are moved", build: func(f *fixture) { f.resumeDies(moveHalf) },
		reads: "a move was interrupted", does: "resume", says: "is current already, at checkpoint 0", then: atZero},
	{state: "resume --at: half of the files are moved, and the user has gone elsewhere since: given up", build: func(f *fixture) {
		f.resumeDies(moveHalf)
		f.ok("git", "checkout", "-q", "-f", "main")
		f.ok("git", "clean", "-q", "-f", "-d")
	}, reads: "a move was interrupted", does: "switch one", then: func(f *fixture) {
		f.on("wfs/one")
		f.branchHolds("wfs/one", "second.txt")
		f.happened("one", "move_started dropped move_started moved")
	}},
	{state: "resume --at is done, and the user has gone elsewhere since: not undone there", build: func(f *fixture) {
		f.ok("wfs", "resume", "--at", "1")
		f.ok("git", "switch", "-q", "main")
	}, reads: "at checkpoint 1", does: "undo", exit: exitError, says: "HEAD is at main by now", then: func(f *fixture) { f.on("main") }},
	{state: "resume --at: the ledger has moved, index and branch have not", build: func(f *fixture) { f.resumeDies(ledgerMoved) },
		reads: "at checkpoint 0", does: "resume", then: atZero},
	{state: "resume --at: ledger and index have moved, the branch has not", build: func(f *fixture) { f.resumeDies(indexMoved) },
		reads: "at checkpoint 0", does: "resume", then: atZero},
	{state: "resume --at: the branch has moved, there is no new journal", build: func(f *fixture) { f.resumeDies(branchMoved) },
		reads: "at checkpoint 0", does: "resume", then: atZero},
	{state: "resume --at: the ledger has moved and .git/wfs is gone: the branch is left alone, and the next checkpoint joins both", build: func(f *fixture) {
		f.resumeDies(ledgerMoved)
		f.loseState()
	}, reads: "at checkpoint 0", does: "checkpoint", says: "checkpoint 3", then: func(f *fixture) { f.on("wfs/one") }},

	// An attempt.
	{state: "attempt_started, and nothing changed", build: func(f *fixture) { f.attempt(2) },
		reads: "interrupted in WORK", does: "run", says: "WFS-one  completed", then: func(f *fixture) {
			worked(f)
			f.happened("one", "attempt_started interrupted driving attempt_started")
		}},
	{state: "attempt_started, with edits", build: func(f *fixture) { f.attempt(2); f.dirty() },
		reads: "interrupted in WORK", does: "run", says: "WFS-one  completed", then: func(f *fixture) {
			worked(f)
			f.happened("one", "attempt_started interrupted checkpointed driving attempt_started")
		}},
	{state: "attempt_started, with edits: resume keeps them", build: func(f *fixture) { f.attempt(2); f.dirty() },
		reads: "interrupted in WORK", does: "resume", says: "nothing was moved", then: mine},
	{state: "attempt_started, and HEAD is elsewhere: nothing is put onto the session", build: func(f *fixture) {
		f.attempt(2)
		f.ok("git", "switch", "-q", "main")
		f.dirty()
	}, reads: "interrupted in WORK", does: "run one", exit: exitError, says: "is not current", dirty: true, then: func(f *fixture) {
		f.on("main")
		f.branchLacks("wfs/one", "untracked.txt")
	}},
	{state: "attempt_started, and .git/wfs is gone", build: func(f *fixture) { f.attempt(2); f.dirty(); f.loseState() },
		reads: "created, to begin with WORK", does: "run", says: "WFS-one  completed", then: worked},
	{state: "run_ended: what it left is judged", build: func(f *fixture) { f.attempt(2 + 1); f.write("work.txt", "done\n") },
		reads: "interrupted in WORK", does: "run", says: "WFS-one  completed", then: func(f *fixture) {
			worked(f)
			f.happened("one", "run_ended driving judged decided checkpointed")
		}},
	{state: "judged: judged again", build: func(f *fixture) { f.attempt(4); f.write("work.txt", "done\n") },
		reads: "interrupted in WORK", does: "run", says: "WFS-one  completed", then: func(f *fixture) {
			worked(f)
			f.happened("one", "judged reopened driving judged decided checkpointed")
		}},
	{state: "decided: judged again", build: func(f *fixture) { f.attempt(5); f.write("work.txt", "done\n") },
		reads: "interrupted in WORK", does: "run", says: "WFS-one  completed", then: func(f *fixture) {
			worked(f)
			f.happened("one", "judged decided reopened driving judged decided checkpointed")
		}},
	{state: "decided, edited since, and the next word is a checkpoint: it is kept without the verdict", build: func(f *fixture) { f.attempt(5); f.dirty() },
		reads: "interrupted in WORK", does: "checkpoint", says: "checkpoint 3", then: mine},

	// Finishing session one on the branch handed.
	{state: "finish_started, no branch yet", build: func(f *fixture) { f.finishDies(finishBegun) },
		reads: "completed", does: "finish --branch handed", says: "is finished", then: func(f *fixture) {
			handed(f)
			f.happened("one", "finish_started dropped finish_started finished")
		}},
	{state: "finish_started, the branch is at the base", build: func(f *fixture) { f.finishDies(finishBranch) },
		reads: "completed", does: "finish --branch handed", says: "is finished", then: handed},
	{state: "finish_started, the commit is made", build: func(f *fixture) { f.finishDies(finishCommit) },
		reads: "completed", does: "finish --branch handed", says: "is finished", then: handed},
	{state: "finish_started, the commit is made, and .git/wfs is gone: nobody knows whose it is", build: func(f *fixture) { f.finishDies(finishCommit); f.loseState() },
		reads: "completed", does: "finish --branch handed", exit: exitError, says: "branch handed exists already", then: func(f *fixture) { f.on("wfs/one") }},
	{state: "finish_started, and the user built on the branch: kept", build: func(f *fixture) {
		f.finishDies(finishCommit)
		tree := f.ok("git", "rev-parse", "wfs/two^{tree}")
		f.ok("git", "update-ref", "refs/heads/handed", f.ok("git", "commit-tree", "-p", "handed", "-m", "mine", tree))
		f.ok("git", "update-ref", gone, "handed")
	}, reads: "completed", does: "finish --branch handed", exit: exitError, says: "branch handed exists already", then: func(f *fixture) { f.same("handed", gone) }},
	{state: "finish_started, and the user amended the commit's message: taken back, and kept in a rescue", build: func(f *fixture) {
		f.finishDies(finishCommit)
		f.ok("git", "update-ref", "refs/heads/handed", f.ok("git", "commit-tree", "-p", "handed^", "-m", "my words", "handed^{tree}"))
	}, reads: "completed", does: "finish --branch handed", says: "is finished", then: func(f *fixture) {
		handed(f)
		if f.grep("my words") == "" {
			f.t.Error("the amended commit is not reachable")
		}
	}},
	{state: "finish_started, and the user is on the branch: kept", build: func(f *fixture) {
		f.finishDies(finishCommit)
		f.ok("git", "switch", "-q", "handed")
	}, reads: "completed", does: "resume one", says: "HEAD is on wfs/one", then: func(f *fixture) {
		f.on("wfs/one")
		f.branchHolds("handed", "work.txt")
	}},
	{state: "finish: the journal ends in the turn, the ledger has not moved", build: func(f *fixture) { f.finishDies(unpublished) },
		reads: "completed", does: "finish --branch handed", says: "is finished", then: handed},
	{state: "finish: the ledger has moved, HEAD has not", build: func(f *fixture) { f.finishDies(ledgerMoved) },
		reads: "finished: handed over on handed", does: "finish --branch handed", says: "is finished", then: handed},
	{state: "finish: the same, and .git/wfs is gone", build: func(f *fixture) { f.finishDies(ledgerMoved); f.loseState() },
		reads: "finished: handed over on handed", does: "finish --branch handed", exit: exitError, says: "hint: git switch handed",
		then: func(f *fixture) { f.on("wfs/one") }},
	{state: "finish: HEAD has moved, the session's documents are still there", build: func(f *fixture) {
		f.write(".workflow/one/plan.md", "the plan\n")
		f.finishDies(headMoved)
	}, reads: "finished: handed over on handed", does: "finish --branch handed", says: "is finished", then: func(f *fixture) {
		handed(f)
		f.branchHolds("wfs/one", ".workflow/one/plan.md")
		f.branchLacks("handed", ".workflow/one/plan.md")
	}},
	{state: "finish: HEAD has moved, there is no new journal", build: func(f *fixture) { f.finishDies(headMoved) },
		reads: "finished: handed over on handed", does: "undo", says: "undo: finish one on handed", redo: true, then: func(f *fixture) { f.on("wfs/one") }},

	// What is damaged, and what somebody else did.
	{state: "the journal's last line is torn", build: func(f *fixture) {
		f.journal("one", session.Noted{Text: "hello"}, session.Noted{Text: "torn"})
		f.change(f.journalFile("one"), func(text string) string { return text[:len(text)-20] })
		f.dirty()
	}, reads: "at checkpoint 2", does: "checkpoint", says: "checkpoint 3", then: func(f *fixture) {
		mine(f)
		if torn, _ := filepath.Glob(filepath.Join(f.dir, ".git/wfs/sessions/one/*.torn-*")); len(torn) != 1 {
			f.t.Errorf("the torn tail is not kept: %v", torn)
		}
	}},
	{state: "session.json is garbage: folded anew from history", build: func(f *fixture) {
		f.editLedger(func(string) string { return "{garbage" })
		f.dirty()
	}, reads: "at checkpoint 2", does: "checkpoint", says: "checkpoint 3", then: mine},
	{state: "the branch was moved by the user's own commits: adopted", build: func(f *fixture) {
		f.write("by-hand.txt", "by hand\n")
		f.ok("git", "add", "-A")
		f.ok("git", "commit", "-q", "-m", "by hand")
		f.dirty()
	}, reads: "at checkpoint 2", does: "checkpoint", says: "checkpoint 3", then: func(f *fixture) {
		mine(f)
		f.parents("wfs/one", 1)
		f.branchHolds("wfs/one", "by-hand.txt")
	}},
	{state: "the branch was rewritten: a merge of both", build: func(f *fixture) {
		f.ok("git", "commit", "-q", "--amend", "-m", "by hand")
		f.dirty()
	}, reads: "at checkpoint 2", does: "checkpoint", says: "checkpoint 3", then: func(f *fixture) {
		mine(f)
		f.parents("wfs/one", 2)
	}},
}

// refusals are states in which nothing is done by itself: every writing command says why, and changes nothing.
var refusalTable = []row{
	{state: "the journal is damaged in the middle", build: func(f *fixture) {
		f.journal("one", session.Noted{Text: "hello"}, session.Noted{Text: "again"}, session.Noted{Text: "and again"})
		f.change(f.journalFile("one"), func(text string) string { return strings.Replace(text, "again", "altered", 1) })
	}, exit: exitError, says: "journal is damaged"},
	{state: "session.json is of a newer version", build: func(f *fixture) {
		f.editLedger(func(text string) string { return strings.Replace(text, `"version":1`, `"version":99`, 1) })
	}, exit: exitError, says: "written by a newer version of wfs"},
	{state: "the journal is of a newer version", build: func(f *fixture) {
		f.journal("one", session.Noted{Text: "hello"})
		f.change(f.journalFile("one"), func(text string) string {
			line := []byte(strings.Replace(text[strings.Index(text, "\n")+1:], `"v":1`, `"v":99`, 1))
			line = line[:strings.LastIndex(string(line), `,"sum"`)]
			return text[:strings.Index(text, "\n")+1] + string(session.Seal(append(line, '}'))) + "\n"
		})
	}, exit: exitError, says: "written by a newer version of wfs"},
}

func TestRefuse(t *testing.T) {
	for _, r := range refusalTable {
		t.Run(r.state, func(t *testing.T) {
			t.Parallel()
			f := plainTemplate.fixture(t)
			r.build(f)
			f.dirty()
			before := f.everything()
			for _, args := range []string{"checkpoint", "run", "switch two", "switch main", "resume --at 1", "new four --leave --workflow plain --agent true", "finish", "status one"} {
				out, exit := f.try(nil, append([]string{"wfs"}, strings.Fields(args)...)...)
				if exit != r.exit || !strings.Contains(out, r.says) || !strings.Contains(out, "hint: ") {
					t.Errorf("wfs %s: exit %d: %s", args, exit, out)
				}
				if now := f.everything(); now != before {
					t.Errorf("wfs %s changed\n%s\nto\n%s", args, before, now)
				}
			}
			if out := f.ok("wfs", "list"); !strings.Contains(out, "unreadable") || !strings.Contains(out, "two") {
				t.Errorf("the list is\n%s", out)
			}
			f.ok("wfs", "status", "two")
		})
	}
}

func TestBranchGone(t *testing.T) {
	t.Parallel()
	f := plainTemplate.fixture(t)
	last := f.ok("git", "rev-parse", "wfs/one")
	f.ok("wfs", "switch", "main")
	f.ok("git", "branch", "-q", "-D", "wfs/one")
	before := f.everything()
	hint := "hint: git branch wfs/one " + last
	for _, args := range []string{"switch one", "resume one", "resume one --at 1", "resume one --fresh"} {
		out, exit := f.try(nil, append([]string{"wfs"}, strings.Fields(args)...)...)
		if exit != exitError || !strings.Contains(out, hint) {
			t.Errorf("wfs %s: exit %d: %s", args, exit, out)
		}
		if now := f.everything(); now != before {
			t.Errorf("wfs %s changed\n%s\nto\n%s", args, before, now)
		}
	}
	f.ok("wfs", "status", "one")
	f.ok("git", "branch", "wfs/one", last)
	f.ok("wfs", "resume", "one")
	f.on("wfs/one")

	// HEAD stays on the branch when it is deleted by a plumbing command.
	f.ok("git", "update-ref", "-d", "refs/heads/wfs/one")
	for _, args := range []string{"checkpoint", "run", "finish", "resume"} {
		out, exit := f.try(nil, append([]string{"wfs"}, strings.Fields(args)...)...)
		if exit != exitError || !strings.Contains(out, hint) {
			t.Errorf("wfs %s: exit %d: %s", args, exit, out)
		}
	}
}

// A move that died in another work tree is completed there; without that work tree it is given up.
func TestOtherWorktree(t *testing.T) {
	t.Parallel()
	for _, at := range []step{moveHalf, ledgerMoved} {
		f := plainTemplate.fixture(t)
		other := *f
		other.dir = filepath.Join(filepath.Dir(f.dir), "other")
		f.ok("git", "worktree", "add", "-q", "-b", "third", other.dir, "main")
		other.write("edited.txt", "edited\n")
		other.dies("two", at, func(ctx context.Context, h *engine.Hand) error {
			_, err := h.Enter(ctx)
			return err
		})
		before := f.everything()
		for _, args := range []string{"switch two", "resume two --at 0"} {
			out, exit := f.try(nil, append([]string{"wfs"}, strings.Fields(args)...)...)
			if exit != exitError || !strings.Contains(out, "hint: cd "+other.dir+" && wfs resume two") {
				t.Errorf("wfs %s: exit %d: %s", args, exit, out)
			}
		}
		if now := f.everything(); now != before {
			t.Errorf("refused, and changed\n%s\nto\n%s", before, now)
		}
		f.ok("wfs", "status", "two")
		f.ok("wfs", "checkpoint") // of session one: not concerned
		other.ok("wfs", "resume", "two")
		if h := other.ok("git", "symbolic-ref", "HEAD"); h != "refs/heads/wfs/two" || !other.exists("of-two.txt") {
			t.Errorf("HEAD is on %s", h)
		}
		if status := other.ok("git", "status", "--porcelain"); status != "" {
			t.Errorf("git status is not clean:\n%s", status)
		}
		f.sound()
	}
	f := plainTemplate.fixture(t)
	other := *f
	other.dir = filepath.Join(filepath.Dir(f.dir), "other")
	f.ok("git", "worktree", "add", "-q", "-b", "third", other.dir, "main")
	other.write("edited.txt", "edited\n")
	other.dies("two", moveHalf, func(ctx context.Context, h *engine.Hand) error {
		_, err := h.Enter(ctx)
		return err
	})
	f.ok("git", "worktree", "remove", "--force", other.dir)
	f.ok("wfs", "switch", "two")
	onTwo(f)
	f.happened("two", "move_started dropped move_started moved")
}

func TestSurvivors(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("processes that left their group are found on Linux only")
	}
	t.Parallel()
	f := plainTemplate.fixture(t)
	f.attempt(2)
	cmd := exec.Command("sleep", "600")
	cmd.Env = append(os.Environ(), "WFS_RUN_ID=one-0001-dead")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { cmd.Process.Kill(); cmd.Wait() }()
	out, exit := f.try(nil, "wfs", "run")
	if exit != exitBlocked || !strings.Contains(out, "blocked by survivors") {
		t.Errorf("exit %d: %s", exit, out)
	}
	cmd.Process.Kill()
	cmd.Wait()
	f.ok("wfs", "run")
	worked(f)
}

// TestRecover builds every row of the recovery table and lets the next command find it.
func TestRecover(t *testing.T) {
	for _, r := range recoveryTable {
		t.Run(r.state+": wfs "+r.does, func(t *testing.T) {
			t.Parallel()
			f := plainTemplate.fixture(t)
			r.build(f)
			f.recovers(r)
		})
	}
}

func (f *fixture) recovers(r row) {
	t := f.t
	before, theirs := f.blobs(), f.userThings()
	maps.Copy(before, f.kept)
	all := f.everything()
	if out := f.ok("wfs", "status", "one"); !strings.Contains(out, r.reads) {
		t.Errorf("readers see\n%s\nand not %q", out, r.reads)
	}
	f.ok("wfs", "list")
	f.ok("wfs")
	if now := f.everything(); now != all {
		t.Errorf("reading changed\n%s\nto\n%s", all, now)
	}
	args := append([]string{"wfs"}, strings.Fields(r.does)...)
	out, exit := f.try(nil, args...)
	if exit != r.exit || !strings.Contains(out, r.says) {
		t.Errorf("exit %d, not %d with %q:\n%s", exit, r.exit, r.says, out)
	}
	f.nothingLost(before)
	f.sound()
	if r.then != nil {
		r.then(f)
	}
	if now := f.userThings(); now != theirs {
		t.Errorf("what is the user's was changed from\n%s\nto\n%s", theirs, now)
	}
	if status := f.ok("git", "status", "--porcelain"); status != "" && !r.dirty {
		t.Errorf("git status is not clean:\n%s", status)
	}
	if r.redo {
		return
	}
	after := f.repository()
	if out, exit := f.try(nil, args...); exit != r.exit && !strings.Contains(out, "no session is current") {
		t.Errorf("the second time: exit %d: %s", exit, out)
	}
	if now := f.repository(); now != after {
		t.Errorf("the second time changed\n%s\nto\n%s", after, now)
	}
}

// What is so afterwards.

func mine(f *fixture) {
	f.t.Helper()
	f.on("wfs/one")
	f.branchHolds("wfs/one", "edited.txt", "untracked.txt")
}
func worked(f *fixture) {
	f.t.Helper()
	f.on("wfs/one")
	f.branchHolds("wfs/one", "work.txt", "second.txt")
}
func handed(f *fixture) {
	f.t.Helper()
	f.on("handed")
	f.branchHolds("handed", "work.txt")
	f.parents("handed", 1)
}

func unclaimed(f *fixture) {
	f.t.Helper()
	mine(f)
	if left, _ := filepath.Glob(filepath.Join(f.dir, ".git/wfs/worktrees/*/claim")); len(left) > 0 {
		f.t.Errorf("the claim is still there: %v", left)
	}
}

func onTwo(f *fixture) {
	f.t.Helper()
	f.on("wfs/two")
	f.branchHolds("wfs/two", "of-two.txt")
	f.branchLacks("wfs/one", "of-two.txt")
	f.newestOp("two", session.MoveSwitch)
	if f.exists("first.txt") || !f.exists("of-two.txt") {
		f.t.Error("the work tree is not two's")
	}
}

func atZero(f *fixture) {
	f.t.Helper()
	f.on("wfs/one")
	f.branchLacks("wfs/one", "first.txt", "untracked.txt")
	f.newestOp("one", session.MoveResume)
	if f.exists("first.txt") || f.exists("untracked.txt") || !f.exists("a.txt") {
		f.t.Error("the work tree is not checkpoint 0's")
	}
}

func (f *fixture) branchLacks(branch string, names ...string) {
	f.t.Helper()
	have := strings.Fields(f.ok("git", "ls-tree", "-r", "--name-only", branch))
	for _, n := range names {
		if slices.Contains(have, n) {
			f.t.Errorf("%s is on %s: %v", n, branch, have)
		}
	}
}

// newestOp checks what an undo would take back.
func (f *fixture) newestOp(id session.ID, kind session.MoveKind) {
	f.t.Helper()
	a := f.app()
	defer a.close()
	op, err := a.eng.Undoable(context.Background())
	if err != nil || op.Session != id || op.Kind != string(kind) {
		f.t.Errorf("the newest operation is %q of %s, not %s of %s: %v", op.Kind, op.Session, kind, id, err)
	}
}

func (f *fixture) same(a, b string) {
	f.t.Helper()
	if x, y := f.ok("git", "rev-parse", a), f.ok("git", "rev-parse", b); x != y {
		f.t.Errorf("%s is at %s, %s at %s", a, x, b, y)
	}
}

func (f *fixture) parents(branch string, want int) {
	f.t.Helper()
	if p := strings.Fields(f.ok("git", "log", "-1", "--format=%P", branch)); len(p) != want {
		f.t.Errorf("%s has the parents %v", branch, p)
	}
}

// grep finds the newest commit that is reachable from a ref and has a line in its message, "" for none.
func (f *fixture) grep(line string) string {
	f.t.Helper()
	return f.ok("git", "log", "--all", "-1", "--format=%H", "--grep=^"+line+"$")
}

func (f *fixture) isAncestor(what, commit, branch string) {
	f.t.Helper()
	if _, exit := f.try(nil, "git", "merge-base", "--is-ancestor", commit, branch); exit != 0 {
		f.t.Errorf("%s is not below %s", what, branch)
	}
}

// happened looks for events that follow each other.
func (f *fixture) happened(id session.ID, kinds string) {
	f.t.Helper()
	if all := f.kinds(id); !strings.Contains(" "+all+" ", " "+kinds+" ") {
		f.t.Errorf("%q did not happen in %s: %s", kinds, id, all)
	}
}

// What people and disks do.

func (f *fixture) loseState() {
	f.t.Helper()
	if err := os.RemoveAll(filepath.Join(f.dir, ".git/wfs")); err != nil {
		f.t.Fatal(err)
	}
}

func (f *fixture) change(path string, edit func(string) string) {
	f.t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		f.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(edit(string(data))), 0o600); err != nil {
		f.t.Fatal(err)
	}
}

// editLedger replaces session.json at the tip of session one's ledger, as a damaged disk, or a newer wfs, would have it.
func (f *fixture) editLedger(edit func(string) string) {
	f.t.Helper()
	const ref = "refs/wfs/one/ledger"
	file := filepath.Join(filepath.Dir(f.dir), "session.json")
	if err := os.WriteFile(file, []byte(edit(f.ok("git", "cat-file", "blob", ref+":session.json"))+"\n"), 0o600); err != nil {
		f.t.Fatal(err)
	}
	blob := f.ok("git", "hash-object", "-w", file)
	index := "GIT_INDEX_FILE=" + filepath.Join(filepath.Dir(f.dir), "index")
	f.okWith(index, "git", "read-tree", ref)
	f.okWith(index, "git", "update-index", "--cacheinfo", "100644,"+blob+",session.json")
	parents := []string{"git", "commit-tree", "-m", "edited", f.okWith(index, "git", "write-tree")}
	for _, p := range strings.Fields(f.ok("git", "log", "-1", "--format=%P", ref)) {
		parents = append(parents, "-p", p)
	}
	f.ok("git", "update-ref", ref, f.ok(parents...))
}

func (f *fixture) okWith(env string, args ...string) string {
	f.t.Helper()
	out, exit := f.try([]string{env}, args...)
	if exit != 0 {
		f.t.Fatalf("%s: exit %d: %s", strings.Join(args, " "), exit, out)
	}
	return strings.TrimSpace(out)
}

// repository is every ref, HEAD, the index and the work tree.
func (f *fixture) repository() string {
	f.t.Helper()
	all := f.ok("git", "for-each-ref") + "\n" + f.head() + "\n" + f.ok("git", "ls-files", "-s") + "\n"
	for _, name := range strings.Split(f.ok("git", "ls-files", "-c", "-o"), "\n") {
		data, err := os.ReadFile(filepath.Join(f.dir, name))
		all += name + " " + strings.TrimSpace(string(data)) + "\n"
		if err != nil {
			all += err.Error() + "\n"
		}
	}
	return all
}

// everything is that and what wfs keeps beside it, but for locks, caches and times.
func (f *fixture) everything() string {
	f.t.Helper()
	all := f.repository()
	for _, name := range []string{"one", "two"} {
		files, _ := filepath.Glob(filepath.Join(f.dir, ".git/wfs/sessions", name, "events-*"))
		for _, path := range files {
			data, err := os.ReadFile(path)
			if err != nil {
				f.t.Fatal(err)
			}
			all += filepath.Base(path) + "\n" + string(data)
		}
	}
	return all
}
