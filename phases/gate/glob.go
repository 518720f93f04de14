package gate

import (
	"regexp"
	"strings"
)

// MatchAny reports whether a list of patterns selects a path. As in a .gitignore, the last pattern that matches
// decides, and patterns that begin with "!" exclude paths.
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

// matchGlob reports whether a path, relative to the top, matches a pattern. As in a .gitignore, a pattern matches at
// any depth unless it has a slash at the beginning or in the middle, `**` crosses directories, and a pattern that
// matches a directory also matches everything below it.
func matchGlob(pattern, name string) bool {
	below := "(?:/.*)?"
	if dir, only := strings.CutSuffix(pattern, "/"); only {
		pattern, below = dir, "/.+" // the path is that of a file, so only files below the directory match
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

// wildcards converts a part of a pattern to a regular expression that matches like path.Match. Its input has been
// quoted by regexp.QuoteMeta.
var wildcards = strings.NewReplacer(`\\\*`, `\*`, `\\\?`, `\?`, `\\\[`, `\[`, `\*`, `[^/]*`, `\?`, `[^/]`,
	`\[\^`, `[^/`, `\[`, `[`, `\]`, `]`)
