package session

import (
	"maps"
	"slices"
)

// Surroundings are what a repository has beside a session's branch and files: everybody's refs, and what says how git
// works here.
type Surroundings struct {
	Refs  map[string]Commit // by full name; a tag's is that of the commit that it leads to
	Wfs   map[string]Commit // branches and ledgers of other sessions, rescues, logs of operations: wfs moves them itself
	Files map[string]string // digests of files of the git directory, by their paths in it
	Texts map[string]Text   // of those of them that are small
}

// Text is what a file holds.
type Text struct {
	Data []byte
	Exec bool // its owner may run it
}

// Strayed is what changed in them while a run went on. Whose doing it was nobody can tell; what refs had and
// nothing has any more is kept alive by the session's next checkpoint.
type Strayed struct {
	body
	// refs that do not belong to wfs, and refs of wfs that were deleted: branches and ledgers of other sessions,
	// rescues, operation logs; at most 50
	Refs []RefMove `json:"refs,omitempty"`
	// files of the git directory: `config`, `hooks/…`, `info/…`, and those of `.wfs/…`; at most 50
	Files []string `json:"files,omitempty"`
	Made  []string `json:"made,omitempty"` // those of `files` that did not exist before
	// for those of `files` that existed and were small: the run whose directory `was/` has a copy, named like the file
	// with `/` as `%2F`
	Was map[string]string `json:"was,omitempty"`
	// nothing changed: a person has seen all changes so far
	Seen bool `json:"seen,omitempty"`
	// changes of how git treats files, which wfs reverted: settings, attributes of this clone, flags in the index
	Back []string `json:"back,omitempty"`
	// git's locks below the git directory (`index.lock`) that appeared meanwhile, that no living process held, and
	// that wfs moved to `locks/` in the run's directory; at most 50
	Locks []string `json:"locks,omitempty"`
}

// Conversions are git's settings that say what it makes of files on their way into objects and back.
type Conversions struct {
	Settings map[string]map[string]string // by file of this repository, then by name, with all values
	Texts    map[string][]byte            // of those files
	Listed   map[string]string            // all settings in them, to tell when a file says what it said
	Marks    []string                     // files in the index that git was told not to look at
	All      map[string]string            // that have an effect here, wherever they stand
}

// GitLock is a lock file of git's that is there.
type GitLock struct {
	Path string
	Name string // below the git directory, with slashes
	File string // tells it from one that had the same path before, where the system can
}

// Empty reports whether nothing changed.
func (s Strayed) Empty() bool { return len(s.Refs)+len(s.Files)+len(s.Locks)+len(s.Back) == 0 }

// StrayedFrom compares surroundings before and after a run.
func StrayedFrom(before, after Surroundings) Strayed {
	var s Strayed
	for _, ref := range Differing(before.Refs, after.Refs) {
		s.Refs = append(s.Refs, RefMove{Ref: ref, Old: before.Refs[ref], New: after.Refs[ref]})
	}
	for _, ref := range Differing(before.Wfs, after.Wfs) {
		if _, there := after.Wfs[ref]; !there {
			s.Refs = append(s.Refs, RefMove{Ref: ref, Old: before.Wfs[ref]})
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

// Differing are the keys under which two maps do not hold the same, sorted.
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

// NoLedgerError is a session whose branch or name is there and whose ledger is not: somebody deleted its ref,
// or moved it.
type NoLedgerError struct {
	ID ID
	At Commit // where the ref is, "" when it is gone
}

func (e *NoLedgerError) Error() string {
	if e.At == "" {
		return "the history of " + string(e.ID) + " is gone: another process deleted " + LedgerOf(e.ID)
	}
	return LedgerOf(e.ID) + " is at " + e.At.Short() + ", which is not a commit of the history of " + string(e.ID)
}
