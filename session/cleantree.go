package session

import (
	"errors"
	"slices"
	"strings"
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
		text = replacePath(text, live, c.Root)
	}
	return text
}

// Names reports whether a text mentions a path of the work tree.
func (c *CleanTree) Names(text string) bool {
	return slices.ContainsFunc(c.Live, func(live string) bool { return findPath(text, live) >= 0 })
}

// replacePath replaces `path` in a text with `by`, wherever it occurs alone or as the start of a longer path. It keeps
// paths into a .git directory, because that directory is not part of the project.
func replacePath(text, path, by string) string {
	var b strings.Builder
	for {
		i := findPath(text, path)
		if i < 0 {
			break
		}
		b.WriteString(text[:i])
		b.WriteString(by)
		text = text[i+len(path):]
	}
	if b.Len() == 0 {
		return text
	}
	return b.String() + text
}

// findPath returns the first position of a path in a text, -1 for none. It skips places where the path is only a part
// of a longer name, and paths into a .git directory.
func findPath(text, path string) int {
	if path == "" || path == "/" {
		return -1
	}
	for from := 0; ; {
		i := strings.Index(text[from:], path)
		if i < 0 {
			return -1
		}
		i += from
		before, after := text[:i], text[i+len(path):]
		ok := after == "" || !inName(after[0])
		if before != "" {
			last := before[len(before)-1]
			ok = ok && !inName(last) && (last != '/' || strings.HasSuffix(before, "://")) && last != '\\'
		}
		if ok && after != ".git" && !strings.HasPrefix(after, "/.git/") && after != "/.git" {
			return i
		}
		from = i + len(path)
	}
}

func inName(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-' || c == '.' ||
		c >= 0x80
}
