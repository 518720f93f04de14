package snapshot

import (
	"bytes"
	"path"
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/session"
)

// sieve receives untracked paths in the sorted output of `git ls-files -z`. It selects the paths to hold out, and lists
// at most maxFresh of the others. Its memory does not grow with the input: it holds only the selected paths and the
// current one.
type sieve struct {
	guard   session.Guard
	size    func(path string) int64                        // size of a file, in bytes
	suspect func(path string) (session.HoldReason, string) // see Guard.Suspect
	tracked func(directory string) bool                    // whether a file in the directory is tracked, in the index or in HEAD

	rest  []byte // start of a path that is not complete yet
	open  []openDir
	asked bool // tracked was called
	held  []session.Held
	fresh []string        // files to add
	more  bool            // there are more files to add than those in fresh
	empty map[string]bool // the requested paths for which git has listed nothing
}

// openDir is a directory in which more files may follow.
type openDir struct {
	path  string // with a slash at its end
	files int    // in it and below, without held-out directories
	why   session.HoldReason
}

func (s *sieve) Write(p []byte) (int, error) {
	n := len(p)
	for {
		i := bytes.IndexByte(p, 0)
		if i < 0 {
			s.rest = append(s.rest, p...)
			return n, nil
		}
		s.read(string(append(s.rest, p[:i]...)))
		s.rest, p = s.rest[:0], p[i+1:]
	}
}

func (s *sieve) read(p string) {
	s.goTo(p)
	delete(s.empty, p)
	if !s.inHeld() && !s.guard.Allows(p) && !strings.HasSuffix(p, "/") && s.holds(p) {
		return
	}
	if n := len(s.open); n > 0 {
		s.open[n-1].files++
	}
	if s.inHeld() {
		return
	}
	if s.more = s.more || len(s.fresh) == maxFresh; !s.more {
		s.fresh = append(s.fresh, strings.TrimSuffix(p, "/"))
	}
}

// goTo makes the directories of a path the open ones: it closes those that the path is not in.
func (s *sieve) goTo(p string) {
	for len(s.open) > 0 && !strings.HasPrefix(p, s.open[len(s.open)-1].path) {
		s.close()
	}
	below := 0
	if n := len(s.open); n > 0 {
		below = len(s.open[n-1].path)
	}
	for i := below; i < len(p)-1; i++ { // the path of a nested repository ends in a slash; the sieve does not enter it
		if p[i] == '/' {
			s.enter(p[:i+1])
		}
	}
}

// enter opens a directory, and holds it out if its name says that tools fill it, or that it holds keys.
func (s *sieve) enter(dir string) {
	delete(s.empty, dir)
	d := openDir{path: dir}
	name := path.Base(dir)
	switch {
	case s.inHeld(), name != ".env" && !filled(name), s.old(dir):
	case name == ".env":
		d.why = session.HoldKey
	default:
		d.why = session.HoldName
	}
	s.open = append(s.open, d)
}

// old reports whether a directory must not be held out, because it is allowed or has tracked files.
func (s *sieve) old(dir string) bool {
	dir = strings.TrimSuffix(dir, "/")
	s.asked = true
	return s.guard.Allows(dir) || s.tracked(dir)
}

func (s *sieve) inHeld() bool {
	return slices.ContainsFunc(s.open, func(d openDir) bool { return d.why != "" })
}

// holds reports whether a single file is to be held out, and in that case adds it to held.
func (s *sieve) holds(p string) bool {
	limit, _ := s.guard.Limits()
	h := session.Held{Path: p, Bytes: s.size(p)}
	if h.Why, h.Rule = s.suspect(p); h.Why == "" && h.Bytes > limit {
		h.Why = session.HoldSize
	}
	if h.Why == "" {
		return false
	}
	s.held = append(s.held, h)
	return true
}

// close closes the innermost open directory. If the directory is held out, it replaces the held-out paths below it.
func (s *sieve) close() {
	d := s.open[len(s.open)-1]
	s.open = s.open[:len(s.open)-1]
	_, limit := s.guard.Limits()
	if d.why == "" && d.files > limit && !s.inHeld() && !s.old(d.path) {
		d.why = session.HoldNumber
	}
	if d.why != "" {
		s.fresh = slices.DeleteFunc(s.fresh, func(p string) bool { return strings.HasPrefix(p, d.path) })
		for len(s.held) > 0 && strings.HasPrefix(s.held[len(s.held)-1].Path, d.path) {
			s.held = s.held[:len(s.held)-1]
		}
		s.held = append(s.held, session.Held{Path: d.path, Why: d.why, Files: d.files})
		return
	}
	if n := len(s.open); n > 0 {
		s.open[n-1].files += d.files
	}
}

// end closes all open directories and sorts the result.
func (s *sieve) end() {
	for len(s.open) > 0 {
		s.close()
	}
	slices.SortFunc(s.held, func(a, b session.Held) int { return strings.Compare(a.Path, b.Path) })
}
