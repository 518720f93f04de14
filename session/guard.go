package session

import (
	"slices"
	"strings"
)

// Default limits of the guard: larger files, and new directories with more files, are held out of snapshots.
const (
	DefaultMaxFileSize int64 = 10 << 20
	DefaultMaxNewFiles       = 1000
)

// HoldReason says why a path is held out of snapshots and checkpoints.
type HoldReason string

const (
	HoldKey    HoldReason = "key"    // the file's name looks like that of a key
	HoldSecret HoldReason = "secret" // the file contains a key or a token; Held.Rule says which kind
	HoldSize   HoldReason = "size"   // the file is larger than the limit
	HoldNumber HoldReason = "number" // a new directory has more files than the limit
	HoldName   HoldReason = "name"   // a directory has a name that tools use for generated files, such as node_modules
)

// Held is an untracked file or directory that is held out of snapshots and checkpoints, with the reason.
type Held struct {
	Path string `json:"path"` // the path; a directory ends in a slash
	// `key` (its name looks like that of a key), `secret` (a key or a token is in it), `size` (larger than
	// `max-file-size`), `number` (a new directory with more files than `max-new-files`), `name` (a directory that
	// tools fill, such as `node_modules`)
	Why   HoldReason `json:"why"`
	Bytes int64      `json:"bytes,omitempty"` // size of a file
	Files int        `json:"files,omitempty"` // number of files in a directory
	Rule  string     `json:"rule,omitempty"`  // the kind of secret, for people
}

// IsDir reports whether h is a directory that is held out with everything in it.
func (h Held) IsDir() bool { return strings.HasSuffix(h.Path, "/") }

// Guard decides which untracked paths a session holds out of snapshots and checkpoints: probable keys, large files and
// floods of files. Git objects are permanent, so a person must allow such files before they are committed.
type Guard struct {
	MaxFileSize int64 `json:"max_file_size,omitempty"` // bytes, 0: the default
	// maximum number of files below one new directory, 0: the default
	MaxNewFiles int      `json:"max_new_files,omitempty"`
	Held        []Held   `json:"held,omitempty"`    // paths that were held out so far; a person has not allowed them
	Allowed     []string `json:"allowed,omitempty"` // paths that a person allowed, with everything below them
}

// Limits returns both limits of the guard, or the defaults for limits that are 0.
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

// IsWithin reports whether `path` equals `above` or lies below it. Neither path may end in a slash.
func IsWithin(path, above string) bool {
	return path == above || len(path) > len(above) && path[len(above)] == '/' && path[:len(above)] == above
}

// Hold returns a guard that also holds out further paths, except allowed ones, and reports whether any of them is new.
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

// Allow returns a guard that allows a path and everything below it.
func (g Guard) Allow(path string) Guard {
	g.Held = slices.DeleteFunc(slices.Clone(g.Held),
		func(h Held) bool { return IsWithin(strings.TrimSuffix(h.Path, "/"), path) })
	if !slices.Contains(g.Allowed, path) {
		g.Allowed = slices.Sorted(slices.Values(append(slices.Clone(g.Allowed), path)))
	}
	return g
}

// Revoke returns a guard that no longer allows a path. Files below it that are still untracked are checked as if they
// were new.
func (g Guard) Revoke(path string) Guard {
	g.Allowed = slices.DeleteFunc(slices.Clone(g.Allowed), func(a string) bool { return a == path })
	return g
}

// Guarding returns `g` updated from the session's events: it allows the paths that a person allowed, and holds out the
// paths that checkpoints held out, unless they were allowed since.
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
