package session

import (
	"errors"
	"slices"
	"strings"
)

// CleanTree is a tree in a directory of its own, in which gates run on what a checkpoint has and on nothing that only
// lies beside it in the work tree.
type CleanTree struct {
	Root string // its top, absolute
	Tree Tree
	Live []string // the work tree's own top, in every way that its path is written
	// Home and Temp are empty directories for what runs there, "" for none.
	Home, Temp string
	// Changed names something of what is installed that was changed since: the next clean tree is made anew then. ""
	// when nothing was. nil: nobody looks.
	Changed func() string
	// Absent are files and directories of the work tree that are not there, and are no packages.
	Absent func() []string
	// Written are files there, by now, that are not as in the tree or not in it, and that git does not ignore.
	Written func() []string
	// Stale reports whether the work tree has other packages by now than those that were copied. nil: they were not
	// copied.
	Stale func() bool
	// LeadsBack says that a module of the project would be found outside of it; gates must not run then.
	LeadsBack *LeadsBack
}

// ErrOtherPackages says that there is no copy of what was installed when a session began, and that the work tree has
// something else.
var ErrOtherPackages = errors.New("the installed packages have changed")

// LeadsBack is a way out of a clean tree.
type LeadsBack struct {
	Path string `json:"path"` // what leads out: a link, a file of Python's; from the top
	To   string `json:"to"`   // what was found behind it
	Mend string `json:"-"`    // a setting with which there is none, "" when nobody knows one
}

// Lead rewrites a text that names paths of the work tree, so that it names the same ones of the clean tree.
func (c *CleanTree) Lead(text string) string {
	for _, live := range c.Live {
		text = replacePath(text, live, c.Root)
	}
	return text
}

// Names reports whether a text names a path of the work tree.
func (c *CleanTree) Names(text string) bool {
	return slices.ContainsFunc(c.Live, func(live string) bool { return findPath(text, live) >= 0 })
}

// replacePath replaces a path wherever it stands in a text as itself, or with something below it. Paths into a .git are
// left as they are: what is there is not the project's.
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

// findPath is where a path stands in a text, and is not a part of a longer name. -1: nowhere.
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
