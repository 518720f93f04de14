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
		live  = "the events since the last checkpoint are lost, and nothing can be written to the session"
		moves = "no command that changes something works in this work tree"
	)
	return []FileKind{
		{Pattern: "clone", Name: "identity of this clone", Lost: "a copy of this clone is not recognised", check: checkIdentity},
		{Pattern: "held-out", Name: "limits", Lost: "no session can begin"},
		{Pattern: "gc.pid", Name: "scratch", Cache: true},
		{Pattern: "heads-*.lock", Name: "lock", Lost: "some branches cannot be checked out"},
		{Pattern: "plans.lock", Name: "lock", Lost: "no session can begin in a work tree of its own"},
		{Pattern: "packs.lock", Name: "lock", Lost: "packs are not merged"},
		{Pattern: "init", Name: "scratch", Dir: true, Lost: "wfs init does not work"},
		{Pattern: "check", Name: "scratch", Dir: true, Lost: "wfs check does not work"},
		{Pattern: "refs", Name: "damaged refs", Dir: true, Cache: true},
		{Pattern: "sessions", Name: "sessions' directory", Dir: true, Lost: "no session can be used"},
		{Pattern: "sessions/*", Name: "session's directory", Dir: true, Lost: "the session cannot be used"},
		{Pattern: "sessions/*/events-*.jsonl", Name: journalKind, Lost: live, check: checkJournal},
		{Pattern: "sessions/*/events-*.jsonl.torn-*", Name: "torn tail", Cache: true},
		{Pattern: "sessions/*/driver.lock", Name: "lock", Lost: "the session cannot run"},
		{Pattern: "sessions/*/inbox", Name: "inbox", Dir: true, Lost: "the session accepts no requests, and cannot run"},
		{Pattern: "sessions/*/inbox/*.json", Name: "request", Lost: "it will not be processed", check: checkRequest},
		{Pattern: "sessions/*/inbox/*.json.bad", Name: "refused request", Cache: true},
		{Pattern: "sessions/*/exclude", Name: "exclude rules", Lost: "files that the session excluded may get into checkpoints", check: checkExclude},
		{Pattern: "sessions/*/room", Name: "cache of gate results in clean checkouts", Cache: true},
		{Pattern: "sessions/*/packages", Name: "list of the packages at the start of the work", Cache: true},
		{Pattern: "sessions/*/tip", Name: "cache", Cache: true},
		{Pattern: "sessions/*/ended", Name: "last run's end", Cache: true},
		{Pattern: "sessions/*/detached.log", Name: "log", Cache: true},
		{Pattern: "sessions/*/detached.log.1", Name: "log", Cache: true},
		{Pattern: "sessions/*/runs", Name: "runs", Dir: true, Lost: "the session cannot run"},
		{Pattern: "sessions/*/runs/*", Name: "run", Dir: true, Lost: "that run's logs cannot be read"},
		{Pattern: "rooms", Name: "cache of prepared clean checkouts", Dir: true, Lost: "no gate runs in one"},
		{Pattern: "rooms/*", Name: "cache of a prepared clean checkout", Dir: true, Lost: "no gate runs in it"},
		{Pattern: "worktrees", Name: "work trees' directory", Dir: true, Lost: moves},
		{Pattern: "worktrees/moving-refs", Name: "lock of an earlier wfs", Cache: true},
		{Pattern: "worktrees/*", Name: "work tree's directory", Dir: true, Lost: moves},
		{Pattern: "worktrees/*/lock", Name: "lock", Lost: moves},
		{Pattern: "worktrees/*/claim", Name: "claim", Lost: "the interrupted command in this work tree is unknown, and " + moves, check: checkClaim},
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
		{Pattern: "worktrees/*/clean", Name: "cache of the clean checkout", Dir: true, Lost: "no gate runs in a clean checkout"},
		{Pattern: "worktrees/*/overlay", Name: "scratch", Dir: true, Lost: "no gate runs in a clean checkout"},
		{Pattern: "worktrees/*/move", Name: "private git directory", Dir: true, Lost: moves},
		{Pattern: "worktrees/*/nothing", Name: "scratch", Dir: true, Cache: true},
		{Pattern: "worktrees/*/raw", Name: "files that git converts", Dir: true, Lost: moves},
		{Pattern: "worktrees/*/auto", Name: "objects of backups", Dir: true, Lost: "an agent's work is not backed up while it runs"},
		{Pattern: "worktrees/*/finish", Name: "private git directory", Dir: true, Lost: "wfs finish does not work"},
		{Pattern: "worktrees/*/handover", Name: "scratch", Dir: true, Lost: "wfs finish does not work"},
		{Pattern: "worktrees/*/new", Name: "private git directory", Dir: true, Lost: "no work tree of that name can be made"},
		{Pattern: "half-made", Name: "notes of half-made work trees", Dir: true, Lost: "no work tree can be made or removed"},
		{Pattern: "half-made/*", Name: "note of a half-made work tree", Lost: "that work tree is not completed or removed", check: checkHalfMade},
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
