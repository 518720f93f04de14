package safety

import "runtime"

// dropped lets an agent wait until the oldest of three packs of auto-saves is gone, which comes after the third is there:
// the run would end meanwhile, and with it whatever is saved beside it. After a kill it may stay.
const dropped = `n=0; until [ $n -eq 300 ] || [ "$(ls .git/objects/pack/*.idx | grep -c -v -x -F "$was")" -le 2 ]; do n=$((n+1)); kill -0 $PPID || exit 1; sleep 0.01; done`

// savingDeeds are killed while files are saved beside a run. Their agents wait for auto-saves, so the number of calls is
// another one each time: a sweep does not meet all of its points.
var savingDeeds = []deed{
	{
		name: "run with auto-saves", args: "run", dirty: true, waits: true,
		before: func(f *fixture) { f.savingAgent(3, dropped); f.ok("git", "repack", "-a", "-d", "-q") }, // few packs: none are merged meanwhile
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

// noLoose checks that nothing is left on the side.
func (f *fixture) noLoose() {
	f.t.Helper()
	if f.exists(".git/wfs/worktrees/main/auto") {
		f.t.Error("what auto-saves are made of is left behind")
	}
}
