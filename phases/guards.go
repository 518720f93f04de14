package phases

import (
	"path"
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
)

// guarded returns the changed paths that a phase's guards forbid, sorted. `.wfs/` never counts: what is written there is
// not part of a session.
func guarded(g workflows.Guards, changes []session.Change) []string {
	var bad []string
	for _, c := range changes {
		if c.Path == ".wfs" || strings.HasPrefix(c.Path, ".wfs/") {
			continue
		}
		if len(g.Only) > 0 && !matchAny(g.Only, c.Path) || matchAny(g.Except, c.Path) {
			bad = append(bad, c.Path)
		}
	}
	slices.Sort(bad)
	return bad
}

// matchAny reports whether the last of the patterns that says something about a path says yes, as in a .gitignore.
func matchAny(patterns []string, name string) bool {
	matched := false
	for _, p := range patterns {
		negated := strings.HasPrefix(p, "!")
		if matchGlob(strings.TrimPrefix(p, "!"), name) {
			matched = !negated
		}
	}
	return matched
}

// matchGlob matches a path relative to the top with a gitignore-like pattern: without a slash in front or in the middle it
// matches at any depth, `**` crosses directories, and what matches a directory matches everything below it.
func matchGlob(pattern, name string) bool {
	dirOnly := strings.HasSuffix(pattern, "/")
	pattern = strings.TrimSuffix(pattern, "/")
	if pattern == "" {
		return false
	}
	if !strings.Contains(pattern, "/") {
		pattern = "**/" + pattern
	}
	want := strings.Split(strings.TrimPrefix(pattern, "/"), "/")
	parts := strings.Split(name, "/")
	last := len(parts)
	if dirOnly {
		last-- // the path itself is a file
	}
	for n := 1; n <= last; n++ {
		if matchParts(want, parts[:n]) {
			return true
		}
	}
	return false
}

// matchParts matches whole paths, element by element. The table of reached elements keeps patterns with many `**` from
// taking exponential time.
func matchParts(want, parts []string) bool {
	reached := make([]bool, len(parts)+1)
	reached[0] = true
	for w, p := range want {
		next := make([]bool, len(parts)+1)
		if p == "**" {
			// As the last element it stands for at least one element: "dir/**" is what lies in dir.
			from := slices.Index(reached, true)
			if w == len(want)-1 {
				from++
			}
			for i := from; from >= 0 && i <= len(parts) && slices.Contains(reached, true); i++ {
				next[i] = true
			}
		} else {
			for i, r := range reached[:len(parts)] {
				if !r {
					continue
				}
				if ok, err := path.Match(p, parts[i]); ok && err == nil {
					next[i+1] = true
				}
			}
		}
		reached = next
	}
	return reached[len(parts)]
}
