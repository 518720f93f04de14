package safety

import "strings"

// careTable has the rows of commands that change no file, but a session's record or refs.
var careTable = []row{
	{state: "abandon: the journal ends in the turn, the ledger has not moved", build: func(f *fixture) { f.recordDies(unpublished, abandon) },
		reads: "*   2 ", does: "abandon one", says: "one is abandoned; everything", redo: true, then: func(f *fixture) {
			f.happened("one", "abandoned dropped abandoned")
			f.newestOp("one", "abandon")
		}},
	{state: "abandon: the ledger has moved, there is no new journal", build: func(f *fixture) { f.recordDies(ledgerMoved, abandon) },
		reads: "abandoned: why not", does: "abandon one", says: "abandoned already", then: func(f *fixture) { f.newestOp("one", "abandon") }},
	{state: "abandon: the same, and it is taken back", build: func(f *fixture) { f.recordDies(ledgerMoved, abandon) },
		reads: "abandoned: why not", does: "undo", says: "undid: abandon one", redo: true, then: func(f *fixture) {
			if s := f.ok("wfs", "status", "one"); strings.Contains(s, "abandoned") {
				f.t.Errorf("still abandoned: %s", s)
			}
		}},
	{state: "abandon, with edits: they are kept", build: func(f *fixture) { f.dirty(); f.kept = f.blobs(); f.diesInTurn("one", unpublished, 2, abandon...) },
		reads: "* 3 WORK switch edits saved when the session was abandoned", does: "abandon one", says: "one is abandoned; everything", redo: true, then: mine},
	{state: "revive: the ledger has moved, there is no new journal", build: func(f *fixture) {
		f.ok("wfs", "abandon", "one")
		f.recordDies(ledgerMoved, revive)
	}, reads: "*   2 ", does: "resume one", says: "nothing to do", then: func(f *fixture) { f.newestOp("one", "revive") }},
	{state: "rename: the journal ends in the turn, the ledger has not moved", build: func(f *fixture) { f.recordDies(unpublished, rename) },
		reads: "one  one", does: "rename one title", says: "one  title", then: func(f *fixture) { f.happened("one", "renamed dropped renamed") }},
	{state: "rename: the ledger has moved, there is no new journal", build: func(f *fixture) { f.recordDies(ledgerMoved, rename) },
		reads: "one  another title", does: "checkpoint", says: "nothing changed since checkpoint 2"},
	{state: "edit: the journal ends in the turn, the ledger has not moved", build: func(f *fixture) { f.recordDies(unpublished, edit) },
		reads: "one  one", does: "edit one --goal other", says: "goal: one → other", redo: true, then: func(f *fixture) { f.happened("one", "edited dropped edited") }},
	{state: "edit: the ledger has moved, there is no new journal", build: func(f *fixture) { f.recordDies(ledgerMoved, edit) },
		reads: "one  another goal", does: "run", says: "one  DONE at @", then: worked},
	{state: "repin: the journal ends in the turn, the ledger has not moved", build: func(f *fixture) { f.recordDies(unpublished, repin) },
		reads: "*   2 ", does: "run", says: "one  DONE at @", then: worked},
	{state: "repin: the ledger has moved, there is no new journal", build: func(f *fixture) { f.recordDies(ledgerMoved, repin) },
		reads: "*   2 ", does: "run", exit: exitBlocked, says: "the agent keeps failing", then: func(f *fixture) {
			if plan := f.ok("git", "show", "refs/wfs/one/ledger:plan.json"); !strings.Contains(plan, `"false"`) {
				f.t.Errorf("the plan is still\n%s", plan)
			}
		}},

	// Deleting session two, while session one is current.
	{state: "delete: the journal says so, nothing else", build: func(f *fixture) { f.deleteDies(deleteBegun) },
		reads: "a command was interrupted: delete two", does: "checkpoint", says: "nothing changed since checkpoint 2", then: twoDeleted},
	{state: "delete: what it removes is kept, nothing is removed", build: func(f *fixture) { f.deleteDies(deleteCopied) },
		reads: "a command was interrupted: delete two", does: "delete two --force", says: "two is deleted", redo: true, then: twoDeleted},
	{state: "delete: the branch is gone, the ledger is not", build: func(f *fixture) { f.deleteDies(deleteHalf) },
		reads: "a command was interrupted: delete two", does: "delete two --force", says: "two is deleted", redo: true, then: twoDeleted},
	{state: "delete: the same, and undo brings it back", build: func(f *fixture) { f.deleteDies(deleteHalf) },
		reads: "a command was interrupted: delete two", does: "undo", says: "undid: delete two", redo: true, then: twoThere},
	{state: "delete: the same, and resume finds that it is gone", build: func(f *fixture) { f.deleteDies(deleteHalf) },
		reads: "a command was interrupted: delete two", does: "resume two", exit: exitUsage, says: "hint: wfs delete --restore two", then: twoDeleted},
	{state: "delete: the same, and .git/wfs is gone: nobody knows of it", build: func(f *fixture) { f.deleteDies(deleteHalf); f.loseState() },
		reads: "*   2 ", does: "delete two --force", says: "two is deleted", redo: true, then: func(f *fixture) {
			if refs := f.ok("git", "for-each-ref", "refs/wfs/two", "refs/heads/wfs/two"); refs != "" {
				f.t.Errorf("two is not deleted:\n%s", refs)
			}
		}},
	{state: "delete: what it removes is kept, and somebody has gone to the branch since: given up", build: func(f *fixture) {
		f.deleteDies(deleteCopied)
		f.ok("git", "switch", "-q", "wfs/two")
	}, reads: "a command was interrupted: delete two", does: "checkpoint", says: "nothing changed since checkpoint 1", then: func(f *fixture) {
		twoThere(f)
		f.on("wfs/two")
		f.happened("two", "delete_started dropped")
	}},
	{state: "deleted, and undone: it is not deleted again", build: func(f *fixture) {
		f.ok("wfs", "delete", "two", "--force")
		f.ok("wfs", "undo")
	}, reads: "*   2 ", does: "switch two", then: func(f *fixture) {
		f.on("wfs/two")
		twoThere(f)
	}},
	{state: "deleted with commits of the user's on its branch, whose name somebody has taken since: the commits stay reachable", build: func(f *fixture) {
		f.ok("git", "update-ref", "refs/heads/wfs/two", f.ok("git", "commit-tree", "-p", "wfs/two", "-m", "mine alone", "wfs/two^{tree}"))
		f.ok("wfs", "delete", "two", "--force")
		f.ok("git", "branch", "wfs/two", "side")
	}, reads: "*   2 ", does: "delete --restore two", says: "restore two", redo: true, then: func(f *fixture) {
		f.same("wfs/two", "side")
		f.ok("wfs", "status", "two")
		if f.grep("mine alone") == "" {
			f.t.Error("the commit of the user's is not reachable")
		}
	}},
	{state: "deleted, undone with .git/wfs gone", build: func(f *fixture) { f.ok("wfs", "delete", "two", "--force"); f.loseState() },
		reads: "*   2 ", does: "undo", says: "undid: delete two", redo: true, then: twoThere},
}

