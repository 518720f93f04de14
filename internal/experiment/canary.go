package experiment

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/wfs-dev/wfs/internal/lazyregexp"
	"github.com/wfs-dev/wfs/internal/source"
)

// Sort chooses among expected values.
type Sort uint8

const (
	All     Sort = iota
	Numbers      // and nothing else
	Others       // texts and truth values
)

// Turn changes every value of a sort that the chosen lines of a test expect: literals that are compared with something;
// where there is none, rows of tables; and where there is none either, the last arguments of the test's own helpers. It
// returns how many it changed. Tests whose expectations were turned must fail, or they cannot fail at all.
//
// No two values are changed by the same amount: what was to be the same as something else is not any more.
func Turn(file string, src []byte, lines Lines, sort Sort) ([]byte, int) {
	c := newCanary(file, src, lines)
	c.leaveBenchmarks(src)
	loose := c.find()
	var edits []edit
	for n, i := range c.found {
		t := c.toks[i]
		if sort != All && (loose || (sort == Numbers) != (t.Kind == source.Number)) {
			continue
		}
		if to := turned(t, c.l, n); to != t.Text {
			edits = append(edits, edit{t.From, t.To, to})
		}
	}
	return apply(src, edits), len(edits)
}

func newCanary(file string, src []byte, lines Lines) *canary {
	c := &canary{lines: lines}
	c.l, c.toks = source.Read(file, src)
	return c
}

// leaveBenchmarks takes benchmarks of Go out of the chosen lines: they are not run together with tests.
func (c *canary) leaveBenchmarks(src []byte) {
	if c.l.Name != "go" {
		return
	}
	rest := maps.Clone(c.lines)
	for _, b := range findBodies(c.l, src, c.toks) {
		if b.head+1 < len(c.toks) && c.toks[b.head].Text == "func" && strings.HasPrefix(c.toks[b.head+1].Text, "Benchmark") {
			for n := b.line; n <= b.last; n++ {
				delete(rest, n)
			}
		}
	}
	c.lines = rest
}

// Compared are those of the chosen lines of a test that compare with a value which Turn changes for certain: not what
// may be tried, nor what a row is called. literals is how many numbers, texts and truth values are among these values.
func Compared(file string, src []byte, lines Lines) (at Lines, literals int) {
	at = Lines{}
	c := newCanary(file, src, lines)
	c.expectations()
	for _, i := range c.found {
		at[c.toks[i].Line] = true
		literals += count(c.literal(i))
	}
	return at, literals
}

// find finds expected values, in the order of their places. loose: some may be what is tried, or what a row is called.
func (c *canary) find() (loose bool) {
	c.expectations()
	if len(c.found) == 0 {
		loose = true
		c.rows()
	}
	if len(c.found) == 0 {
		c.helpers()
	}
	slices.Sort(c.found)
	c.found = slices.Compact(c.found)
	return loose
}

// Expected are the values that the chosen lines of a test expect, without quotes.
func Expected(file string, src []byte, lines Lines) map[string]bool {
	values := map[string]bool{}
	c := newCanary(file, src, lines)
	c.find()
	for _, i := range c.found {
		if k := c.toks[i].Kind; k == source.Number || k == source.String {
			values[plain(c.toks[i].Text)] = true
		}
	}
	return values
}

// valuesWithin finds numbers and words of a text, such as a table that is written as one.
var valuesWithin = lazyregexp.New(`[\p{L}\p{N}_]+(\.[\p{L}\p{N}_]+)*`)

// Values are all numbers and texts of a file, without quotes, and those within texts.
func Values(file string, src []byte) map[string]bool {
	values := map[string]bool{}
	_, toks := source.Read(file, src)
	for _, t := range toks {
		if t.Kind == source.Number || t.Kind == source.String {
			values[plain(t.Text)] = true
		}
		if t.Kind == source.String {
			for _, v := range valuesWithin.FindAllString(t.Text, -1) {
				values[plain(v)] = true
			}
		}
	}
	return values
}

