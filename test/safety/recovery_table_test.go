package safety

import (
	"os"
	"path/filepath"
)

// row is one line of the recovery table: a state that a dead process, or a person after it, left behind, and the
// result of the next command.
type row struct {
	state string           // for people
	build func(f *fixture) // makes it
	reads string           // a text in the output of `wfs status one` before the recovery
	does  string           // the next command, without wfs
	exit  int              // its exit code
	says  string           // a text in its output
	then  func(f *fixture) // checks the state afterwards
	dirty bool             // `git status` need not be clean afterwards
	redo  bool             // the same command, typed again, does something again
}

var interruptedUnjudged = happening{"interrupted", `{"why":"ctrl-c","unjudged":true}`}

const gone = "refs/wfs/gone" // where a row saves a value to compare with later

var recoveryTable = []row{
	// A checkpoint of session one, with edits of every kind in the work tree.
	{state: "checkpoint: the index is installed, nothing else", build: func(f *fixture) { f.checkpointDies(staged) },
		reads: "*   2 ", does: "checkpoint -m again", says: "checkpoint 3: again", then: mine},
	{state: "checkpoint: the journal ends in the turn, the ledger has not moved", build: func(f *fixture) { f.checkpointDies(unpublished) },
		reads: "*   2 ", does: "checkpoint -m again", says: "checkpoint 3: again", then: func(f *fixture) {
			mine(f)
			f.happened("one", "checkpointed dropped checkpointed")
		}},
	{state: "checkpoint: the same, and .git/wfs is gone", build: func(f *fixture) { f.checkpointDies(unpublished); f.loseState() },
		reads: "*   2 ", does: "checkpoint -m again", says: "checkpoint 3: again", then: mine},
	{state: "checkpoint: the same, and the user committed in between", build: func(f *fixture) {
		f.checkpointDies(unpublished)
		f.ok("git", "commit", "-q", "-m", "by hand")
	}, reads: "*   2 ", does: "checkpoint -m again", says: "checkpoint 3: again", then: func(f *fixture) {
		mine(f)
		f.isAncestor("the commit by hand", f.grep("by hand"), "wfs/one")
	}},
	{state: "checkpoint: the ledger has moved, the branch has not", build: func(f *fixture) { f.checkpointDies(ledgerMoved) },
		reads: "* 3 WORK manual mine", does: "checkpoint", says: "nothing changed since checkpoint 3", then: mine},
	{state: "checkpoint: the same, with edits made since", build: func(f *fixture) {
		f.checkpointDies(ledgerMoved)
		f.write("later.txt", "later\n")
	}, reads: "* 3 WORK manual mine", does: "checkpoint -m again", says: "checkpoint 4: again", then: func(f *fixture) {
		mine(f)
		f.parents("wfs/one", 1)
		f.branchHolds("wfs/one", "later.txt")
	}},
	{state: "checkpoint: the same, and .git/wfs is gone", build: func(f *fixture) { f.checkpointDies(ledgerMoved); f.loseState() },
		reads: "* 3 WORK manual mine", does: "checkpoint -m again", says: "checkpoint 4: again", then: mine},
	{state: "checkpoint: ledger and branch have moved, there is no new journal", build: func(f *fixture) { f.checkpointDies(branchMoved) },
		reads: "* 3 WORK manual mine", does: "checkpoint", says: "nothing changed since checkpoint 3", then: func(f *fixture) {
			mine(f)
			if _, err := os.Stat(f.journalFile("one")); err != nil {
				f.t.Errorf("there is no journal still: %v", err)
			}
		}},
	{state: "checkpoint: the same, and the user has reset the branch since: left alone", build: func(f *fixture) {
		f.checkpointDies(branchMoved)
		f.ok("git", "reset", "-q", "--soft", "HEAD~2")
		f.ok("git", "update-ref", gone, "HEAD")
	}, reads: "* 3 WORK manual mine", does: "resume", says: "nothing to do", dirty: true, then: func(f *fixture) { f.same("wfs/one", gone) }},
	{state: "checkpoint: recovered, and the user has reset the branch since: left alone", build: func(f *fixture) {
		f.checkpointDies(ledgerMoved)
		f.ok("wfs", "resume")
		f.ok("git", "reset", "-q", "--soft", "HEAD~1")
		f.ok("git", "update-ref", gone, "HEAD")
	}, reads: "* 3 WORK manual mine", does: "resume", says: "nothing to do", dirty: true, then: func(f *fixture) { f.same("wfs/one", gone) }},

	// A switch from session one, with edits of every kind, to session two.
	{state: "switch: the journal says so, no file is moved", build: func(f *fixture) { f.switchDies(moveBegun) },
		reads: "a command was interrupted", does: "switch two", then: onTwo},
	{state: "switch: half of the files are moved", build: func(f *fixture) { f.switchDies(moveHalf) },
		reads: "a command was interrupted", does: "switch two", then: onTwo},
	{state: "switch: the same, and .git/wfs is gone", build: func(f *fixture) { f.switchDies(moveHalf); f.loseState() },
		reads: "*   3 ", does: "switch two", then: onTwo},
	{state: "switch: all files are moved", build: func(f *fixture) { f.switchDies(moveDone) },
		reads: "a command was interrupted", does: "switch two", then: onTwo},
	{state: "switch: half of the files are moved, with edits made since", build: func(f *fixture) {
		f.switchDies(moveHalf)
		f.write("later.txt", "later\n")
		f.write("edited.txt", "edited later\n")
	}, reads: "a command was interrupted", does: "switch two", then: onTwo},
	{state: "switch: all files are moved, with edits made and staged since", build: func(f *fixture) {
		f.switchDies(moveDone)
		f.write("later.txt", "later\n")
		f.ok("git", "add", "later.txt")
		f.write("later.txt", "later still\n")
	}, reads: "a command was interrupted", does: "switch two", then: onTwo},
	{state: "switch: the journal ends in the turn, the ledger has not moved", build: func(f *fixture) { f.switchDies(unpublished) },
		reads: "a command was interrupted", does: "switch two", then: func(f *fixture) {
			onTwo(f)
			f.happened("two", "move_started moved dropped moved")
		}},
	{state: "switch: the ledger has moved, index and HEAD have not", build: func(f *fixture) { f.switchDies(ledgerMoved) },
		reads: "*   3 ", does: "switch two", then: onTwo},
	{state: "switch: index and ledger have moved, HEAD has not", build: func(f *fixture) { f.switchDies(indexMoved) },
		reads: "*   3 ", does: "switch two", then: onTwo},
	{state: "switch: HEAD has moved, there is no new journal", build: func(f *fixture) { f.switchDies(headMoved) },
		reads: "*   3 ", does: "switch two", then: onTwo},
	{state: "switch: all files are moved, and the user has taken HEAD there himself, and staged something: given up", build: func(f *fixture) {
		f.switchDies(moveDone)
		f.write("later.txt", "later\n")
		f.ok("git", "add", "later.txt")
		f.ok("git", "symbolic-ref", "HEAD", "refs/heads/wfs/two")
	}, reads: "a command was interrupted", does: "switch two", says: "is given up", redo: true, dirty: true, then: func(f *fixture) {
		f.on("wfs/two")
		f.happened("two", "move_started dropped")
		f.branchHolds("wfs/two", "of-two.txt")
	}},
	{state: "switch: half of the files are moved, and the user has gone elsewhere since: given up", build: func(f *fixture) {
		f.switchDies(moveHalf)
		f.ok("git", "checkout", "-q", "-f", "main")
		f.ok("git", "clean", "-q", "-f", "-d")
	}, reads: "a command was interrupted", does: "resume one", then: func(f *fixture) {
		f.on("wfs/one")
		f.happened("two", "move_started dropped")
	}},

	{state: "switch: half of the files are moved, and the user committed what was there: given up", build: func(f *fixture) {
		f.switchDies(moveHalf)
		f.ok("git", "add", "-A")
		f.ok("git", "commit", "-q", "-m", "by hand")
		f.ok("git", "update-ref", gone, "HEAD")
	}, reads: "a command was interrupted", does: "switch two", then: func(f *fixture) {
		f.on("wfs/two")
		f.branchLacks("wfs/two", "untracked.txt", "first.txt")
		f.isAncestor("what was committed", gone, "wfs/one")
		f.happened("two", "move_started dropped move_started moved")
	}},

	// The same, half-way, found by other commands: the files are two's, HEAD is on one's branch.
	{state: "switch, all files are moved: checkpoint", build: func(f *fixture) { f.switchDies(moveDone) },
		reads: "a command was interrupted", does: "checkpoint", says: "nothing changed since checkpoint 1", then: onTwo},
	{state: "switch, all files are moved, edits since: checkpoint", build: func(f *fixture) { f.switchDies(moveDone); f.write("later.txt", "later\n") },
		reads: "a command was interrupted", does: "checkpoint", then: onTwo},
	{state: "switch, all files are moved: switch one", build: func(f *fixture) { f.switchDies(moveDone) },
		reads: "a command was interrupted", does: "switch one", then: func(f *fixture) { f.on("wfs/one"); f.branchLacks("wfs/one", "of-two.txt") }},
	{state: "switch, all files are moved: switch main", build: func(f *fixture) { f.switchDies(moveDone) },
		reads: "a command was interrupted", does: "switch main", then: func(f *fixture) { f.on("main"); f.branchLacks("wfs/one", "of-two.txt") }},
	{state: "switch, all files are moved: new", build: func(f *fixture) { f.switchDies(moveDone) },
		reads: "a command was interrupted", does: "new four --workflow plain --agent true", redo: true, then: func(f *fixture) {
			f.branchLacks("wfs/one", "of-two.txt")
			f.branchLacks("wfs/four", "of-two.txt")
		}},
	{state: "switch, all files are moved: resume one", build: func(f *fixture) { f.switchDies(moveDone) },
		reads: "a command was interrupted", does: "resume one@1", redo: true, then: func(f *fixture) { f.on("wfs/one"); f.branchLacks("wfs/one", "of-two.txt") }},
	{state: "switch, all files are moved: undo", build: func(f *fixture) { f.switchDies(moveDone) },
		reads: "a command was interrupted", does: "undo", says: "undid: switch from wfs/one to two", redo: true, dirty: true, then: func(f *fixture) {
			f.on("wfs/one")
			f.branchLacks("wfs/one", "of-two.txt")
			if !f.exists("untracked.txt") || f.exists("a.txt") {
				f.t.Error("the edits of one are not back")
			}
		}},
	{state: "switch, all files are moved: run", build: func(f *fixture) { f.switchDies(moveDone) },
		reads: "a command was interrupted", does: "run", says: "two  DONE at @", then: onTwo},
	{state: "switch, all files are moved: finish", build: func(f *fixture) { f.switchDies(moveDone) },
		reads: "a command was interrupted", does: "finish", exit: exitBlocked, then: onTwo},
	{state: "a claim whose session has nothing pending", build: func(f *fixture) {
		f.claims("two")
		f.dirty()
	}, reads: "*   2 ", does: "checkpoint", says: "checkpoint 3", then: unclaimed},
	{state: "a claim of a session that was never born", build: func(f *fixture) {
		f.claims("never")
		f.dirty()
	}, reads: "*   2 ", does: "checkpoint", says: "checkpoint 3", then: unclaimed},

	// Going back to checkpoint 0 of session one, with edits of every kind: the branch moves, HEAD stays.
	{state: "resume --at: half of the files are moved", build: func(f *fixture) { f.resumeDies(moveHalf) },
		reads: "a command was interrupted", does: "resume", says: "is already checked out, at checkpoint 0", then: atZero},
	{state: "resume --at: half of the files are moved, and the user has gone elsewhere since: given up", build: func(f *fixture) {
		f.resumeDies(moveHalf)
		f.ok("git", "checkout", "-q", "-f", "main")
		f.ok("git", "clean", "-q", "-f", "-d")
	}, reads: "a command was interrupted", does: "switch one", then: func(f *fixture) {
		f.on("wfs/one")
		f.branchHolds("wfs/one", "second.txt")
		f.happened("one", "move_started dropped move_started moved")
	}},
	{state: "resume --at is done, and the user has gone elsewhere since: not undone there", build: func(f *fixture) {
		f.ok("wfs", "resume", "@1")
		f.ok("git", "switch", "-q", "main")
	}, reads: "*   1 ", does: "undo", exit: exitError, says: "HEAD is now at main", then: func(f *fixture) { f.on("main") }},
	{state: "resume --at: the ledger has moved, index and branch have not", build: func(f *fixture) { f.resumeDies(ledgerMoved) },
		reads: "*   0 ", does: "resume", then: atZero},
	{state: "resume --at: ledger and index have moved, the branch has not", build: func(f *fixture) { f.resumeDies(indexMoved) },
		reads: "*   0 ", does: "resume", then: atZero},
	{state: "resume --at: the branch has moved, there is no new journal", build: func(f *fixture) { f.resumeDies(branchMoved) },
		reads: "*   0 ", does: "resume", then: atZero},
	{state: "resume --at: the ledger has moved and .git/wfs is gone: the branch is left alone, and the next checkpoint joins both", build: func(f *fixture) {
		f.resumeDies(ledgerMoved)
		f.loseState()
	}, reads: "*   0 ", does: "checkpoint", says: "checkpoint 3", then: func(f *fixture) { f.on("wfs/one") }},

	// An attempt.
	{state: "attempt_started, and nothing changed", build: func(f *fixture) { f.attempt(2) },
		reads: "interrupted in WORK", does: "run", says: "one  DONE at @", then: func(f *fixture) {
			worked(f)
			f.happened("one", "attempt_started interrupted driving attempt_started")
		}},
	{state: "attempt_started, with edits", build: func(f *fixture) { f.attempt(2); f.dirty() },
		reads: "interrupted in WORK", does: "run", says: "one  DONE at @", then: func(f *fixture) {
			worked(f)
			f.happened("one", "attempt_started interrupted checkpointed driving attempt_started")
		}},
	{state: "attempt_started, with edits: resume keeps them", build: func(f *fixture) { f.attempt(2); f.dirty() },
		reads: "interrupted in WORK", does: "resume", says: "nothing to do", then: mine},
	{state: "attempt_started, and HEAD is elsewhere: nothing is put onto the session", build: func(f *fixture) {
		f.attempt(2)
		f.ok("git", "switch", "-q", "main")
		f.dirty()
	}, reads: "interrupted in WORK", does: "run one", exit: exitError, says: "is not checked out", dirty: true, then: func(f *fixture) {
		f.on("main")
		f.branchLacks("wfs/one", "untracked.txt")
	}},
	{state: "attempt_started, and .git/wfs is gone", build: func(f *fixture) { f.attempt(2); f.dirty(); f.loseState() },
		reads: "created, to begin with WORK", does: "run", says: "one  DONE at @", then: worked},
	{state: "run_ended: what it left is judged", build: func(f *fixture) { f.attempt(2 + 1); f.write("work.txt", "done\n") },
		reads: "interrupted in WORK", does: "run", says: "one  DONE at @", then: func(f *fixture) {
			worked(f)
			f.happened("one", "run_ended driving judged decided checkpointed")
		}},
	{state: "run_ended, and Ctrl-C while it was judged: the same", build: func(f *fixture) {
		f.attempt(3)
		f.journal("one", interruptedUnjudged)
		f.write("work.txt", "done\n")
	}, reads: "interrupted in WORK", does: "run", says: "one  DONE at @", then: func(f *fixture) {
		worked(f)
		f.happened("one", "run_ended interrupted driving judged decided checkpointed")
	}},
	{state: "run_ended, Ctrl-C while it was judged, and .git/wfs is gone: nothing is known of the attempt", build: func(f *fixture) {
		f.attempt(3)
		f.journal("one", interruptedUnjudged)
		f.dirty()
		f.loseState()
	}, reads: "created, to begin with WORK", does: "run", says: "one  DONE at @", then: worked},
	{state: "run_ended: resume leaves it to be judged", build: func(f *fixture) { f.attempt(3); f.write("work.txt", "done\n") },
		reads: "interrupted in WORK", does: "resume", says: "nothing to do", dirty: true, then: func(f *fixture) {
			f.happened("one", "run_ended interrupted")
			f.ok("wfs", "run")
			worked(f)
			f.happened("one", "run_ended interrupted driving judged decided checkpointed")
		}},
	{state: "judged: judged again", build: func(f *fixture) { f.attempt(4); f.write("work.txt", "done\n") },
		reads: "interrupted in WORK", does: "run", says: "one  DONE at @", then: func(f *fixture) {
			worked(f)
			f.happened("one", "judged reopened driving judged decided checkpointed")
		}},
	{state: "decided: judged again", build: func(f *fixture) { f.attempt(5); f.write("work.txt", "done\n") },
		reads: "interrupted in WORK", does: "run", says: "one  DONE at @", then: func(f *fixture) {
			worked(f)
			f.happened("one", "judged decided reopened driving judged decided checkpointed")
		}},
	{state: "decided, edited since, and the next word is a checkpoint: it is kept without the verdict", build: func(f *fixture) { f.attempt(5); f.dirty() },
		reads: "interrupted in WORK", does: "checkpoint", says: "checkpoint 3", then: mine},

	// Finishing session one on the branch handed.
	{state: "finish_started, no branch yet", build: func(f *fixture) { f.finishDies(finishBegun) },
		reads: "DONE at @", does: "finish --branch handed", says: "is handed over", then: func(f *fixture) {
			handed(f)
			f.happened("one", "finish_started dropped finish_started finished")
		}},
	{state: "finish_started, the branch is at the base", build: func(f *fixture) { f.finishDies(finishBranch) },
		reads: "DONE at @", does: "finish --branch handed", says: "is handed over", then: handed},
	{state: "finish_started, the commit is made", build: func(f *fixture) { f.finishDies(finishCommit) },
		reads: "DONE at @", does: "finish --branch handed", says: "is handed over", then: handed},
	{state: "finish_started, the commit is made, and .git/wfs is gone: nobody knows whose it is", build: func(f *fixture) { f.finishDies(finishCommit); f.loseState() },
		reads: "DONE at @", does: "finish --branch handed", exit: exitError, says: "branch handed already exists", then: func(f *fixture) { f.on("wfs/one") }},
	{state: "finish_started, and the user built on the branch: kept", build: func(f *fixture) {
		f.finishDies(finishCommit)
		tree := f.ok("git", "rev-parse", "wfs/two^{tree}")
		f.ok("git", "update-ref", "refs/heads/handed", f.ok("git", "commit-tree", "-p", "handed", "-m", "mine", tree))
		f.ok("git", "update-ref", gone, "handed")
	}, reads: "DONE at @", does: "finish --branch handed", exit: exitError, says: "branch handed already exists", then: func(f *fixture) { f.same("handed", gone) }},
	{state: "finish_started, and the user amended the commit's message: taken back, and kept in a rescue", build: func(f *fixture) {
		f.finishDies(finishCommit)
		f.ok("git", "update-ref", "refs/heads/handed", f.ok("git", "commit-tree", "-p", "handed^", "-m", "my words", "handed^{tree}"))
	}, reads: "DONE at @", does: "finish --branch handed", says: "is handed over", then: func(f *fixture) {
		handed(f)
		if f.grep("my words") == "" {
			f.t.Error("the amended commit is not reachable")
		}
	}},
	{state: "finish_started, and the user is on the branch: kept", build: func(f *fixture) {
		f.finishDies(finishCommit)
		f.ok("git", "switch", "-q", "handed")
	}, reads: "DONE at @", does: "resume one", says: "now on wfs/one", then: func(f *fixture) {
		f.on("wfs/one")
		f.branchHolds("handed", "work.txt")
	}},
	{state: "finish: the journal ends in the turn, the ledger has not moved", build: func(f *fixture) { f.finishDies(unpublished) },
		reads: "DONE at @", does: "finish --branch handed", says: "is handed over", then: handed},
	{state: "finish: the ledger has moved, HEAD has not", build: func(f *fixture) { f.finishDies(ledgerMoved) },
		reads: "finished: handed over on handed", does: "finish --branch handed", says: "is handed over", then: handed},
	{state: "finish: the same, and .git/wfs is gone", build: func(f *fixture) { f.finishDies(ledgerMoved); f.loseState() },
		reads: "finished: handed over on handed", does: "finish --branch handed", exit: exitError, says: "hint: git switch handed",
		then: func(f *fixture) { f.on("wfs/one") }},
	{state: "finish: HEAD has moved, the session's documents are still there", build: func(f *fixture) {
		f.write(".workflow/one/plan.md", "the plan\n")
		f.finishDies(headMoved)
	}, reads: "finished: handed over on handed", does: "finish --branch handed", says: "is handed over", then: func(f *fixture) {
		handed(f)
		f.branchHolds("wfs/one", ".workflow/one/plan.md")
		f.branchLacks("handed", ".workflow/one/plan.md")
	}},
	{state: "finish: HEAD has moved, there is no new journal", build: func(f *fixture) { f.finishDies(headMoved) },
		reads: "finished: handed over on handed", does: "undo", says: "undid: finish one on handed", redo: true, then: func(f *fixture) { f.on("wfs/one") }},

	// Damage, and changes by other programs.
	{state: "the journal's last line is torn", build: func(f *fixture) {
		f.journal("one", noted("hello"), noted("torn"))
		f.change(f.journalFile("one"), func(text string) string { return text[:len(text)-20] })
		f.dirty()
	}, reads: "*   2 ", does: "checkpoint", says: "checkpoint 3", then: func(f *fixture) {
		mine(f)
		if torn, _ := filepath.Glob(filepath.Join(f.dir, ".git/wfs/sessions/one/*.torn.corrupt-*")); len(torn) != 1 {
			f.t.Errorf("the torn tail is not kept: %v", torn)
		}
	}},
	{state: "session.json is garbage: folded anew from history", build: func(f *fixture) {
		f.editLedger(func(string) string { return "{garbage" })
		f.dirty()
	}, reads: "*   2 ", does: "checkpoint", says: "checkpoint 3", then: mine},
	{state: "the branch was moved by the user's own commits: adopted", build: func(f *fixture) {
		f.write("by-hand.txt", "by hand\n")
		f.ok("git", "add", "-A")
		f.ok("git", "commit", "-q", "-m", "by hand")
		f.dirty()
	}, reads: "*   2 ", does: "checkpoint", says: "checkpoint 3", then: func(f *fixture) {
		mine(f)
		f.parents("wfs/one", 1)
		f.branchHolds("wfs/one", "by-hand.txt")
	}},
	{state: "the branch was rewritten: a merge of both", build: func(f *fixture) {
		f.ok("git", "commit", "-q", "--amend", "-m", "by hand")
		f.dirty()
	}, reads: "*   2 ", does: "checkpoint", says: "checkpoint 3", then: func(f *fixture) {
		mine(f)
		f.parents("wfs/one", 2)
	}},
}
