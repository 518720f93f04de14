package safety

import (
	"fmt"
	"path"
	"path/filepath"
	"strings"
)

// damagedTemplate has a file of every kind in the layout of .git/wfs.
var damagedTemplate = template{make: func(f *fixture) {
	plainTemplate.make(f)
	f.write("b.key", "b\n")
	for _, p := range []string{"a.key", "b.key", "c.key"} {
		f.ok("wfs", "allow", p)
	}
	f.journal("one", noted("hello"), noted("again"))
	f.claims("one")
	state := ".git/wfs/"
	for name, text := range map[string]string{
		"sessions/two/inbox/18000000000000000000-00000000.json": `{"v":1,"at":1800000000,"kind":"note","text":"from elsewhere"}` + "\n",
		"half-made/two":             fmt.Sprintf(`{"v":1,"session":"two","dir":%q,"above":%q,"name":"two"}`+"\n", f.dir+"-two", filepath.Dir(f.dir)),
		"worktrees/main/provided":   fmt.Sprintf(`{"v":1,"session":"one","dir":%q}`+"\n", f.dir),
		"sessions/one/ended":        `{"v":1,"driver":"1-1","at":0,"exit":0}` + "\n",
		"sessions/one/detached.log": "said\n", "sessions/one/detached.log.1": "said before\n",
		"sessions/one/room":                 "gates\n\n",
		"sessions/one/packages":             "key packages\n",
		"sessions/two/inbox/1-bad.json.bad": "{", "worktrees/moving-refs": "", "worktrees/main/moving": strings.Repeat("a", 40) + " " + strings.Repeat("b", 40) + "\n",
		"worktrees/main/stage": "DIRC", "worktrees/main/before": "DIRC", "worktrees/main/settle": "DIRC", "worktrees/main/sparing": "DIRC", "worktrees/main/clock": "", "worktrees/main/names": "DIRC", "gc.pid": "1 x wfs\n",
		"worktrees/main/index.lock": "", "worktrees/main/stage.specs": ".", "worktrees/main/seen": "1 2 3 4/x\x00", "worktrees/main/read": "1 2\n", "packs.lock": "", "heads-0.lock": "", "plans.lock": "",
	} {
		f.write(state+name, text)
	}
}}

// stateFile is a kind of file that wfs keeps below .git/wfs, see docs/formats.md.
type stateFile struct {
	pattern string
	dir     bool
	cache   bool // its content can be lost
}

var stateFiles = []stateFile{
	{pattern: "clone"},
	{pattern: "held-out"},
	{pattern: "gc.pid", cache: true},
	{pattern: "heads-*.lock"},
	{pattern: "plans.lock"},
	{pattern: "packs.lock"},
	{pattern: "init", dir: true},
	{pattern: "check", dir: true},
	{pattern: "refs", dir: true, cache: true},
	{pattern: "sessions", dir: true},
	{pattern: "sessions/*", dir: true},
	{pattern: "sessions/*/events-*.jsonl"},
	{pattern: "sessions/*/driver.lock"},
	{pattern: "sessions/*/inbox", dir: true},
	{pattern: "sessions/*/inbox/*.json"},
	{pattern: "sessions/*/inbox/*.json.bad", cache: true},
	{pattern: "sessions/*/exclude"},
	{pattern: "sessions/*/room", cache: true},
	{pattern: "sessions/*/packages", cache: true},
	{pattern: "sessions/*/tip", cache: true},
	{pattern: "sessions/*/ended", cache: true},
	{pattern: "sessions/*/detached.log", cache: true},
	{pattern: "sessions/*/detached.log.1", cache: true},
	{pattern: "sessions/*/runs", dir: true},
	{pattern: "sessions/*/runs/*", dir: true},
	{pattern: "rooms", dir: true},
	{pattern: "rooms/*", dir: true},
	{pattern: "worktrees", dir: true},
	{pattern: "worktrees/moving-refs", cache: true},
	{pattern: "worktrees/*", dir: true},
	{pattern: "worktrees/*/lock"},
	{pattern: "worktrees/*/claim"},
	{pattern: "worktrees/*/provided"},
	{pattern: "worktrees/*/moving"},
	{pattern: "worktrees/*/lock-mark", cache: true},
	{pattern: "worktrees/*/ref-locks", dir: true},
	{pattern: "worktrees/*/moving-refs"},
	{pattern: "worktrees/*/excludes", cache: true},
	{pattern: "worktrees/*/seen", cache: true},
	{pattern: "worktrees/*/read", cache: true},
	{pattern: "worktrees/*/clock", cache: true},
	{pattern: "worktrees/*/index", cache: true},
	{pattern: "worktrees/*/stage", cache: true},
	{pattern: "worktrees/*/before", cache: true},
	{pattern: "worktrees/*/names", cache: true},
	{pattern: "worktrees/*/settle", cache: true},
	{pattern: "worktrees/*/sparing", cache: true},
	{pattern: "worktrees/*/*.lock", cache: true},
	{pattern: "worktrees/*/*.specs", cache: true},
	{pattern: "worktrees/*/clean", dir: true},
	{pattern: "worktrees/*/overlay", dir: true},
	{pattern: "worktrees/*/move", dir: true},
	{pattern: "worktrees/*/nothing", dir: true, cache: true},
	{pattern: "worktrees/*/raw", dir: true},
	{pattern: "worktrees/*/auto", dir: true},
	{pattern: "worktrees/*/finish", dir: true},
	{pattern: "worktrees/*/handover", dir: true},
	{pattern: "worktrees/*/new", dir: true},
	{pattern: "half-made", dir: true},
	{pattern: "half-made/*"},
}

// stateFileOf returns the kind of a path below .git/wfs, nil if it has none.
func stateFileOf(rel string) *stateFile {
	for i, k := range stateFiles {
		if ok, err := path.Match(k.pattern, rel); ok && err == nil && strings.Count(rel, "/") == strings.Count(k.pattern, "/") {
			return &stateFiles[i]
		}
	}
	return nil
}
