package agents

import (
	"path"
	"strings"
)

// Risk names what of a shell command may destroy files that no checkpoint has, in words of its own: "rm", "git clean". ""
// for a command in which nothing of that kind is seen. It looks at words and understands no shell: better once too often.
func Risk(command string) string {
	words := strings.FieldsFunc(command, func(r rune) bool { return strings.ContainsRune(" \t\r\n;|&()`\"'$<>{}", r) })
	for i, w := range words {
		switch name := path.Base(w); name {
		case "rm", "mv", "rmdir", "shred", "truncate", "unlink", "dd":
			return name
		case "git":
			if risk := gitRisk(words[i+1:]); risk != "" {
				return risk
			}
		case "find", "rsync":
			for _, arg := range words[i+1:] {
				if arg == "-delete" || strings.HasPrefix(arg, "--delete") {
					return name + " with deletion"
				}
			}
		}
	}
	return ""
}

// gitRisk looks at the words behind git.
func gitRisk(words []string) string {
	for len(words) > 0 && strings.HasPrefix(words[0], "-") { // options of git's own, two of which take a word
		n := 1
		if words[0] == "-C" || words[0] == "-c" {
			n = 2
		}
		words = words[min(n, len(words)):]
	}
	if len(words) == 0 {
		return ""
	}
	has := func(options ...string) bool {
		for _, w := range words[1:] {
			for _, o := range options {
				if w == o || len(o) == 2 && len(w) > 2 && w[0] == '-' && w[1] != '-' && strings.Contains(w[1:], o[1:]) {
					return true
				}
			}
		}
		return false
	}
	verb := words[0]
	switch verb {
	case "reset":
		if has("--hard", "--merge", "--keep") {
			return "git reset"
		}
	case "clean":
		if !has("-n", "--dry-run") {
			return "git clean"
		}
	case "switch":
		if has("-f", "--force", "--discard-changes", "-C") {
			return "git switch"
		}
	case "branch":
		if has("-D", "-f") {
			return "git branch"
		}
	case "checkout", "restore", "stash", "rm", "mv", "rebase", "merge", "pull", "am", "read-tree", "checkout-index", "filter-branch", "update-ref", "worktree":
		return "git " + verb
	}
	return ""
}
