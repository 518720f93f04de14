package session

import (
	"slices"
	"strings"
)

// Default limits of what snapshots hold out.
const (
	DefaultMaxFileSize int64 = 10 << 20
	DefaultMaxNewFiles       = 1000
)

// HoldReason says why something is held out of checkpoints.
type HoldReason string

const (
	HoldKey    HoldReason = "key"    // its name looks like that of a key
	HoldSecret HoldReason = "secret" // it contains a key or a token: Held.Rule
	HoldSize   HoldReason = "size"   // larger than the limit
	HoldNumber HoldReason = "number" // a new directory with more files than the limit
	HoldName   HoldReason = "name"   // a directory that tools fill, such as node_modules
)

// Held is an untracked file or directory that is held out of snapshots and checkpoints, by name.
type Held struct {
	Path string `json:"path"` // the path; that of a directory ends in a slash
	// `key` (its name looks like that of a key), `secret` (a key or a token is in it), `size` (larger than
	// `max-file-size`), `number` (a new directory with more files than `max-new-files`), `name` (a directory that
	// tools fill, such as `node_modules`)
	Why   HoldReason `json:"why"`
	Bytes int64      `json:"bytes,omitempty"` // size of a file
	Files int        `json:"files,omitempty"` // in a directory
	Rule  string     `json:"rule,omitempty"`  // with `secret`: which kind, for people
}

// IsDir reports whether all of a directory is held out.
func (h Held) IsDir() bool { return strings.HasSuffix(h.Path, "/") }

// Guard lists the paths that a session holds out. Git objects are permanent, so a person must allow doubtful files
// first.
type Guard struct {
	MaxFileSize int64    `json:"max_file_size,omitempty"` // bytes, 0: the default
	MaxNewFiles int      `json:"max_new_files,omitempty"` // below one new directory, 0: the default
	Held        []Held   `json:"held,omitempty"`          // held out before, and until a person allows it
	Allowed     []string `json:"allowed,omitempty"`       // paths that a person allowed, with everything below them
}

// Limits returns the limits with the defaults filled in.
func (g Guard) Limits() (size int64, files int) {
	size, files = g.MaxFileSize, g.MaxNewFiles
	if size == 0 {
		size = DefaultMaxFileSize
	}
	if files == 0 {
		files = DefaultMaxNewFiles
	}
	return size, files
}

// Allows reports whether a person allowed a path or a directory above it.
func (g Guard) Allows(path string) bool {
	path = strings.TrimSuffix(path, "/")
	return slices.ContainsFunc(g.Allowed, func(a string) bool { return IsWithin(path, a) })
}

// IsWithin reports whether a path equals another one or lies below it. Neither ends in a slash.
func IsWithin(path, above string) bool {
	return path == above || len(path) > len(above) && path[len(above)] == '/' && path[:len(above)] == above
}

// Hold returns the guard with further paths held out, and whether any of them is new.
func (g Guard) Hold(more []Held) (Guard, bool) {
	held, grown := slices.Clone(g.Held), false
	for _, h := range more {
		known := slices.ContainsFunc(held, func(k Held) bool { return k.Path == h.Path })
		if !known && !g.Allows(h.Path) {
			held, grown = append(held, h), true
		}
	}
	slices.SortFunc(held, func(a, b Held) int { return strings.Compare(a.Path, b.Path) })
	g.Held = held
	return g, grown
}

// Allow returns the guard with a path allowed, and everything below it.
func (g Guard) Allow(path string) Guard {
	g.Held = slices.DeleteFunc(slices.Clone(g.Held),
		func(h Held) bool { return IsWithin(strings.TrimSuffix(h.Path, "/"), path) })
	if !slices.Contains(g.Allowed, path) {
		g.Allowed = slices.Sorted(slices.Values(append(slices.Clone(g.Allowed), path)))
	}
	return g
}

// Revoke undoes Allow: files that are still untracked then are checked as if they were new.
func (g Guard) Revoke(path string) Guard {
	g.Allowed = slices.DeleteFunc(slices.Clone(g.Allowed), func(a string) bool { return a == path })
	return g
}

// Guarding returns a guard updated from the session's events: with the paths that checkpoints held out and that were
// not allowed since.
func (s *Session) Guarding(g Guard) Guard {
	for _, a := range s.Allowed {
		g = g.Allow(a)
	}
	g.Allowed = s.Allowed
	for _, c := range s.Checkpoints {
		g, _ = g.Hold(c.HeldOut)
	}
	return g
}