// plain is a literal without its quotes, or the separators in a number.
func plain(text string) string {
	if text[0] >= '0' && text[0] <= '9' {
		return strings.ReplaceAll(text, "_", "")
	}
	return strings.Trim(text, "\"'`#r")
}

// TurnData changes the values in a file of data that tests compare with: each number, and in lines without any the last
// word. A key of JSON stays: it may be what the code is asked.
func TurnData(src []byte, lines Lines) ([]byte, int) {
	var out []string
	n, at := 0, 0
	for line := range strings.Lines(string(src)) {
		at++
		key := jsonKey.FindString(line)
		if rest := line[len(key):]; lines[at] {
			rest, n = turnedLine(rest, n)
			line = key + rest
		}
		out = append(out, line)
	}
	return []byte(strings.Join(out, "")), n
}

// jsonKey is what stands before the value on a line of JSON.
var jsonKey = lazyregexp.New(`^\s*\{?\s*"(?:[^"\\]|\\.)*"\s*:`)

func turnedLine(line string, n int) (string, int) {
	var b strings.Builder
	numbers, letter := 0, -1
	for i := 0; i < len(line); i++ {
		c := line[i]
		switch {
		case c >= '0' && c <= '9':
			end := i
			for end < len(line) && line[end] >= '0' && line[end] <= '9' {
				end++
			}
			b.WriteString(plus(line[i:end], n+numbers))
			numbers, i = numbers+1, end-1
		default:
			b.WriteByte(c)
			if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' {
				letter = i
			}
		}
	}
	switch {
	case numbers > 0:
		return b.String(), n + numbers
	case letter >= 0:
		return line[:letter+1] + "q" + line[letter+1:], n + 1
	}
	return line, n
}

type canary struct {
	l     *source.Language
	toks  []source.Token
	lines Lines
	found []int // tokens that are expected values
}

func (c *canary) text(i int) string {
	if i < 0 || i >= len(c.toks) {
		return ""
	}
	return c.toks[i].Text
}

// literal reports whether a token is a value that can be turned.
func (c *canary) literal(i int) bool {
	if i < 0 || i >= len(c.toks) {
		return false
	}
	switch t := c.toks[i]; t.Kind {
	case source.Number, source.String:
		return true
	case source.Word:
		_, ok := opposite[t.Text]
		return ok
	default:
		return pattern(t)
	}
}

var opposite = opposites("true false True False")

// matchers compare two values, or one with what the chain began with: the first two of their arguments are values.
var matchers = wordSet(`
	toBe toEqual toStrictEqual toBeCloseTo toHaveLength toContain toMatchObject toMatchInlineSnapshot equal equals
	strictEqual deepEqual deepStrictEqual eql eq lengthOf is same assertEqual assertEquals assertSame
	assertListEqual assertDictEqual assertTupleEqual assertSetEqual assertAlmostEqual assertCountEqual
	assertArrayEquals assertIterableEquals assertSequenceEqual assertMultiLineEqual assertRaisesRegex assertRegex
	assert_eq Equal EqualValues Exactly ElementsMatch Len InDelta EqualError JSONEq isEqualTo containsExactly isTrue
	isFalse hasSize equalTo approx DeepEqual`)

// said are matchers without a value, and what says the opposite.
var said = opposites(`assertTrue assertFalse
	toBeTruthy toBeFalsy
	toBeUndefined toBeDefined
	assertIsNone assertIsNotNone
	assertNull assertNotNull
	isTrue isFalse
	assertIn assertNotIn
	True False`)

