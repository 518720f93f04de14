package registry

import (
	"path"
	"strings"
)

// FileKind is one sort of thing below a clone's directory.
type FileKind struct {
	Pattern string // of the path below that directory, with slashes; * stands for anything within one name
	Name    string // for people
	Dir     bool
	Lost    string // what follows when it cannot be used
	Cache   bool   // nothing follows: what is wrong with its content is made up for by the next command
	check   func(c *Clone, path string, names []string) error
}

// Layout lists everything that this clone keeps outside refs and objects, also what other rooms put there. What stands
// below the directories that end in /* is not looked into.
func Layout() []FileKind {
	const (
		live  = "what happened since the newest checkpoint's events is not known, and nothing is written to the session"
		moves = "no command that changes something works in this work tree"
	)
	return []FileKind{
		{Pattern: "clone", Name: "identity of this clone", Lost: "a copy of this clone is not recognised", check: checkIdentity},
		{Pattern: "held-out", Name: "limits", Lost: "no session can begin"},
		{Pattern: "gc.pid", Name: "scratch", Cache: true},
		{Pattern: "heads-*.lock", Name: "lock", Lost: "no move can go to some of the branches"},
		{Pattern: "plans.lock", Name: "lock", Lost: "no session can begin in a work tree of its own"},
		{Pattern: "packs.lock", Name: "lock", Lost: "packs are not merged"},
		{Pattern: "init", Name: "scratch", Dir: true, Lost: "wfs init does not work"},
		{Pattern: "check", Name: "scratch", Dir: true, Lost: "wfs check does not work"},
		{Pattern: "refs", Name: "damaged refs", Dir: true, Cache: true},
		{Pattern: "sessions", Name: "sessions' directory", Dir: true, Lost: "no session can be used"},
		{Pattern: "sessions/*", Name: "session's directory", Dir: true, Lost: "the session cannot be used"},
		{Pattern: "sessions/*/events-*.jsonl", Name: journalKind, Lost: live, check: checkJournal},
		{Pattern: "sessions/*/events-*.jsonl.torn-*", Name: "torn tail", Cache: true},
		{Pattern: "sessions/*/driver.lock", Name: "lock", Lost: "nobody can drive the session"},
		{Pattern: "sessions/*/inbox", Name: "inbox", Dir: true, Lost: "the session can be asked for nothing, and cannot be driven"},
		{Pattern: "sessions/*/inbox/*.json", Name: "request", Lost: "it will not be heard", check: checkRequest},
		{Pattern: "sessions/*/inbox/*.json.bad", Name: "refused request", Cache: true},
		{Pattern: "sessions/*/exclude", Name: "exclude rules", Lost: "what the session held out of checkpoints may get into them", check: checkExclude},
		{Pattern: "sessions/*/room", Name: "what gates say in a clean tree", Cache: true},
		{Pattern: "sessions/*/packages", Name: "which packages the work began with", Cache: true},
		{Pattern: "sessions/*/tip", Name: "cache", Cache: true},
		{Pattern: "sessions/*/ended", Name: "last run's end", Cache: true},
		{Pattern: "sessions/*/detached.log", Name: "log", Cache: true},
		{Pattern: "sessions/*/detached.log.1", Name: "log", Cache: true},
		{Pattern: "sessions/*/runs", Name: "runs", Dir: true, Lost: "the session cannot be driven"},
		{Pattern: "sessions/*/runs/*", Name: "run", Dir: true, Lost: "that run's logs cannot be read"},
		{Pattern: "rooms", Name: "memory of clean trees that were set up", Dir: true, Lost: "no gate runs in one"},
		{Pattern: "rooms/*", Name: "memory of a clean tree that was set up", Dir: true, Lost: "no gate runs in it"},
		{Pattern: "worktrees", Name: "work trees' directory", Dir: true, Lost: moves},
		{Pattern: "worktrees/moving-refs", Name: "lock of an earlier wfs", Cache: true},
		{Pattern: "worktrees/*", Name: "work tree's directory", Dir: true, Lost: moves},
		{Pattern: "worktrees/*/lock", Name: "lock", Lost: moves},
		{Pattern: "worktrees/*/claim", Name: "claim", Lost: "nobody knows whose move of this work tree was interrupted, and " + moves, check: checkClaim},
		{Pattern: "worktrees/*/provided", Name: "list of what a work tree was given", Lost: "`wfs delete --worktree` takes that for your own files", check: checkProvided},
		{Pattern: "worktrees/*/moving", Name: "note of a move", Lost: moves},
		{Pattern: "worktrees/*/lock-mark", Name: "mark of our locks", Cache: true},
		{Pattern: "worktrees/*/ref-locks", Name: "notes of our locks", Dir: true, Lost: "no ref can be moved"},
		{Pattern: "worktrees/*/moving-refs", Name: "lock", Lost: "no ref can be moved"},
		{Pattern: "worktrees/*/excludes", Name: "combined excludes", Cache: true},
		{Pattern: "worktrees/*/seen", Name: "cache", Cache: true},
		{Pattern: "worktrees/*/read", Name: "cache", Cache: true},
		{Pattern: "worktrees/*/trees", Name: "cache", Cache: true},
		{Pattern: "worktrees/*/clock", Name: "scratch", Cache: true},
		{Pattern: "worktrees/*/index", Name: "private index", Cache: true},
		{Pattern: "worktrees/*/stage", Name: "private index", Cache: true},
		{Pattern: "worktrees/*/before", Name: "private index", Cache: true},
		{Pattern: "worktrees/*/names", Name: "private index", Cache: true},
		{Pattern: "worktrees/*/settle", Name: "private index", Cache: true},
		{Pattern: "worktrees/*/sparing", Name: "private index", Cache: true},
		{Pattern: "worktrees/*/*.lock", Name: "lock of a private index", Cache: true},
		{Pattern: "worktrees/*/*.specs", Name: "scratch", Cache: true},
		{Pattern: "worktrees/*/clean", Name: "memory of the clean tree", Dir: true, Lost: "no gate runs on a clean tree"},
		{Pattern: "worktrees/*/overlay", Name: "scratch", Dir: true, Lost: "no gate runs on a clean tree"},
		{Pattern: "worktrees/*/move", Name: "private git directory", Dir: true, Lost: moves},
		{Pattern: "worktrees/*/nothing", Name: "scratch", Dir: true, Cache: true},
		{Pattern: "worktrees/*/raw", Name: "files that git converts", Dir: true, Lost: moves},
		{Pattern: "worktrees/*/auto", Name: "objects of auto-saves", Dir: true, Lost: "what an agent is doing is not saved while it works"},
		{Pattern: "worktrees/*/finish", Name: "private git directory", Dir: true, Lost: "nothing can be handed over"},
		{Pattern: "worktrees/*/handover", Name: "scratch", Dir: true, Lost: "nothing can be handed over"},
		{Pattern: "worktrees/*/new", Name: "private git directory", Dir: true, Lost: "no work tree of that name can be made"},
		{Pattern: "half-made", Name: "notes of half-made work trees", Dir: true, Lost: "no work tree can be made or removed"},
		{Pattern: "half-made/*", Name: "note of a half-made work tree", Lost: "nobody completes or removes that work tree", check: checkHalfMade},
	}
}

// KindOf returns the kind of a path below a clone's directory, with slashes, nil for one that is no kind of ours.
func KindOf(kinds []FileKind, rel string) *FileKind {
	for i, k := range kinds {
		if ok, err := path.Match(k.Pattern, rel); ok && err == nil && strings.Count(rel, "/") == strings.Count(k.Pattern, "/") {
			return &kinds[i]
		}
	}
	return nil
}
