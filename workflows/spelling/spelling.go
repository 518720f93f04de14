// Package spelling defines valid names, patterns and paths in workflows and configurations. Its functions return the
// problem with a text as the end of a sentence, "" if the text is valid.
package spelling

import (
	"fmt"
	"path"
	"strings"

	"github.com/wfs-dev/wfs/internal/lazyregexp"
)

// maxName is the maximum length of the name of a phase, gate or workflow. Such names become part of file names,
// trailers and commit subjects.
const maxName = 40

// Name returns the problem with a name of a phase, gate or workflow, "" for none.
func Name(s string) string {
	switch {
	case s == "":
		return "is empty"
	case len(s) > maxName:
		return fmt.Sprintf("is longer than %d characters", maxName)
	case s[0]|' ' < 'a' || s[0]|' ' > 'z':
		return "must begin with a letter (a-z, A-Z)"
	case !nameText.MatchString(s):
		return "may hold letters, digits, - and _ only"
	}
	return ""
}

// Guard returns the problem with a pattern of a guard, "" for none. A / at the start anchors the pattern at the top of
// the work tree, as in a .gitignore.
func Guard(g string) string {
	if strings.HasPrefix(g, "!") {
		return "cannot be negated: use only and except"
	}
	return Glob(strings.TrimPrefix(g, "/"))
}

// Glob returns the problem with a pattern for paths in the work tree, "" for none. It refuses patterns that match
// nothing, or probably not what the author means.
func Glob(g string) string {
	switch {
	case strings.HasPrefix(g, "/"):
		return "must be relative to the top of the work tree, without a leading /"
	case strings.Contains(g, `\`):
		return `must be written with / between directories, and without \`
	case strings.ContainsAny(g, "{}"):
		return "cannot hold {alternatives}: write one pattern for each"
	}
	for segment := range strings.SplitSeq(strings.TrimSuffix(g, "/"), "/") {
		_, err := path.Match(segment, "")
		switch {
		case segment == "", segment == ".", segment == "..":
			return "may not hold empty, . or .. directories"
		case segment != "**" && strings.Contains(segment, "**"):
			return "may hold ** only as a whole directory: a/**/b"
		case err != nil:
			return "has a [ that is not closed, or an empty range"
		}
	}
	return ""
}

// Copy returns the problem with a pattern of files to copy into another work tree, "" for none. Unlike a guard's
// pattern, it is always anchored at the top of the work tree: otherwise a plain name would also match in every
// directory of installed packages.
func Copy(g string) string {
	first, _, _ := strings.Cut(g, "/")
	switch problem := Glob(g); {
	case strings.HasPrefix(g, "!"):
		return "cannot be negated"
	case problem == "" && strings.EqualFold(first, ".git"):
		return "is git's own"
	default:
		return problem
	}
}

func Link(p string) string {
	if strings.ContainsAny(p, "*?[") {
		return "is a path, not a pattern"
	}
	return Copy(strings.TrimSuffix(p, "/"))
}

// Document returns the problem with the name of a document, "" for none.
func Document(s string) string {
	switch {
	case strings.ContainsAny(s, "*?["):
		return "must be the name of one document"
	case strings.HasSuffix(s, "/"):
		return "must be the name of one document, not of a directory"
	}
	return Glob(s)
}

// WorktreeDir returns the problem with the template of a work tree's directory, "" for none.
func WorktreeDir(dir string) string {
	switch rest := strings.NewReplacer("{repo}", "", "{slug}", "").Replace(dir); {
	case !strings.Contains(dir, "{slug}"):
		return "must hold {slug}, the session's name: each session has a work tree of its own"
	case strings.ContainsAny(rest, "{}"):
		return "may hold {repo} and {slug}, and no other {…}"
	case strings.HasPrefix(dir, "~"):
		return "may not begin with ~: it is relative to the main work tree, or absolute"
	}
	return ""
}

func Variable(name string) string {
	switch {
	case !variableText.MatchString(name):
		return "is not a variable name"
	case strings.HasPrefix(strings.ToUpper(name), "WFS_"):
		return "belongs to wfs, which sets it by itself"
	}
	return ""
}

func Variables(name string) string {
	problem := Variable(strings.TrimSuffix(name, "*"))
	if problem == "is not a variable name" {
		problem += "\na name, or the beginning of names with * behind it: AWS_*"
	}
	return problem
}

func File(name string) string {
	if !fileText.MatchString(name) {
		return "is not a file name"
	}
	return ""
}

var (
	SizeText     = lazyregexp.New(SizePattern)
	nameText     = lazyregexp.New(NamePattern)
	variableText = lazyregexp.New(VariablePattern)
	fileText     = lazyregexp.New(FilePattern)
)

const NamePattern = `^[A-Za-z][A-Za-z0-9_-]{0,39}$`

const FilePattern = `^[A-Za-z0-9][A-Za-z0-9._-]{0,39}$`

const VariablePattern = `^[A-Za-z_][A-Za-z0-9_]*$`

const StartPattern = `^[A-Za-z_][A-Za-z0-9_]*\*?$`

const SizePattern = `^[1-9][0-9]{0,5}(KB|MB|GB)$`
