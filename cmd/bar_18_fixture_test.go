package cmd

import (
	"path/filepath"
	"strings"
	"time"

	"github.com/wfs-dev/wfs/registry"
	"github.com/wfs-dev/wfs/session"
)

// damagedTemplate has a file of every kind that the layout knows.
var damagedTemplate = template{make: func(f *fixture) {
	plainTemplate.make(f)
	f.write("b.key", "b\n")
	for _, p := range []string{"a.key", "b.key", "c.key"} {
		f.ok("wfs", "allow", p)
	}
	f.journal("one", session.Noted{Text: "hello"}, session.Noted{Text: "again"})
	a := f.app()
	defer a.close()
	if _, err := a.clone.Post("two", session.Request{Kind: session.RequestNote, Text: "from elsewhere"}, time.Unix(1_800_000_000, 0), "00000000"); err != nil {
		f.t.Fatal(err)
	}
	for _, err := range []error{
		a.clone.Claim("main", "one"),
		a.clone.KeepHalfMade(registry.HalfMade{Session: "two", Dir: f.dir + "-two", Above: filepath.Dir(f.dir), Name: "two"}),
		a.clone.KeepProvided("main", registry.Provided{Session: "one", Dir: f.dir}),
		a.clone.KeepEnded("one", registry.Ended{Driver: "1-1"}),
	} {
		if err != nil {
			f.t.Fatal(err)
		}
	}
	state := ".git/wfs/"
	for name, text := range map[string]string{
		"sessions/one/detached.log": "said\n", "sessions/one/detached.log.1": "said before\n", "sessions/one/events-none.jsonl.torn-1": "{",
		"sessions/one/room":                 "gates\n\n",
		"sessions/one/packages":             "key packages\n",
		"sessions/two/inbox/1-bad.json.bad": "{", "worktrees/moving-refs": "", "worktrees/main/moving": strings.Repeat("a", 40) + " " + strings.Repeat("b", 40) + "\n",
		"worktrees/main/stage": "DIRC", "worktrees/main/before": "DIRC", "worktrees/main/settle": "DIRC", "worktrees/main/sparing": "DIRC", "worktrees/main/clock": "", "worktrees/main/names": "DIRC", "gc.pid": "1 x wfs\n",
		"worktrees/main/index.lock": "", "worktrees/main/stage.specs": ".", "worktrees/main/seen": "1 2 3 4/x\x00", "worktrees/main/read": "1 2\n", "packs.lock": "", "heads-0.lock": "", "plans.lock": "",
	} {
		f.write(state+name, text)
	}
}}
