package session

import (
	"errors"
	"slices"
	"strings"
)

// CleanTree is a tree in its own directory. Gates that run there see only the files of a checkpoint, and no other files
// of the work tree.
type CleanTree struct {
	Root string // its top directory, absolute
	Tree Tree
	Live []string // the work tree's top directory, in every spelling of its path
	// Home and Temp are empty directories for the commands that run there, "" for none.
	Home, Temp string
	// Changed names an installed file that changed since, "" for none: the next clean tree is then built from scratch.
	// nil: this is not checked.
	Changed func() string
	// Absent lists files and directories of the work tree that the clean tree lacks and that are not packages.
	Absent func() []string
	// Written lists files there that are not as in the tree now, and that git does not ignore.
	Written func() []string
	// Stale reports whether the packages of the work tree have changed since they were copied. nil: they were not
	// copied.
	Stale func() bool
	// LeadsBack is set if a module of the project would be found outside of the clean tree; gates must not run then.
	LeadsBack *LeadsBack
}

// ErrOtherPackages says that the packages installed when the session began were not copied, and that the work tree has
// others now.
var ErrOtherPackages = errors.New("the installed packages have changed")

// LeadsBack is a reference from a clean tree to a place outside of it.
type LeadsBack struct {
	Path string `json:"path"` // a link, or a file that Python reads; from the top
	To   string `json:"to"`   // the place outside
	Mend string `json:"-"`    // a setting that avoids it, "" if none is known
}

// Lead replaces paths of the work tree in a text by the paths of the same files in the clean tree.
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

// replacePath replaces a path, alone or as the start of a longer one, wherever it occurs in a text. Paths into a .git
// directory stay, because that directory is not the project's.
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

// findPath returns the position of a path in a text where it is not part of a longer name, -1 for none.
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
