package safetext

import "strings"

// ReplacePath replaces `path` in a text with `by`, wherever it occurs alone or as the start of a longer path. It keeps
// paths into a .git directory, because that directory is not part of the project.
func ReplacePath(text, path, by string) string {
	var b strings.Builder
	for {
		i := FindPath(text, path)
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

// FindPath returns the first position of a path in a text, -1 for none. It skips places where the path is only a part
// of a longer name, and paths into a .git directory.
func FindPath(text, path string) int {
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
