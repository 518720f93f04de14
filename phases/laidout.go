package phases

import (
	"regexp"
	"strings"
	"sync"
)

var laidOutRE = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile("\"(?:[^\"\\\\\n]|\\\\.)*\"|'(?:[^'\\\\\n]|\\\\.)*'|`[^`]*`|[\\p{L}\\p{N}_$]+|\\S")
})

// laidOut is source in one layout, by its words: what formatters add and take away between those is no change, nor are
// semicolons, commas before what closes, and the quotes of a text without any inside.
func laidOut(source string) string {
	var b strings.Builder
	words := laidOutRE().FindAllString(source, -1)
	for i, w := range words {
		switch {
		case w == ";", w == "," && i+1 < len(words) && (words[i+1] == ")" || words[i+1] == "]" || words[i+1] == "}"):
			continue
		case len(w) > 1 && w[0] == '\'' && !strings.ContainsAny(w, `"\`):
			w = `"` + w[1:len(w)-1] + `"`
		}
		b.WriteString(strings.Join(strings.Fields(w), " "))
		b.WriteByte(' ')
	}
	return strings.TrimSuffix(b.String(), " ")
}
