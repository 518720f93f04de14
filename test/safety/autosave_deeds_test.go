package safety

import "runtime"

// savingDeeds are killed while auto-saves run next to the agent. Their agents wait for auto-saves, so the number of
// system calls differs each time: a sweep does not reach all of its points.
var savingDeeds = []deed{
	{
		name: "run with auto-saves", args: "run", dirty: true, waits: true,
		before: func(f *fixture) { f.savingAgent(3); f.ok("git", "repack", "-a", "-d", "-q") }, // so that no merge interferes
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
}

// noLoose checks that no auto-save directory is left.
func (f *fixture) noLoose() {
	f.t.Helper()
	if f.exists(".git/wfs/worktrees/main/auto") {
		f.t.Error("what auto-saves are made of is left behind")
	}
}
