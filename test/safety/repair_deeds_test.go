package safety

import (
	"os"
	"path/filepath"
	"strings"
)

// repairDeeds repair damage, which takes several steps.
var repairDeeds = []deed{
	{
		name: "checkpoint in a clone that nobody knows", args: "checkpoint",
		before: func(f *fixture) { f.dirty(); f.write(".git/wfs/clone", "{garbage") },
		done: func(f *fixture) {
			mine(f)
			f.keptOf(".git/wfs/clone")
		},
	},
	{
		name: "doctor --repair of a damaged journal", args: "doctor --repair", hurt: true,
		before: func(f *fixture) {
			f.kept = f.blobs()
			f.journal("one", noted("hello"), noted("again"), noted("and again"))
			f.change(f.journalFile("one"), func(text string) string { return strings.Replace(text, `"again"`, `"altered"`, 1) })
		},
		done: func(f *fixture) {
			f.keptOf(f.journalFile("one"))
			f.happened("one", "noted")
			f.write("edited.txt", "edited\n")
			f.ok("wfs", "checkpoint")
			f.branchHolds("wfs/one", "first.txt")
		},
	},
	{
		name: "doctor --repair of an emptied ledger", args: "doctor --repair", hurt: true,
		before: func(f *fixture) {
			f.kept = f.blobs()
			f.ok("git", "update-ref", gone, "refs/wfs/one/ledger") // the saved value must not become garbage meanwhile
			f.write(".git/refs/wfs/one/ledger", "")
		},
		done: func(f *fixture) {
			f.same("refs/wfs/one/ledger", gone)
			f.keptOf(".git/wfs/refs/wfs_one_ledger")
			f.ok("wfs", "status", "one")
		},
	},
	{
		name: "doctor --repair of rules that are lost", args: "doctor --repair", hurt: true,
		before: func(f *fixture) {
			f.kept = f.blobs()
			f.write(".git/wfs/sessions/one/exclude", "garbage\n")
		},
		done: func(f *fixture) {
			f.keptOf(".git/wfs/sessions/one/exclude")
			f.write("edited.txt", "edited\n")
			f.ok("wfs", "checkpoint")
			f.branchLacks("wfs/one", "keep.ignored")
		},
	},
}

// keptOf checks that the damaged file is kept next to its path.
func (f *fixture) keptOf(path string) {
	f.t.Helper()
	if !filepath.IsAbs(path) {
		path = filepath.Join(f.dir, path)
	}
	kept, _ := filepath.Glob(path + ".corrupt-*")
	for _, k := range kept {
		if info, err := os.Stat(k); err == nil && info.Mode().IsRegular() {
			return
		}
	}
	f.t.Errorf("of %s nothing is kept: %v", path, kept)
}
