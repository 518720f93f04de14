package codec

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/session"
)

// guardMark begins the line of a session's exclude file that holds its Guard as JSON. The exclude file is the session's
// own list of paths that checkpoints leave out, in the format of .gitignore. The lines after the guard are generated
// from it.
const guardMark = "#wfs "

// SplitGuard splits the text of a session's exclude file into its rules and its guard. If the guard cannot be read, it
// is empty: the next snapshots then find the paths again that it held out.
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

// WithGuard returns the text of an exclude file: the rules, the guard, and further rules generated from the guard.
// Because of the generated rules, git does not even read directories that the guard holds out.
func WithGuard(rules []byte, g session.Guard) []byte {
	line, err := json.Marshal(g)
	if err != nil {
		panic(err) // cannot fail: a guard has only strings and numbers
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

// ExcludeRule returns the .gitignore line that matches exactly one path, given from the top of the work tree. It
// returns "" for a path with a line break, which no line can match.
func ExcludeRule(path string) string {
	if strings.ContainsAny(path, "\n\r") {
		return ""
	}
	var b strings.Builder
	b.WriteByte('/')
	for i := range len(path) { // by bytes, because a name need not be UTF-8
		if strings.IndexByte(`\*?[`, path[i]) >= 0 || (path[i] == ' ' && i == len(path)-1) {
			b.WriteByte('\\')
		}
		b.WriteByte(path[i])
	}
	return b.String()
}

// ExcludedPath returns the path of a line that ExcludeRule made. It returns "" for any other rule.
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
