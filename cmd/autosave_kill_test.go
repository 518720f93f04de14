//go:build failpoints

package cmd

import "runtime"

// savingDeeds are killed while files are saved beside a run. Their agents wait for auto-saves, so the number of calls is
// another one each time: a sweep does not meet all of its points.
var savingDeeds = []deed{
	{
		name: "run with auto-saves", args: "run", dirty: true, waits: true,
		before: func(f *fixture) { f.savingAgent(3); f.ok("git", "repack", "-a", "-d", "-q") }, // few packs: none are merged meanwhile
		outlive: func(f *fixture) {
			if runtime.GOOS == "linux" {
				f.agentGone()
			}
		},
		done: func(f *fixture) {
			f.branchHolds("wfs/one", "step1", "step3")
			if !f.Unsynced {
				f.noLoose()
			}
		},
	},
	{
		name: "checkpoint after the journal was lost", args: "checkpoint", before: loseJournal,
		done: func(f *fixture) {
			f.branchHolds("wfs/one", "step1")
			f.givenBack()
		},
	},
}

// noLoose checks that nothing is left on the side.
func (f *fixture) noLoose() {
	f.t.Helper()
	if f.exists(".git/wfs/worktrees/main/auto") {
		f.t.Error("what auto-saves are made of is left behind")
	}
}
