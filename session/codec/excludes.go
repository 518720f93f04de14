package codec

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/session"
)

// guardMark begins the line of a session's exclude file that holds its Guard. The lines after it are generated from the
// guard.
const guardMark = "#wfs "

// SplitGuard splits the text of a session's exclude file into rules and guard. An unreadable guard counts as empty:
// snapshots then find its paths again.
func SplitGuard(text []byte) (rules []byte, g session.Guard) {
	at := 0
	if !bytes.HasPrefix(text, []byte(guardMark)) {
		at = bytes.Index(text, []byte("\n"+guardMark)) + 1
		if at == 0 {
			return text, g
		}
	}
	line, _, _ := bytes.Cut(text[at+len(guardMark):], []byte("\n"))
	if json.Unmarshal(line, &g) != nil {
		g = session.Guard{}
	}
	return text[:at], g
}

// WithGuard returns the text of an exclude file: the rules, the guard, and rules generated from it, so that git does
// not even read directories that are held out.
func WithGuard(rules []byte, g session.Guard) []byte {
	line, err := json.Marshal(g)
	if err != nil {
		panic(err) // strings and numbers
	}
	out := slices.Clip(rules)
	if len(out) > 0 && out[len(out)-1] != '\n' {
		out = append(out, '\n')
	}
	out = append(append(append(out, guardMark...), line...), '\n')
	for _, h := range g.Held {
		if rule := ExcludeRule(h.Path); rule != "" {
			out = append(out, rule+"\n"...)
		}
	}
	for _, a := range g.Allowed {
		if rule := ExcludeRule(a); rule != "" {
			out = append(out, "!"+rule+"\n"...)
		}
	}
	return out
}

// ExcludeRule returns the .gitignore line that matches exactly one path at the top of the work tree, "" for a path that
// no line can match.
func ExcludeRule(path string) string {
	if strings.ContainsAny(path, "\n\r") {
		return ""
	}
	var b strings.Builder
	b.WriteByte('/')
	for i := range len(path) { // bytes: a name need not be UTF-8
		if strings.IndexByte(`\*?[`, path[i]) >= 0 || (path[i] == ' ' && i == len(path)-1) {
			b.WriteByte('\\')
		}
		b.WriteByte(path[i])
	}
	return b.String()
}

// ExcludedPath is the inverse of ExcludeRule. It returns "" for any other rule.
func ExcludedPath(rule string) string {
	rest, ok := strings.CutPrefix(rule, "/")
	if !ok || rest == "" {
		return ""
	}
	if !strings.ContainsAny(rest, `\*?[`) {
		if strings.HasSuffix(rest, " ") { // git ignores blanks at the end
			return ""
		}
		return rest
	}
	var b strings.Builder
	for i := 0; i < len(rest); i++ {
		switch rest[i] {
		case '*', '?', '[':
			return ""
		case '\\':
			if i++; i == len(rest) {
				return ""
			}
		}
		b.WriteByte(rest[i])
	}
	return b.String()
}
