package safety

import "path/filepath"

// holdoutDeeds copy hold-out tests into a clean tree.
var holdoutDeeds = []deed{{
	name: "run with hold-out tests", args: "run",
	before: func(f *fixture) {
		f.write("../hidden/hidden.txt", "what nobody sees\n")
		f.ok("wfs", "repin", "--holdout", "../hidden", "--agent", `find "$HOME" -name hidden.txt -path "*clean*" | grep . && touch ../seen; echo x > work.txt`)
	},
	done: func(f *fixture) {
		f.branchHolds("wfs/one", "work.txt")
		if f.exists("../seen") {
			f.t.Error("the agent could find a hold-out test")
		}
		for _, pattern := range []string{"../state/wfs/clean/*/*/hidden.txt", "../state/wfs/clean/*/holdout"} {
			if left, _ := filepath.Glob(filepath.Join(f.dir, pattern)); len(left) > 0 {
				f.t.Errorf("left behind: %v", left)
			}
		}
	},
}}