// expectations finds values beside == and !=, and in the arguments of matchers.
func (c *canary) expectations() {
	for i, t := range c.toks {
		if !c.lines[t.Line] || t.Text == "__name__" || c.text(i-1) == "__name__" { // if __name__ == "__main__":
			continue
		}
		switch {
		case (t.Text == "==" || t.Text == "===" || t.Text == "!=" || t.Text == "!==") && c.asserts(i):
			c.operand(i+1, 1)
			c.operand(i-1, -1)
		case t.Kind == source.Word && c.opens(i+1) && c.text(i-1) == "." && c.text(i-2) == "not":
			// it is not the other value either
		case t.Kind == source.Word && c.opens(i+1) && (matchers[t.Text] || c.looksFor(i)):
			c.arguments(c.bracket(i + 1))
		case t.Kind == source.Word && said[t.Text] != "" && c.opens(i+1) &&
			(t.Text[0] != 'T' && t.Text[0] != 'F' || c.text(i-1) == "."):
			c.found = append(c.found, i)
		}
	}
}

// patterns are matchers that look for a text, or for what an expression describes.
var patterns = wordSet("toThrow toThrowError toMatch throws rejects match")

// looksFor reports whether a word is such a matcher where it stands. "match" and "throws" are names of much else.
func (c *canary) looksFor(i int) bool {
	word := c.toks[i].Text
	switch c.l.Name {
	case "python":
		return word == "raises"
	case "script":
		return patterns[word] && (strings.HasPrefix(word, "to") || c.text(i-1) == "." && c.isAssert(i-2))
	}
	return false
}

// pattern reports whether a token is a regular expression.
func pattern(t source.Token) bool {
	return t.Kind == source.Punct && len(t.Text) > 2 && t.Text[0] == '/'
}

// asserts reports whether a comparison decides about a test: in Go one that is not equal, after which it fails;
// elsewhere one in an assertion, behind its word or within its brackets. Others choose what is done.
func (c *canary) asserts(at int) bool {
	if c.l.Name == "go" {
		return c.text(at) == "!="
	}
	depth, open := 0, 0
	for i := at - 1; i >= 0 && c.toks[at].Line-c.toks[i].Line < 4; i-- {
		switch c.text(i) {
		case "(":
			if depth--; depth < open { // what it is at is within it
				open = depth
				if c.isAssert(i-1) || c.text(i-1) == "!" && c.isAssert(i-2) {
					return true
				}
			}
		case ")":
			depth++
		}
		if c.isAssert(i) && c.toks[i].Line == c.toks[at].Line && (i == 0 || c.toks[i-1].Line < c.toks[i].Line) {
			return true // assert x == 3
		}
	}
	return false
}

func (c *canary) isAssert(i int) bool {
	if i < 0 || c.toks[i].Kind != source.Word {
		return false
	}
	word := strings.ToLower(c.toks[i].Text)
	return slices.ContainsFunc(assertWords, func(w string) bool { return strings.HasPrefix(word, w) })
}

// assertWords begin the names of what asserts.
var assertWords = strings.Fields("assert expect should require ensure verify check must ok")

// opens reports whether a call begins here; macros of Rust have a mark before it.
func (c *canary) opens(i int) bool { return c.text(i) == "(" || c.text(i) == "!" && c.text(i+1) == "(" }

func (c *canary) bracket(i int) int {
	if c.text(i) == "!" {
		return i + 1
	}
	return i
}

// operand takes the literal that is one side of a comparison by itself, or the literals of a list or an object there.
func (c *canary) operand(i, step int) {
	if c.literal(i) {
		switch next := c.text(i + step); {
		case c.text(i+step) == "-" && step < 0: // of a negative number, or of a difference
			if c.literal(i) && c.endsOperand(c.text(i-2)) {
				c.found = append(c.found, i)
			}
		case step > 0 && c.toks[i].Kind == source.Word && next == ".":
		case c.endsOperand(next) || i+step < 0 || i+step >= len(c.toks) || c.toks[i+step].Line != c.toks[i].Line:
			c.found = append(c.found, i)
		}
		return
	}
	if step > 0 && c.text(i) == "-" && c.literal(i+1) {
		c.operand(i+1, step)
		return
	}
	if step > 0 && c.makes(i) {
		for end := i; end < len(c.toks); end++ {
			if t := c.text(end); t == "(" || t == "[" || t == "{" {
				c.within(end, closing(c.toks, end))
				return
			}
		}
	}
}

