package gate

import (
	"regexp"
	"strings"
)

// MatchAny reports whether the last pattern that matches a path is a positive one, as in a .gitignore.
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

// matchGlob matches a path relative to the top with a gitignore-like pattern. Without a slash at the front or in the
// middle it matches at any depth, `**` crosses directories, and a match of a directory includes everything below it.
func matchGlob(pattern, name string) bool {
	below := "(?:/.*)?"
	if dir, only := strings.CutSuffix(pattern, "/"); only {
		pattern, below = dir, "/.+" // the path itself is a file, not a directory
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

// wildcards converts a part of a pattern, quoted for a regular expression, so that it matches like path.Match.
var wildcards = strings.NewReplacer(`\\\*`, `\*`, `\\\?`, `\?`, `\\\[`, `\[`, `\*`, `[^/]*`, `\?`, `[^/]`,
	`\[\^`, `[^/`, `\[`, `[`, `\]`, `]`)
