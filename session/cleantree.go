package session

import (
	"errors"
	"slices"

	"github.com/wfs-dev/wfs/internal/safetext"
)

// CleanTree is a directory with only the files of one checkpoint and copies of the installed packages. Gates that run
// in it do not see other files of the work tree.
type CleanTree struct {
	Root string // top directory of the clean tree, absolute
	Tree Tree
	Live []string // the work tree's top directory, in every spelling of its path
	// Home and Temp are empty directories for the commands that run in the clean tree, "" for none.
	Home, Temp string
	// Changed returns the name of an installed file that has changed in the clean tree, "" for none: the next clean
	// tree is then built from scratch. If the function is nil, this is not checked.
	Changed func() string
	// Absent lists files and directories that the work tree has and the clean tree lacks, except packages.
	Absent func() []string
	// Written lists files in the clean tree that now differ from its tree, except files that git ignores.
	Written func() []string
	// Stale reports whether the packages of the work tree have changed since they were copied into the clean tree. If
	// the function is nil, they were not copied.
	Stale func() bool
	// LeadsBack is set if a module of the project would be loaded from outside of the clean tree. Gates must not run
	// then, because they would test other files.
	LeadsBack *LeadsBack
}

// ErrOtherPackages says that the packages of the work tree are not those that were installed when the session began,
// and that the former packages were not copied.
var ErrOtherPackages = errors.New("the installed packages have changed")

// LeadsBack is a reference from a clean tree to a place outside of it.
type LeadsBack struct {
	Path string `json:"path"` // a link, or a file that Python reads, by its path from the top of the clean tree
	To   string `json:"to"`   // the place outside to which it refers
	Mend string `json:"-"`    // a setting that avoids the reference, "" if none is known
}

// Lead replaces paths of the work tree in a text with the paths of the same files in the clean tree.
func (c *CleanTree) Lead(text string) string {
	for _, live := range c.Live {
		text = safetext.ReplacePath(text, live, c.Root)
	}
	return text
}

// Names reports whether a text mentions a path of the work tree.
func (c *CleanTree) Names(text string) bool {
	return slices.ContainsFunc(c.Live, func(live string) bool { return safetext.FindPath(text, live) >= 0 })
}
