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
	check   func(path string) error
}

// checks are for the content of files, by their kind.
var checks = map[string]func(path string) error{
	"identity of this clone": reads(
		readIdentity), journalKind: checkJournal, "request": checkRequest, "exclude rules": checkExclude,
	"claim": reads(readClaim), "list of what a work tree was given": reads(readProvided),
	"note of a half-made work tree": checkHalfMade,
}

// Layout lists everything that this clone keeps outside refs and objects, also what other packages put there.
// The content of directories whose pattern ends in /* is not examined.
func Layout() []FileKind {
	const (
		live  = "the events since the last checkpoint are lost, and nothing can be written to the session"
		moves = "no command that changes something works in this work tree"
	)
	var kinds []FileKind
	for _, row := range [][3]string{ // pattern, with a slash behind directories; name; what is lost, "" for nothing
		{"clone", "identity of this clone", "a copy of this clone is not recognised"},
		{"held-out", "limits", "no session can begin"},
		{"gc.pid", "scratch", ""},
		{"heads-*.lock", "lock", "some branches cannot be checked out"},
		{"plans.lock", "lock", "no session can begin in a work tree of its own"},
		{"packs.lock", "lock", "packs are not merged"},
		{"init/", "scratch", "wfs init does not work"},
		{"check/", "scratch", "wfs check does not work"},
		{"refs/", "damaged refs", ""},
		{"sessions/", "sessions' directory", "no session can be used"},
		{"sessions/*/", "session's directory", "the session cannot be used"},
		{"sessions/*/events-*.jsonl", journalKind, live},
		{"sessions/*/driver.lock", "lock", "the session cannot run"},
		{"sessions/*/inbox/", "inbox", "the session accepts no requests, and cannot run"},
		{"sessions/*/inbox/*.json", "request", "it will not be processed"},
		{"sessions/*/inbox/*.json.bad", "refused request", ""},
		{"sessions/*/exclude", "exclude rules", "files that the session excluded may get into checkpoints"},
		{"sessions/*/room", "cache of gate results in clean checkouts", ""},
		{"sessions/*/packages", "list of the packages at the start of the work", ""},
		{"sessions/*/tip", "cache", ""},
		{"sessions/*/ended", "last run's end", ""},
		{"sessions/*/detached.log", "log", ""},
		{"sessions/*/detached.log.1", "log", ""},
		{"sessions/*/runs/", "runs", "the session cannot run"},
		{"sessions/*/runs/*/", "run", "that run's logs cannot be read"},
		{"rooms/", "cache of prepared clean checkouts", "no gate runs in one"},
		{"rooms/*/", "cache of a clean checkout", "no gate runs in it"},
		{"worktrees/", "work trees' directory", moves},
		{"worktrees/moving-refs", "lock of an earlier wfs", ""},
		{"worktrees/*/", "work tree's directory", moves},
		{"worktrees/*/lock", "lock", moves},
		{"worktrees/*/claim", "claim", "the interrupted command in this work tree is unknown, and " + moves},
		{"worktrees/*/provided", "list of what a work tree was given",
			"`wfs delete --worktree` takes that for your own files"},
		{"worktrees/*/moving", "note of a move", moves},
		{"worktrees/*/lock-mark", "mark of our locks", ""},
		{"worktrees/*/ref-locks/", "notes of our locks", "no ref can be moved"},
		{"worktrees/*/moving-refs", "lock", "no ref can be moved"},
		{"worktrees/*/excludes", "combined excludes", ""},
		{"worktrees/*/seen", "cache of an earlier wfs", ""},
		{"worktrees/*/read", "cache of an earlier wfs", ""},
		{"worktrees/*/clock", "scratch", ""},
		{"worktrees/*/index", "private index", ""},
		{"worktrees/*/stage", "private index", ""},
		{"worktrees/*/before", "private index", ""},
		{"worktrees/*/names", "private index", ""},
		{"worktrees/*/settle", "private index", ""},
		{"worktrees/*/sparing", "private index", ""},
		{"worktrees/*/*.lock", "lock of a private index", ""},
		{"worktrees/*/*.specs", "scratch", ""},
		{"worktrees/*/clean/", "cache of an earlier wfs", ""},
		{"worktrees/*/overlay/", "scratch", "no gate runs in a clean checkout"},
		{"worktrees/*/move/", "private git directory", moves},
		{"worktrees/*/nothing/", "scratch", ""},
		{"worktrees/*/raw/", "files that git converts", moves},
		{"worktrees/*/auto/", "objects of backups", "an agent's work is not backed up while it runs"},
		{"worktrees/*/finish/", "private git directory", "wfs finish does not work"},
		{"worktrees/*/handover/", "scratch", "wfs finish does not work"},
		{"worktrees/*/new/", "private git directory", "no work tree of that name can be made"},
		{"half-made/", "notes of half-made work trees", "no work tree can be made or removed"},
		{"half-made/*", "note of a half-made work tree", "that work tree is not completed or removed"},
	} {
		pattern, dir := strings.CutSuffix(row[0], "/")
		kinds = append(kinds, FileKind{Pattern: pattern, Name: row[1], Dir: dir, Lost: row[2], Cache: row[2] == "",
			check: checks[row[1]]})
	}
	return kinds
}

// reads is the check of a file by its reader.
func reads[T any](read func(path string) (T, error)) func(string) error {
	return func(path string) error {
		_, err := read(path)
		return err
	}
}

// KindOf returns the kind of a path below a clone's directory, with slashes, nil for one that is no kind of ours.
func KindOf(kinds []FileKind, rel string) *FileKind {
	for i, k := range kinds {
		if ok, err := path.Match(k.Pattern, rel); ok && err == nil &&
			strings.Count(rel, "/") == strings.Count(k.Pattern, "/") {
			return &kinds[i]
		}
	}
	return nil
}
