package gate

import (
	"regexp"
	"strings"
)

// MatchAny reports whether the last of the patterns that says something about a path says yes, as in a .gitignore.
func MatchAny(patterns []string, name string) bool {
	matched := false
	for _, p := range patterns {
		negated := strings.HasPrefix(p, "!")
		if matchGlob(strings.TrimPrefix(p, "!"), name) {
			matched = !negated
		}
	}
	return matched
}

// matchGlob matches a path relative to the top with a gitignore-like pattern: without a slash in front or in
// the middle it matches at any depth, `**` crosses directories, and what matches a directory matches everything
// below it.
func matchGlob(pattern, name string) bool {
	below := "(?:/.*)?"
	if dir, only := strings.CutSuffix(pattern, "/"); only {
		pattern, below = dir, "/.+" // the path itself is a file
	}
	if pattern == "" {
		return false
	}
	if !strings.Contains(pattern, "/") {
		pattern = "**/" + pattern
	}
	parts := strings.Split(strings.TrimPrefix(pattern, "/"), "/")
	for i, part := range parts {
		switch last := i == len(parts)-1; {
		case part == "**" && last:
			parts[i] = ".+"
		case part == "**":
			parts[i] = "(?:.*/)?"
		case last:
			parts[i] = wildcards.Replace(regexp.QuoteMeta(part))
		default:
			parts[i] = wildcards.Replace(regexp.QuoteMeta(part)) + "/"
		}
	}
	re, err := regexp.Compile("(?s)^" + strings.Join(parts, "") + below + "$")
	return err == nil && re.MatchString(name)
}

// wildcards makes a part of a pattern, quoted for a regular expression, one that matches as path.Match does.
var wildcards = strings.NewReplacer(`\\\*`, `\*`, `\\\?`, `\?`, `\\\[`, `\[`, `\*`, `[^/]*`, `\?`, `[^/]`,
	`\[\^`, `[^/`, `\[`, `[`, `\]`, `]`)
