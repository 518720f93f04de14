package sidebyside

import (
	_ "embed"
	"fmt"
	"html"
	"html/template"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/wfs-dev/wfs/internal/source"
)

// maxPairs limits the comparisons of all lines of a place, or all words of a line, with those of the other side. Above
// it, only those with the same position are compared.
const maxPairs = 100 * 100

// alike is how similar two lines must be, from 0 to 1, to be shown as one changed line with changed words.
const alike = 0.5

// span is a part of a line, in bytes. class is its CSS class.
type span struct {
	from, to int
	class    string
}

// beside pairs the deleted with the added lines of one place. Lines that are alike stand beside each other, with
// changed words marked; the lines between them in their order.
func beside(dels, adds []Line) (rows []Row) {
	i, j := 0, 0
	lefts, rights := bags(dels), bags(adds)
	pairs := align(len(dels), len(adds), func(i, j int) float64 {
		if l := lefts[i].likeness(rights[j]); l >= alike {
			return l
		}
		return 0
	})
	for _, p := range append(pairs, [2]int{len(dels), len(adds)}) {
		for i < p[0] || j < p[1] {
			var r Row
			if i < p[0] {
				r.Left, i = dels[i], i+1
			}
			if j < p[1] {
				r.Right, j = adds[j], j+1
			}
			rows = append(rows, r)
		}
		if i < len(dels) && j < len(adds) {
			r := Row{dels[i], adds[j]}
			r.Left.marks, r.Right.marks = changedWords(r.Left.text, r.Right.text)
			rows, i, j = append(rows, r), i+1, j+1
		}
	}
	return rows
}

// align pairs n things with m others, in order, so that the sum of the scores of the pairs is the largest. It makes no
// pairs with the score 0.
func align(n, m int, score func(i, j int) float64) (pairs [][2]int) {
	if n*m > maxPairs {
		for i := range min(n, m) {
			if score(i, i) > 0 {
				pairs = append(pairs, [2]int{i, i})
			}
		}
		return pairs
	}
	best := make([][]float64, n+1) // the largest sum of those from i and j on
	best[n] = make([]float64, m+1)
	for i := n - 1; i >= 0; i-- {
		best[i] = make([]float64, m+1)
		for j := m - 1; j >= 0; j-- {
			best[i][j] = max(best[i+1][j], best[i][j+1])
			if own := score(i, j); own > 0 {
				best[i][j] = max(best[i][j], own+best[i+1][j+1])
			}
		}
	}
	for i, j := 0, 0; i < n && j < m; {
		switch best[i][j] {
		case best[i+1][j]:
			i++
		case best[i][j+1]:
			j++
		default:
			pairs, i, j = append(pairs, [2]int{i, j}), i+1, j+1
		}
	}
	return pairs
}

// bag has the words of a line, sorted, and the number of their bytes.
type bag struct {
	words []string
	size  int
}

func bags(lines []Line) []bag {
	list := make([]bag, len(lines))
	for i, l := range lines {
		b := bag{words: slices.DeleteFunc(split(l.text), isSpace)}
		slices.Sort(b.words)
		for _, w := range b.words {
			b.size += len(w)
		}
		list[i] = b
	}
	return list
}

// likeness returns the share of bytes in words that both lines have, from 0 to 1.
func (b bag) likeness(c bag) float64 {
	common, j := 0, 0
	for _, w := range b.words {
		for j < len(c.words) && c.words[j] < w {
			j++
		}
		if j < len(c.words) && c.words[j] == w {
			common, j = common+len(w), j+1
		}
	}
	return 2 * float64(common) / float64(max(1, b.size+c.size))
}

// split returns the words of a line: runs of letters and digits, runs of spaces, and single other characters.
func split(s string) (words []string) {
	for s != "" {
		first, n := utf8.DecodeRuneInString(s)
		for class := classOf(first); class > 0 && n < len(s); {
			r, size := utf8.DecodeRuneInString(s[n:])
			if classOf(r) != class {
				break
			}
			n += size
		}
		words, s = append(words, s[:n]), s[n:]
	}
	return words
}

func classOf(r rune) int {
	switch {
	case unicode.IsSpace(r):
		return 1
	case r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
		return 2
	}
	return 0
}

func isSpace(word string) bool { return strings.TrimSpace(word) == "" }

// changedWords returns the parts of two lines that are not in the other one.
func changedWords(a, b string) (left, right []span) {
	x, y := split(a), split(b)
	start := 0
	for start < min(len(x), len(y)) && x[start] == y[start] {
		start++
	}
	n, m := len(x), len(y)
	for n > start && m > start && x[n-1] == y[m-1] {
		n, m = n-1, m-1
	}
	changedX, changedY := make([]bool, len(x)), make([]bool, len(y))
	for k := start; k < n; k++ {
		changedX[k] = true
	}
	for k := start; k < m; k++ {
		changedY[k] = true
	}
	for _, p := range align(n-start, m-start, func(i, j int) float64 {
		if x[start+i] == y[start+j] {
			return 1
		}
		return 0
	}) {
		changedX[start+p[0]], changedY[start+p[1]] = false, false
	}
	return marks(a, x, changedX), marks(b, y, changedY)
}