func twoDeleted(f *fixture) {
	f.t.Helper()
	f.newestOp("two", "delete")
	refs := f.ok("git", "for-each-ref", "--format=%(refname)")
	if strings.Contains(refs, "refs/wfs/two/") || strings.Contains(refs, "refs/heads/wfs/two") || strings.Count(refs, "refs/wfs-deleted/two/") != 2 {
		f.t.Errorf("two is not deleted:\n%s", refs)
	}
	unclaimedTree(f)
}

func twoThere(f *fixture) {
	f.t.Helper()
	f.ok("wfs", "status", "two")
	f.branchHolds("wfs/two", "of-two.txt")
	if refs := f.ok("git", "for-each-ref", "--format=%(refname)"); strings.Contains(refs, "refs/wfs-deleted/") {
		f.t.Errorf("copies are left:\n%s", refs)
	}
	unclaimedTree(f)
}

func unclaimedTree(f *fixture) {
	f.t.Helper()
	if f.exists(".git/wfs/worktrees/main/claim") {
		f.t.Error("the work tree is still claimed")
	}
}

// undoTable has the rows of undos and redos that died half-way.
var undoTable = []row{
	{state: "undo of a checkpoint: the journal says so, nothing else", build: func(f *fixture) { f.undoDies(moveBegun, false) },
		reads: "a command was interrupted", does: "resume", says: "is already checked out, at checkpoint 2", dirty: true, then: editsBack},
	{state: "undo of a checkpoint: the ledger has moved, index and branch have not", build: func(f *fixture) { f.undoDies(ledgerMoved, false) },
		reads: "*   2 ", does: "resume", says: "nothing to do", dirty: true, then: editsBack},
	{state: "undo of a checkpoint: index and ledger have moved, the branch has not", build: func(f *fixture) { f.undoDies(indexMoved, false) },
		reads: "*   2 ", does: "resume", says: "nothing to do", dirty: true, then: editsBack},
	{state: "undo of a checkpoint: the branch has moved, there is no new journal", build: func(f *fixture) { f.undoDies(branchMoved, false) },
		reads: "*   2 ", does: "redo", says: "redid: checkpoint 3", redo: true, then: mine},
	{state: "undo of a checkpoint: the same, and .git/wfs is gone", build: func(f *fixture) { f.undoDies(branchMoved, false); f.loseState() },
		reads: "*   2 ", does: "checkpoint -m again", says: "checkpoint 4: again", then: mine},
	{state: "undo of a switch: done, and the checkpoint before it is not taken back yet", build: func(f *fixture) {
		f.dirty()
		f.ok("wfs", "switch", "two")
		f.undoFirst("undo")
	}, reads: "*   3 ", does: "undo", says: "undid: checkpoint 3 of one", redo: true, dirty: true, then: editsBack},
	{state: "redo of a checkpoint: done, and the switch after it is not done again yet", build: func(f *fixture) {
		f.dirty()
		f.ok("wfs", "switch", "two")
		f.ok("wfs", "undo")
		f.undoFirst("redo")
	}, reads: "*   3 ", does: "redo", says: "redid: switch from wfs/one to two", redo: true, then: func(f *fixture) {
		f.on("wfs/two")
		f.branchHolds("wfs/one", "untracked.txt")
	}},
	{state: "undo of a rename: the journal ends in the turn, the ledger has not moved", build: func(f *fixture) { f.undoDies(unpublished, true) },
		reads: "one  another title", does: "undo", says: "undid: rename one", redo: true, then: func(f *fixture) {
			f.happened("one", "renamed taken_back dropped taken_back")
		}},
	{state: "undo of a rename: the ledger has moved, there is no new journal", build: func(f *fixture) { f.undoDies(ledgerMoved, true) },
		reads: "one  one", does: "redo", says: "redid: rename one: another title", redo: true, then: func(f *fixture) {
			f.newestOp("one", "undo")
		}},
}

// undoDies undoes a checkpoint of session one with edits of every kind, or a new title.
func (f *fixture) undoDies(at step, renamed bool) {
	f.t.Helper()
	if renamed {
		f.ok("wfs", "rename", "one", "another title")
	} else {
		f.dirty()
		f.ok("wfs", "checkpoint")
	}
	f.kept = f.blobs()
	f.dies("one", at, "undo")
}

// undoFirst undoes or redoes only the newest operation: the command dies before it continues with the other
// operations of the same command.
func (f *fixture) undoFirst(does string) {
	f.t.Helper()
	if out, exit := f.try([]string{"WFS_FAILPOINT=journal/rotated"}, "wfs", does); exit != -1 {
		f.t.Fatalf("wfs %s: exit %d: %s", does, exit, out)
	}
}

func editsBack(f *fixture) {
	f.t.Helper()
	f.on("wfs/one")
	f.branchLacks("wfs/one", "untracked.txt")
	if f.exists("a.txt") || !f.exists("untracked.txt") {
		f.t.Error("the edits are not back")
	}
	if text := f.ok("git", "cat-file", "blob", ":staged.txt"); text != "staged, and nowhere else" {
		f.t.Errorf("what was staged is %q", text)
	}
}
