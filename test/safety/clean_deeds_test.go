package safety

import (
	"path/filepath"
	"slices"
	"strings"
)

// cleanDeeds make clean trees, and keep installed files there. If one was killed half-way, the next command judges
// the right files and leaves no temporary files.
var cleanDeeds = []deed{
	{
		name: "run with a new clean tree", args: "run", clean: true, dirty: true,
		before: gatesClean, done: func(f *fixture) { f.cleanIs("wfs/one") },
	},
	{
		name: "run with a clean tree of another checkpoint", args: "run", clean: true, dirty: true,
		before: func(f *fixture) {
			gatesClean(f)
			f.ok("wfs", "run")
			f.write("made/edited.txt", "since the clean tree was made\n")
			f.ok("git", "rm", "-q", "-f", "first.txt")
		},
		done: func(f *fixture) { f.cleanIs("wfs/one") },
	},
	{
		name: "run with a clean tree that is set up", args: "run", clean: true, dirty: true,
		before: gatesSetUp, done: func(f *fixture) { f.cleanIs("wfs/one") },
	},
}

// gatesSetUp is gatesClean with files that a setup command installs.
func gatesSetUp(f *fixture) {
	f.t.Helper()
	gatesIn(f, "worktree: {setup: 'mkdir -p node_modules/left && cd node_modules/left && echo installed > index.js && echo > package.json'}\n")
}

// gatesClean gives session one a gate in a clean tree, which leaves a file there each time.
func gatesClean(f *fixture) {
	f.t.Helper()
	gatesIn(f, "")
}

func gatesIn(f *fixture, more string) {
	f.t.Helper()
	f.write(".git/info/exclude", "node_modules/\n")
	f.write("node_modules/left/index.js", "installed\n")
	f.write("node_modules/left/package.json", "{\"version\": \"1.0.0\"}\n")
	f.write(".wfs/config.yaml", `version: 1
workflow: plain
gates:
  tests: {run: 'test -f a.txt && test -f node_modules/left/index.js && test ! -e stray && mkdir -p left node_modules/.cache && touch stray left/x node_modules/.cache/x', where: clean}
`+more)
	f.write(".wfs/workflows/plain.yaml", "version: 1\nname: plain\nstart: WORK\ntamper: strict\nphases:\n  WORK:\n    run: agent\n    gates: [{use: tests}]\n    on: {pass: done}\n")
	f.ok("wfs", "trust", "--yes")
	f.ok("wfs", "repin", "--agent", "echo work >> work.txt")
}

// cleanIs checks that the clean tree has the files of a branch, the installed files and the files that its gate left,
// and that no temporary files are left.
func (f *fixture) cleanIs(branch string) {
	f.t.Helper()
	if f.Dark { // the clean tree is a cache that is never synced: the next gate repairs it
		f.write("after.txt", "the power is back\n")
		f.ok("wfs", "run")
	}
	f.branchHolds(branch, "work.txt")
	tops, _ := filepath.Glob(filepath.Join(f.dir, "../state/wfs/clean/*/repo"))
	if len(tops) != 1 {
		f.t.Fatalf("clean trees: %v", tops)
	}
	for name, id := range parsedTree(f.ok("git", "ls-tree", "-r", branch)) {
		if now := f.ok("git", "hash-object", "--no-filters", filepath.Join(tops[0], name)); now != id {
			f.t.Errorf("%s is %s in the clean tree, %s in the checkpoint", name, now, id)
		}
	}
	want := f.ok("git", "ls-tree", "-r", "--name-only", branch) + "\nleft/x\nstray\nnode_modules/.cache/x"
	for _, name := range strings.Fields(f.ok("sh", "-c", "find node_modules -type f")) {
		want += "\n" + name
	}
	have := strings.Fields(f.ok("sh", "-c", "cd '"+tops[0]+"' && find . -name .git -prune -o ! -type d -print"))
	for _, name := range have {
		if name = strings.TrimPrefix(name, "./"); !strings.Contains("\n"+want+"\n", "\n"+name+"\n") {
			f.t.Errorf("%s is in the clean tree", name)
		}
	}
	for _, pattern := range []string{"*/.tmp-*", "../../rooms/*/index.lock", "../../rooms/*/.tmp-*"} {
		left, _ := filepath.Glob(filepath.Join(f.dir, ".git/wfs/worktrees/main", pattern))
		left = slices.DeleteFunc(left, func(p string) bool { return f.Stays != "" && strings.HasSuffix(p, f.Stays) })
		if len(left) > 0 {
			f.t.Errorf("left behind: %v", left)
		}
	}
}

// parsedTree returns the ids in the output of git ls-tree, by name.
func parsedTree(text string) map[string]string {
	out := map[string]string{}
	for line := range strings.Lines(text) {
		meta, name, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		if fields := strings.Fields(meta); len(fields) == 3 {
			out[name] = fields[2]
		}
	}
	return out
}
