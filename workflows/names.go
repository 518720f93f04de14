package workflows

import (
	"fmt"
	"path"
	"strings"

	"github.com/wfs-dev/wfs/internal/lazyregexp"
)

// maxName is the longest name of a phase, gate or workflow. They become file names, trailers and commit subjects.
const maxName = 40

// nameProblem says what is wrong with a name of a phase, gate or workflow, "" if nothing is.
func nameProblem(s string) string {
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

func phaseNameProblem(s string) string {
	if strings.EqualFold(s, string(Done)) || strings.EqualFold(s, string(NextLap)) {
		return fmt.Sprintf("is taken: %s is a target of on:", strings.ToLower(s))
	}
	return nameProblem(s)
}

// guardProblem says what is wrong with a pattern of a guard, "" if nothing is. As in a .gitignore, a leading / ties it
// to the top of the work tree.
func guardProblem(g string) string {
	if strings.HasPrefix(g, "!") {
		return "cannot be negated: use only and except"
	}
	return globProblem(strings.TrimPrefix(g, "/"))
}

// globProblem says what is wrong with a pattern below the work tree, "" if nothing is. What is refused here would match
// nothing, or something else than its author thinks.
func globProblem(g string) string {
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

// copyProblem says what is wrong with a pattern of files to copy. Unlike a guard's it is always meant from the top:
// that of a name would look into every directory of what is installed.
func copyProblem(g string) string {
	first, _, _ := strings.Cut(g, "/")
	switch problem := globProblem(g); {
	case strings.HasPrefix(g, "!"):
		return "cannot be negated"
	case problem == "" && strings.EqualFold(first, ".git"):
		return "is git's own"
	default:
		return problem
	}
}

func linkProblem(p string) string {
	if strings.ContainsAny(p, "*?[") {
		return "is a path, not a pattern"
	}
	return copyProblem(strings.TrimSuffix(p, "/"))
}

// documentProblem says what is wrong with the name of a document, "" if nothing is.
func documentProblem(s string) string {
	switch {
	case strings.ContainsAny(s, "*?["):
		return "must be the name of one document"
	case strings.HasSuffix(s, "/"):
		return "must be the name of one document, not of a directory"
	}
	return globProblem(s)
}

// dirProblem says what is wrong with the template of a work tree's directory, "" if nothing is.
func dirProblem(dir string) string {
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

var (
	sizeText     = lazyregexp.New(sizePattern)
	nameText     = lazyregexp.New(namePattern)
	variableText = lazyregexp.New(variablePattern)
	fileText     = lazyregexp.New(filePattern)
)

func variableProblem(name string) string {
	switch {
	case !variableText.MatchString(name):
		return "is not a variable name"
	case strings.HasPrefix(strings.ToUpper(name), "WFS_"):
		return "belongs to wfs, which sets it by itself"
	}
	return ""
}

func variablesProblem(name string) string {
	problem := variableProblem(strings.TrimSuffix(name, "*"))
	if problem == "is not a variable name" {
		problem += "\na name, or the beginning of names with * behind it: AWS_*"
	}
	return problem
}

func fileProblem(name string) string {
	if !fileText.MatchString(name) {
		return "is not a file name"
	}
	return ""
}