// makes reports whether an expression that makes a value begins here: a list, an object, or a call of something that
// has the name of a type. What a function says is no value that is expected.
func (c *canary) makes(i int) bool {
	switch t := c.text(i); {
	case begins[t]:
		return true
	case t == "" || t[0] < 'A' || t[0] > 'Z':
		return c.l.Name == "rust" && c.literal(i) && c.text(i+1) == "."
	}
	switch next := c.text(i + 1); next {
	case "(", "{", "::":
		return true
	case ".":
		return c.text(i+3) == "(" && makers[c.text(i+2)]
	}
	return false
}

// begins are words and signs with which a value that is made begins.
var begins = wordSet("[ { ( vec & new set dict list tuple")

// makers are functions of a type that make a value of it.
var makers = wordSet("of ofEntries asList from valueOf parse")

func (c *canary) endsOperand(text string) bool {
	return text == "" || ends[text]
}

var ends = wordSet(") ] } , ; : { ( && || and or if assert return else ? !")

// arguments takes the literals of a matcher's values. What follows the second value is a message; so is the first of
// three when it is a text and the third is not.
func (c *canary) arguments(open int) {
	end := closing(c.toks, open)
	var starts []int
	depth, from := 0, open+1
	for i := open + 1; i <= end && i < len(c.toks); i++ {
		switch c.text(i) {
		case "(", "[", "{":
			depth++
		case ")", "]", "}":
			depth--
		}
		if depth < 0 || depth == 0 && c.text(i) == "," {
			starts = append(starts, from, i)
			from = i + 1
		}
	}
	values := len(starts) / 2
	first := 0
	if values > 0 && starts[1]-starts[0] == 1 && (c.text(starts[0]) == "t" || c.text(starts[0]) == "T") {
		first = 1
	}
	for n := first; n < values && n < first+2; n++ {
		a, b := starts[2*n], starts[2*n+1]
		if c.text(a) == "-" {
			a++
		}
		switch {
		case b-a == 1 && c.literal(a):
			if values-first == 3 && n == first && c.toks[a].Kind == source.String {
				continue
			}
			c.found = append(c.found, a)
		case b-a == 3 && c.text(a) == "match" && c.text(a+1) == "=" && c.literal(a+2): // pytest.raises
			c.found = append(c.found, a+2)
		case c.text(a) == "(" && c.text(closing(c.toks, a)+1) == "=>": // what is tried
		case b-a > 1 && c.makes(a):
			c.within(a, b)
		}
	}
}

// within takes all literals of a list or an object but its keys.
func (c *canary) within(from, to int) {
	for i := from; i < to && i < len(c.toks); i++ {
		if c.literal(i) && c.text(i+1) != ":" && c.text(i+1) != "=>" {
			c.found = append(c.found, i)
		}
	}
}

// tableMakers are functions that tables of cases are given to.
var tableMakers = wordSet(`
	each parametrize expand of arguments CsvSource ValueSource asList cases table Entry in range for return`)

// given reports whether what begins here is given to a function, other than to one that takes tables: it is what is
// tried then, and not what is expected.
func (c *canary) given(at int) bool {
	depth := 0
	for i := at - 1; i >= 0; i-- {
		switch t := c.text(i); t {
		case ")", "]", "}":
			depth++
		case "(", "[", "{":
			if depth--; depth >= 0 {
				continue
			}
			depth = 0
			before := c.text(i - 1)
			switch {
			case t == "{" && (before == ")" || before == "=>"):
				return false // a body begins
			case t == "(" && i > 0 && c.toks[i-1].Kind == source.Word && !tableMakers[before]:
				return true
			}
		}
	}
	return false
}

