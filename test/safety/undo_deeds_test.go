package safety

import "strings"

// undoDeeds go back and forth in the operation log. Typed again after a success, an undo goes further back, and a
// redo finds nothing to do: the checks hold in both cases.
var undoDeeds = []deed{
	{
		name: "undo of checkpoint", args: "undo", dirty: true,
		before: func(f *fixture) { f.dirty(); f.ok("wfs", "checkpoint") }, done: editsAreBack,
	},
	{
		name: "redo of checkpoint", args: "redo",
		before: func(f *fixture) { f.dirty(); f.ok("wfs", "checkpoint"); f.ok("wfs", "undo") },
		done: func(f *fixture) {
			f.on("wfs/one")
			f.branchHolds("wfs/one", "edited.txt", "untracked.txt")
			f.branchLacks("wfs/one", "a.txt")
		},
	},
	{
		name: "undo of switch and the checkpoint before it", args: "undo", dirty: true,
		before: func(f *fixture) { f.dirty(); f.ok("wfs", "switch", "two") }, done: editsAreBack,
	},
	{
		name: "redo of switch and the checkpoint before it", args: "redo",
		before: func(f *fixture) { f.dirty(); f.ok("wfs", "switch", "two"); f.ok("wfs", "undo") },
		done: func(f *fixture) {
			f.on("wfs/two")
			f.branchHolds("wfs/one", "edited.txt", "untracked.txt")
			f.branchHolds("wfs/two", "of-two.txt")
		},
	},
	{
		name: "undo of rename", args: "undo", dirty: true, before: func(f *fixture) { f.ok("wfs", "rename", "one", "title") },
		done: func(f *fixture) { f.says("one  one") },
	},
	{
		name: "redo of edit", args: "redo", before: func(f *fixture) { f.ok("wfs", "edit", "one", "--goal", "another"); f.ok("wfs", "undo") },
		done: func(f *fixture) { f.says("one  another") },
	},
	{
		name: "undo of repin", args: "undo", dirty: true, before: func(f *fixture) { f.ok("wfs", "repin", "one", "--agent", "false") },
		done: func(f *fixture) {
			if plan := f.ok("git", "show", "refs/wfs/one/ledger:plan.json"); strings.Contains(plan, `"false"`) {
				f.t.Errorf("the plan is\n%s", plan)
			}
		},
	},
	{name: "phase skip", args: "phase skip", done: func(f *fixture) { f.says("completed") }},
	{
		name: "undo of phase skip", args: "undo", dirty: true, before: func(f *fixture) { f.ok("wfs", "phase", "skip") },
		done: func(f *fixture) { f.says("to begin with WORK") },
	},
	{
		name: "undo of approve", args: "undo", dirty: true, // the reviewer's edits are uncommitted again
		before: func(f *fixture) {
			f.waitingForReview()
			f.write("edited.txt", "by the reviewer\n")
			f.ok("wfs", "approve")
		},
		done: func(f *fixture) {
			if s := f.ok("wfs", "status", "review"); strings.Contains(s, "DONE at @") {
				f.t.Errorf("the approval is taken back, and status says %s", s)
			}
		},
	},
	{
		name: "checkpoint upon rubbish in place of the operation log", args: "checkpoint",
		before: func(f *fixture) {
			f.dirty()
			f.ok("git", "update-ref", "refs/wfs-ops/main", "side")
		},
		done: func(f *fixture) {
			f.branchHolds("wfs/one", "edited.txt", "untracked.txt")
			f.isAncestor("what was there", "side", "refs/wfs-ops/main")
			f.newestOp("one", "checkpoint")
		},
	},
}

// editsAreBack checks that the edits of dirty are uncommitted again.
func editsAreBack(f *fixture) {
	f.t.Helper()
	f.on("wfs/one")
	f.branchLacks("wfs/one", "untracked.txt")
	if f.exists("a.txt") || !f.exists("untracked.txt") || !f.exists("first.txt") {
		f.t.Error("the edits are not back")
	}
	if !strings.Contains(f.ok("wfs", "status", "one"), "*   2 ") {
		return // it went further back, to an older index
	}
	if text := f.ok("git", "cat-file", "blob", ":staged.txt"); text != "staged, and nowhere else" {
		f.t.Errorf("what was staged is %q", text)
	}
}

func (f *fixture) says(what string) {
	f.t.Helper()
	if s := f.ok("wfs", "status", "one"); !strings.Contains(s, what) {
		f.t.Errorf("status says %s", s)
	}
}
