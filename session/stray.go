package session

import (
	"maps"
	"slices"
)

// Surroundings has the parts of a repository that a run should not change: all refs except the session's branch, and
// the files that configure git.
type Surroundings struct {
	Refs map[string]Commit // refs that do not belong to wfs, by full name; of a tag, the commit that it points to
	// refs of wfs: branches and ledgers of other sessions, rescues, operation logs. wfs itself moves them at any time
	Wfs   map[string]Commit
	Files map[string]string // digests of files in the git directory, by their paths in it
	Texts map[string]Text   // contents of the small files among these
}

// Text is the content of a file.
type Text struct {
	Data []byte
	Exec bool // the file is executable for its owner
}

// Strayed lists the changes of the Surroundings during a run, whichever process made them. Commits that are no longer
// reachable from the changed refs are kept by the session's next checkpoint.
type Strayed struct {
	body
	// changed refs that do not belong to wfs, and deleted refs of wfs (branches and ledgers of other sessions, rescues,
	// operation logs), without changes by operations in the operation logs; at most 50
	Refs []RefMove `json:"refs,omitempty"`
	// changed files of the git directory: `config`, `hooks/…`, `info/…`, and files of `.wfs/…`; at most 50
	Files []string `json:"files,omitempty"`
	Made  []string `json:"made,omitempty"` // the files in `files` that did not exist before
	// for each of `files` that existed before and was small: the id of the run whose directory `was/` has a copy of it,
	// named like the file with `/` as `%2F`
	Was map[string]string `json:"was,omitempty"`
	// this event records no change, but that a person has seen all changes so far
	Seen bool `json:"seen,omitempty"`
	// changes of how git treats files, which wfs has reverted: settings, attributes of this clone, flags in the index
	Back []string `json:"back,omitempty"`
	// git's lock files (such as `index.lock`) that appeared during the run and that no living process held. wfs moved
	// them to `locks/` in the run's directory; at most 50
	Locks []string `json:"locks,omitempty"`
}

// Conversions are the settings by which git converts files between the work tree and objects.
type Conversions struct {
	// settings by file of this repository and by name; a name can have several values
	Settings map[string]map[string]string
	Texts    map[string][]byte // contents of these files
	// all settings in these files, by file, to detect whether a file still has the same settings
	Listed map[string]string
	Marks  []string          // index entries that git does not check for changes, because of a flag
	All    map[string]string // settings in effect in this work tree, from any file
}

// GitLock is an existing lock file of git.
type GitLock struct {
	Path string
	Name string // its path below the git directory, with slashes
	File string // identifies the file itself where the system can, to detect a later lock with the same path
}

// Empty reports whether s lists no changes.
func (s Strayed) Empty() bool { return len(s.Refs)+len(s.Files)+len(s.Locks)+len(s.Back) == 0 }

// StrayedFrom returns the differences between the surroundings before and after a run, except those that operations of
// wfs made meanwhile. `moves` are the ref moves of these operations, the oldest first.
func StrayedFrom(before, after Surroundings, moves []RefMove) Strayed {
	var s Strayed
	for _, ref := range Differing(before.Refs, after.Refs) {
		s.addMove(RefMove{Ref: ref, Old: before.Refs[ref], New: after.Refs[ref]}, moves)
	}
	for _, ref := range Differing(before.Wfs, after.Wfs) {
		if _, there := after.Wfs[ref]; !there {
			s.addMove(RefMove{Ref: ref, Old: before.Wfs[ref]}, moves)
		}
	}
	s.Files = Differing(before.Files, after.Files)
	s.Refs, s.Files = s.Refs[:min(len(s.Refs), MaxNamed)], s.Files[:min(len(s.Files), MaxNamed)]
	for _, f := range s.Files {
		if _, there := before.Files[f]; !there {
			s.Made = append(s.Made, f)
		}
	}
	return s
}

// addMove adds a changed ref, except for the part of the change that operations of wfs made: reverting it must keep
// their result. Of a ref that existed before, an operation counts only if it moved the ref from the value that it had.
func (s *Strayed) addMove(m RefMove, moves []RefMove) {
	made := m.Old == ""
	for _, o := range moves {
		if o.Ref == m.Ref && (made || o.Old == m.Old) {
			m.Old = o.New
		}
	}
	if m.Old != m.New {
		s.Refs = append(s.Refs, m)
	}
}

// Differing returns the keys whose values differ between two maps, sorted.
func Differing[V comparable](a, b map[string]V) []string {
	names := map[string]bool{}
	for name, v := range a {
		if w, ok := b[name]; !ok || v != w {
			names[name] = true
		}
	}
	for name := range b {
		if _, ok := a[name]; !ok {
			names[name] = true
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// NoLedgerError is returned for a session that has a branch or a name but no ledger, because the ledger's ref was
// deleted or moved to another commit.
type NoLedgerError struct {
	ID ID
	At Commit // the commit that the ref points to now, "" if the ref was deleted
}

func (e *NoLedgerError) Error() string {
	if e.At == "" {
		return "the history of " + string(e.ID) + " is gone: another process deleted " + LedgerOf(e.ID)
	}
	return LedgerOf(e.ID) + " is at " + e.At.Short() + ", which is not a commit of the history of " + string(e.ID)
}
