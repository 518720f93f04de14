package safety

import "runtime"

// dropped is shell that makes an agent wait until the oldest of three auto-save packs is deleted, which happens after
// the third is written: otherwise the run could end first, and its auto-saves with it. After a kill the pack may stay.
const dropped = `n=0; until [ $n -eq 300 ] || [ "$(ls .git/objects/pack/*.idx | grep -c -v -x -F "$was")" -le 2 ]; do n=$((n+1)); kill -0 $PPID || exit 1; sleep 0.01; done`

// savingDeeds are killed while auto-saves run next to the agent. Their agents wait for auto-saves, so the number of
// system calls differs each time: a sweep does not reach all of its points.
var savingDeeds = []deed{
	{
		name: "run with auto-saves", args: "run", dirty: true, waits: true,
		before: func(f *fixture) { f.savingAgent(3, dropped); f.ok("git", "repack", "-a", "-d", "-q") }, // so that no merge interferes
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
