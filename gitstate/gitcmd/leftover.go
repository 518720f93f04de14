package gitcmd

import (
	"strings"
)

// LockFile is a lock of git's that is there.
type LockFile struct {
	*LockedError
	Ours     bool   // left by a git or wfs of ours that was killed, or being held by one: the next command removes it
	Worktree string // id of the work tree in which it was made, if it is ours
	Needed   bool   // commands of ours take it
}

// Stays reports whether nobody holds the lock, and it is there all the same.
func (l LockFile) Stays() bool { return l.Deserted() && l.There() }

// There reports whether the lock is there now.
func (l LockFile) There() bool { return IsThere(l.Path) }

// Globbed is a path in which a pattern finds nothing but itself.
func Globbed(path string) string {
	return strings.NewReplacer(`*`, `\*`, `?`, `\?`, `[`, `\[`, `\`, `\\`).Replace(path)
}
