package session

import (
	"maps"
	"slices"
)

// Surroundings are the parts of a repository outside a session's branch and files: all other refs, and the files that
// configure git.
type Surroundings struct {
	Refs  map[string]Commit // by full name; of a tag, the commit that it points to
	Wfs   map[string]Commit // branches and ledgers of other sessions, rescues, operation logs: wfs moves them itself
	Files map[string]string // digests of files of the git directory, by their paths in it
	Texts map[string]Text   // contents of the small ones among these files
}

// Text is the content of a file.
type Text struct {
	Data []byte
	Exec bool // its owner may run it
}

// Strayed lists the changes of the surroundings during a run, whichever process made them. The session's next
// checkpoint keeps commits reachable that refs lost.
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

// Conversions are the settings by which git converts files between the work tree and objects.
type Conversions struct {
	Settings map[string]map[string]string // by file of this repository, then by name, with all values
	Texts    map[string][]byte            // contents of these files
	Listed   map[string]string            // all settings in them, to detect whether a file still says the same
	Marks    []string                     // index entries that git was told not to check
	All      map[string]string            // settings in effect here, from any file
}

// GitLock is an existing lock file of git.
type GitLock struct {
	Path string
	Name string // below the git directory, with slashes
	File string // identifies the file, to detect a later lock with the same path, where the system can
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

// NoLedgerError is returned for a session that has a branch or a name but no ledger: its ref was deleted or moved.
type NoLedgerError struct {
	ID ID
	At Commit // where the ref points now, "" if it was deleted
}

func (e *NoLedgerError) Error() string {
	if e.At == "" {
		return "the history of " + string(e.ID) + " is gone: another process deleted " + LedgerOf(e.ID)
	}
	return LedgerOf(e.ID) + " is at " + e.At.Short() + ", which is not a commit of the history of " + string(e.ID)
}