// marks returns the changed words of a line. Two with only space between them become one.
func marks(line string, words []string, changed []bool) (list []span) {
	at := 0
	for i, w := range words {
		switch last := len(list) - 1; {
		case !changed[i]:
		case last >= 0 && isSpace(line[list[last].to:at]):
			list[last].to = at + len(w)
		default:
			list = append(list, span{from: at, to: at + len(w)})
		}
		at += len(w)
	}
	return list
}

// render writes the HTML of all lines of a hunk.
func render(path string, rows []Row) {
	var left, right []*Line
	for i := range rows {
		if rows[i].Left.Kind != "" {
			left = append(left, &rows[i].Left)
		}
		if rows[i].Right.Kind != "" {
			right = append(right, &rows[i].Right)
		}
	}
	for _, lines := range [][]*Line{left, right} {
		colours := syntax(path, lines)
		for i, l := range lines {
			var colour []span
			if colours != nil {
				colour = colours[i]
			}
			l.HTML = l.html(colour)
		}
	}
}

// keywords has a line for each language of the package source: its name and its keywords.
//
//go:embed keywords.txt
var keywords string

// classes are the CSS classes of the kinds of tokens that have a colour.
var classes = map[source.Kind]string{source.Comment: "com", source.String: "str", source.Number: "num"}

// syntax returns the coloured parts of each line, nil for languages that are not known. It sees the lines of one side
// of a hunk only, so a comment that begins above them is not recognized.
func syntax(path string, lines []*Line) [][]span {
	language := source.LanguageOf(path)
	if language == nil {
		return nil
	}
	var words []string
	for line := range strings.Lines(keywords) {
		if list := strings.Fields(line); list[0] == language.Name {
			words = list[1:]
		}
	}
	texts := make([]string, len(lines))
	for i, l := range lines {
		texts[i] = l.text
	}
	colours := make([][]span, len(lines))
	line, start := 0, 0 // the line of the token, and where it starts
	for _, t := range language.WithComments([]byte(strings.Join(texts, "\n"))) {
		class := classes[t.Kind]
		if t.Kind == source.Word && slices.Contains(words, t.Text) {
			class = "key"
		}
		for class != "" && t.From < t.To {
			for start+len(texts[line]) < t.From {
				start, line = start+len(texts[line])+1, line+1
			}
			end := min(t.To, start+len(texts[line]))
			if t.From < end {
				colours[line] = append(colours[line], span{t.From - start, end - start, class})
			}
			t.From = end + 1
		}
	}
	return colours
}

// html returns the line with its colours, changed words and notes.
func (l *Line) html(colours []span) template.HTML {
	var b strings.Builder
	changed := l.marks
	for at := 0; at < len(l.text); {
		mark, end := partAt(&changed, at, len(l.text))
		var colour *span
		if mark == nil {
			colour, end = partAt(&colours, at, end)
		}
		open, close := "", ""
		switch {
		case mark != nil: // without a colour, which would be hard to read on its background
			open, close = "<mark>", "</mark>"
		case colour != nil:
			open, close = `<span class="`+colour.class+`">`, "</span>"
		}
		b.WriteString(open)
		writeVisible(&b, l.text[at:end])
		b.WriteString(close)
		at = end
	}
	if l.cut > 0 {
		fmt.Fprintf(&b, `<span class="note">… %d more bytes</span>`, l.cut)
	}
	if l.open {
		b.WriteString(`<span class="note">no newline at the end</span>`)
	}
	return template.HTML(b.String())
}

// partAt returns the span in which a byte is, nil if it is in none, and where the next span begins or this one ends. It
// drops the spans before.
func partAt(spans *[]span, at, most int) (*span, int) {
	for len(*spans) > 0 && (*spans)[0].to <= at {
		*spans = (*spans)[1:]
	}
	switch {
	case len(*spans) == 0:
		return nil, most
	case (*spans)[0].from > at:
		return nil, min(most, (*spans)[0].from)
	}
	return &(*spans)[0], min(most, (*spans)[0].to)
}

// writeVisible writes a text as HTML. Control characters, bytes that are not UTF-8, characters that are invisible, and
// those that change the order of others are written as in the source code of a string.
func writeVisible(b *strings.Builder, text string) {
	for plain := 0; ; {
		i := plain
		var r rune
		n := 0
		for ; i < len(text); i += n {
			if r, n = utf8.DecodeRuneInString(text[i:]); isHidden(r, n) {
				break
			}
		}
		b.WriteString(html.EscapeString(text[plain:i]))
		if plain = i + n; i >= len(text) {
			return
		}
		name := strings.Trim(strconv.QuoteRuneToASCII(r), "'") // such as \r or \u202e
		if n == 1 && r == utf8.RuneError {
			name = fmt.Sprintf(`\x%02x`, text[i])
		}
		b.WriteString(`<span class="ctl">` + name + "</span>")
	}
}

// isHidden reports whether a character of n bytes is written as in source code.
func isHidden(r rune, n int) bool {
	if r < utf8.RuneSelf {
		return r < ' ' && r != '\t' || r == 0x7f
	}
	return r == utf8.RuneError && n == 1 || !unicode.IsGraphic(r) || r == '\u2800' ||
		unicode.Is(unicode.Zs, r) && r != '\u3000' || unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r) ||
		unicode.Is(unicode.Variation_Selector, r) && r != '\ufe0f' // which makes a character an emoji
}