// rows takes the literals of lists of literals: tables of cases.
func (c *canary) rows() {
	for i := range c.toks {
		if t := c.text(i); !c.lines[c.toks[i].Line] || t != "{" && t != "(" && t != "[" ||
			i > 0 && c.toks[i-1].Kind == source.Word && t == "(" || c.given(i) {
			continue
		}
		end, literals, others := closing(c.toks, i), 0, 0
		for k := i + 1; k < end && k < len(c.toks); k++ {
			switch {
			case c.literal(k) && c.text(k+1) != ":":
				literals++
			case c.toks[k].Kind == source.Word && c.text(k+1) != ":", c.text(k) == "(":
				others++
			}
		}
		if literals >= 2 && others == 0 && end < len(c.toks) {
			c.within(i+1, end)
		}
	}
}

// helpers takes the last arguments of calls that are statements of their own, of functions that the file declares
// itself.
func (c *canary) helpers() {
	own := functionsIn(c.toks)
	for i, t := range c.toks {
		if !c.lines[t.Line] || t.Kind != source.Word || !own[t.Text] || !c.opens(i+1) ||
			i > 0 && c.toks[i-1].Line == t.Line && !(c.text(i-1) == "." && (c.text(i-2) == "self" || c.text(i-2) == "this")) {
			continue
		}
		end := closing(c.toks, c.bracket(i+1))
		if c.literal(end-1) && c.text(end-2) == "," {
			c.found = append(c.found, end-1)
		}
	}
}

// functionsIn are the names of functions that a file declares itself.
func functionsIn(toks []source.Token) map[string]bool {
	names := map[string]bool{}
	for i, t := range toks {
		switch {
		case t.Kind != source.Word || i+2 >= len(toks):
		case i > 0 && (toks[i-1].Text == "def" || toks[i-1].Text == "func" || toks[i-1].Text == "function" ||
			toks[i-1].Text == "fn"),
			toks[i+1].Text == "=" && (toks[i+2].Text == "(" || toks[i+2].Text == "function" || toks[i+2].Text == "async"):
			names[t.Text] = true
		}
	}
	return names
}

// turned is another value of the same kind, the n-th of its file.
func turned(t source.Token, l *source.Language, n int) string {
	switch {
	case t.Kind == source.Number:
		return plus(t.Text, n)
	case pattern(t):
		end := strings.LastIndexByte(t.Text, '/')
		return "/(?!)(?:" + t.Text[1:end] + ")" + t.Text[end:] // it describes nothing
	case t.Kind == source.String && l.Chars && t.Text[0] == '\'':
		if len(t.Text) == 3 {
			c := t.Text[1] + 1
			if c == '\\' || c == '\'' || c >= 0x7f {
				c = 'q'
			}
			return "'" + string(rune(c)) + "'"
		}
		return t.Text
	case t.Kind == source.String:
		for _, q := range []string{`"""`, "'''", `"#`, `"`, "'", "`"} {
			if before, ok := strings.CutSuffix(t.Text, q); ok {
				return before + fmt.Sprintf("q%d", n) + q
			}
		}
	case said[t.Text] != "" && opposite[t.Text] == "":
		return said[t.Text]
	case opposite[t.Text] != "":
		return opposite[t.Text]
	}
	return t.Text
}

// plus adds to the whole part of a number, whatever follows it. Small numbers stay small: they may be of one byte.
func plus(text string, n int) string {
	end := 0
	for end < len(text) && (text[end] >= '0' && text[end] <= '9' || text[end] == '_') {
		end++
	}
	whole := strings.ReplaceAll(text[:end], "_", "")
	v, err := strconv.ParseInt(whole, 10, 64)
	if err != nil || end == 1 && text[0] == '0' && len(text) > 1 && strings.ContainsAny(text[1:2], "xXbBoO") {
		return text
	}
	by := int64(n%23) + 1
	if v+by > 9 && v <= 255 && v+by > 255 { // it may be a byte
		by = -by
	}
	return strconv.FormatInt(v+by, 10) + text[end:]
}
