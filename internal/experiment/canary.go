package experiment

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/wfs-dev/wfs/internal/lazyregexp"
	"github.com/wfs-dev/wfs/internal/source"
)

// Sort selects a kind of expected value.
type Sort uint8

const (
	All     Sort = iota
	Numbers      // only numbers
	Others       // strings and booleans
)

// Turn changes every expected value of a sort on the chosen lines of a test. It takes literals that are compared with
// something; if there are none, the rows of tables; and if there are none either, the last arguments of the test's own
// helpers. It returns how many values it changed. A test whose expectations were changed must fail, or it cannot fail
// at all.
//
// Values are changed by different amounts, so that two values that had to be equal no longer are.
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

// leaveBenchmarks removes Go benchmarks from the chosen lines, because they do not run together with tests.
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

// Compared returns the chosen lines of a test that compare something with an expected value. Rows of tables and arguments
// of helpers do not count, because they may be inputs or names. literals is the number of numbers, strings and booleans
// among the values.
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

// find finds the expected values, in source order. loose means that some of them may be inputs, or names of table rows.
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

// Expected returns the values that the chosen lines of a test expect, without quotes.
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

// valuesWithin matches the numbers and words of a string, such as a table that is written as one string.
var valuesWithin = lazyregexp.New(`[\p{L}\p{N}_]+(\.[\p{L}\p{N}_]+)*`)

// Values returns all numbers and strings of a file, without quotes, and the numbers and words within its strings.
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

// plain returns a literal without its quotes, or a number without its separators.
func plain(text string) string {
	if text[0] >= '0' && text[0] <= '9' {
		return strings.ReplaceAll(text, "_", "")
	}
	return strings.Trim(text, "\"'`#r")
}

// TurnData changes the values in a data file that tests compare with: each number, or the last word of a line without
// numbers. It keeps JSON keys, because the test may pass them to the code.
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

// jsonKey matches the key and the colon at the start of a line of JSON.
var jsonKey = lazyregexp.New(`^\s*\{?\s*"(?:[^"\\]|\\.)*"\s*:`)

func turnedLine(line string, n int) (string, int) {
	all := n
	turned := digits.ReplaceAllStringFunc(line, func(number string) string {
		all++
		return plus(number, all-1)
	})
	if all > n {
		return turned, all
	}
	if i := strings.LastIndexFunc(line, isLatin); i >= 0 {
		return line[:i+1] + "q" + line[i+1:], n + 1
	}
	return line, n
}

var digits = lazyregexp.New(`[0-9]+`)

func isLatin(c rune) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }

type canary struct {
	l     *source.Language
	toks  tokens
	lines Lines
	found []int // tokens that are expected values
}

func (c *canary) text(i int) string { return c.toks.text(i) }

// literal reports whether a token is a value that Turn can change.
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

// matchers compare two values, or one value with the subject of their chain. Their first two arguments are values.
var matchers = wordSet(`
	toBe toEqual toStrictEqual toBeCloseTo toHaveLength toContain toMatchObject toMatchInlineSnapshot equal equals
	strictEqual deepEqual deepStrictEqual eql eq lengthOf is same assertEqual assertEquals assertSame
	assertListEqual assertDictEqual assertTupleEqual assertSetEqual assertAlmostEqual assertCountEqual
	assertArrayEquals assertIterableEquals assertSequenceEqual assertMultiLineEqual assertRaisesRegex assertRegex
	assert_eq Equal EqualValues Exactly ElementsMatch Len InDelta EqualError JSONEq isEqualTo containsExactly isTrue
	isFalse hasSize equalTo approx DeepEqual`)

// said maps matchers that take no value to their opposites.
var said = opposites(`assertTrue assertFalse
	toBeTruthy toBeFalsy
	toBeUndefined toBeDefined
	assertIsNone assertIsNotNone
	assertNull assertNotNull
	isTrue isFalse
	assertIn assertNotIn
	True False`)

// expectations finds values next to == and !=, and in the arguments of matchers.
func (c *canary) expectations() {
	for i, t := range c.toks {
		if !c.lines[t.Line] || t.Text == "__name__" || c.text(i-1) == "__name__" { // if __name__ == "__main__":
			continue
		}
		switch {
		case comparisons[t.Text] && c.asserts(i):
			c.operand(i+1, 1)
			c.operand(i-1, -1)
		case t.Kind == source.Word && c.opens(i+1):
			c.matcher(i)
		}
	}
}

var comparisons = wordSet("== === != !==")

// matcher adds the values of a call that compares, or the call itself if it has no values.
func (c *canary) matcher(i int) {
	word := c.text(i)
	switch {
	case c.text(i-1) == "." && c.text(i-2) == "not": // the changed value would satisfy "not" as well
	case matchers[word] || c.looksFor(i):
		c.arguments(c.bracket(i + 1))
	case said[word] != "" && (word[0] != 'T' && word[0] != 'F' || c.text(i-1) == "."):
		c.found = append(c.found, i)
	}
}

// patterns are matchers that look for a text or for a match of a regular expression.
var patterns = wordSet("toThrow toThrowError toMatch throws rejects match")

// looksFor reports whether a word is such a matcher here: "match" and "throws" also name many other things.
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

// asserts reports whether a comparison decides a test. In Go it is a !=, after which the test fails. Elsewhere it is
// part of an assertion: after its keyword or within its brackets. Other comparisons only choose a branch.
func (c *canary) asserts(at int) bool {
	if c.l.Name == "go" {
		return c.text(at) == "!="
	}
	depth, open := 0, 0
	for i := at - 1; i >= 0 && c.toks[at].Line-c.toks[i].Line < 4; i-- {
		switch c.text(i) {
		case "(":
			if depth--; depth < open { // this bracket encloses the comparison
				open = depth
				if c.isAssert(i-1) || c.text(i-1) == "!" && c.isAssert(i-2) {
					return true
				}
			}
		case ")":
			depth++
		}
		if c.toks.begins(i, c.toks[at].Line) && c.isAssert(i) {
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

// assertWords are prefixes of the names of assertions.
var assertWords = strings.Fields("assert expect should require ensure verify check must ok")

// opens reports whether a call begins here. Rust macros have a "!" before the bracket.
func (c *canary) opens(i int) bool { return c.text(i) == "(" || c.text(i) == "!" && c.text(i+1) == "(" }

func (c *canary) bracket(i int) int {
	if c.text(i) == "!" {
		return i + 1
	}
	return i
}

// operand adds a literal that is one whole side of a comparison, or the literals of a list or an object there.
func (c *canary) operand(i, step int) {
	switch {
	case c.literal(i):
		if c.standsAlone(i, step) {
			c.found = append(c.found, i)
		}
	case step < 0:
	case c.text(i) == "-" && c.literal(i+1):
		c.operand(i+1, step)
	case c.makes(i):
		for end := i; end < len(c.toks); end++ {
			if c.toks.is(end, "(", "[", "{") {
				c.within(end, closing(c.toks, end))
				return
			}
		}
	}
}

// standsAlone reports whether a literal is one whole side of a comparison.
func (c *canary) standsAlone(i, step int) bool {
	next := c.text(i + step)
	switch {
	case step < 0 && next == "-": // a negative number, or a difference
		return c.endsOperand(c.text(i - 2))
	case step > 0 && next == "." && c.toks[i].Kind == source.Word:
		return false
	}
	return c.endsOperand(next) || c.toks[i+step].Line != c.toks[i].Line
}

// makes reports whether an expression that constructs a value begins here: a list, an object, or a call of a function
// whose name looks like a type. The result of any other function is not an expected value.
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

// begins are the words and signs that start the construction of a value.
var begins = wordSet("[ { ( vec & new set dict list tuple")

// makers are functions of a type that construct a value of it.
var makers = wordSet("of ofEntries asList from valueOf parse")

func (c *canary) endsOperand(text string) bool {
	return text == "" || ends[text]
}

var ends = wordSet(") ] } , ; : { ( && || and or if assert return else ? !")

// arguments adds the literals of a matcher's values. After the second value follows a message. With three arguments,
// the first one is the message if it is a string.
func (c *canary) arguments(open int) {
	args := c.split(open)
	if len(args) > 0 && args[0].from+1 == args[0].to && c.toks.is(args[0].from, "t", "T") {
		args = args[1:]
	}
	for n, a := range args[:min(len(args), 2)] {
		message := n == 0 && len(args) == 3 && a.from+1 == a.to && c.toks[a.from].Kind == source.String
		if !message {
			c.argument(a)
		}
	}
}

// span is a range of tokens, without the token at its end.
type span struct{ from, to int }

// split returns the arguments within brackets.
func (c *canary) split(open int) (args []span) {
	depth, from := 0, open+1
	for i := from; i < len(c.toks) && depth >= 0; i++ {
		switch c.text(i) {
		case "(", "[", "{":
			depth++
		case ")", "]", "}":
			depth--
		}
		if depth < 0 || depth == 0 && c.text(i) == "," {
			args = append(args, span{from, i})
			from = i + 1
		}
	}
	return args
}

func (c *canary) argument(a span) {
	a.from += count(c.text(a.from) == "-")
	switch n := a.to - a.from; {
	case n == 1:
		if c.literal(a.from) {
			c.found = append(c.found, a.from)
		}
	case n == 3 && c.toks.spell(a.from, "match", "=") && c.literal(a.from+2): // pytest.raises
		c.found = append(c.found, a.from+2)
	case c.text(a.from) == "(" && c.text(closing(c.toks, a.from)+1) == "=>": // a closure: the tested call
	case n > 1 && c.makes(a.from):
		c.within(a.from, a.to)
	}
}

// within adds all literals of a list or an object except its keys.
func (c *canary) within(from, to int) {
	for i := from; i < to && i < len(c.toks); i++ {
		if c.literal(i) && c.text(i+1) != ":" && c.text(i+1) != "=>" {
			c.found = append(c.found, i)
		}
	}
}

// tableMakers are functions that take tables of cases.
var tableMakers = wordSet(`
	each parametrize expand of arguments CsvSource ValueSource asList cases table Entry in range for return`)

// given reports whether the expression that begins here is an argument of a function that takes no tables. Then it is
// an input, not an expected value.
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
				return false // the start of a body
			case t == "(" && i > 0 && c.toks[i-1].Kind == source.Word && !tableMakers[before]:
				return true
			}
		}
	}
	return false
}

// rows adds the literals of lists of literals, which are tables of cases.
func (c *canary) rows() {
	for i, t := range c.toks {
		called := i > 0 && t.Text == "(" && c.toks[i-1].Kind == source.Word
		if !c.lines[t.Line] || !c.toks.is(i, "{", "(", "[") || called || c.given(i) {
			continue
		}
		if end := closing(c.toks, i); end < len(c.toks) && c.onlyLiterals(i+1, end) {
			c.within(i+1, end)
		}
	}
}

// onlyLiterals reports whether a range of tokens has two values or more, and no names except keys.
func (c *canary) onlyLiterals(from, to int) bool {
	literals := 0
	for k := from; k < to; k++ {
		key := c.text(k+1) == ":"
		switch {
		case c.literal(k) && !key:
			literals++
		case c.toks[k].Kind == source.Word && !key, c.text(k) == "(":
			return false
		}
	}
	return literals >= 2
}

// helpers adds the last arguments of calls that are statements of their own and call functions of the same file.
func (c *canary) helpers() {
	own := functionsIn(c.toks)
	for i, t := range c.toks {
		if !c.lines[t.Line] || !own[t.Text] || !c.opens(i+1) {
			continue
		}
		end := closing(c.toks, c.bracket(i+1))
		statement := c.toks.begins(i, t.Line) || c.toks.spell(i-2, "self", ".") || c.toks.spell(i-2, "this", ".")
		if statement && c.literal(end-1) && c.text(end-2) == "," {
			c.found = append(c.found, end-1)
		}
	}
}

// functionsIn returns the names of the functions that a file declares itself.
func functionsIn(toks tokens) map[string]bool {
	names := map[string]bool{}
	for i, t := range toks {
		assigned := toks.is(i+1, "=") && toks.is(i+2, "(", "function", "async")
		if t.Kind == source.Word && (assigned || toks.is(i-1, "def", "func", "function", "fn")) {
			names[t.Text] = true
		}
	}
	return names
}

// turned returns another value of the same kind for the n-th expected value of a file.
func turned(t source.Token, l *source.Language, n int) string {
	switch {
	case t.Kind == source.Number:
		return plus(t.Text, n)
	case pattern(t):
		end := strings.LastIndexByte(t.Text, '/')
		return "/(?!)(?:" + t.Text[1:end] + ")" + t.Text[end:] // it matches nothing
	case t.Kind == source.String && l.Chars && t.Text[0] == '\'':
		return turnedChar(t.Text)
	case t.Kind == source.String:
		for _, q := range []string{`"""`, "'''", `"#`, `"`, "'", "`"} {
			if before, ok := strings.CutSuffix(t.Text, q); ok {
				return before + fmt.Sprintf("q%d", n) + q
			}
		}
	}
	return cmp.Or(opposite[t.Text], said[t.Text], t.Text)
}

// turnedChar returns another character in quotes. It keeps a character that is written as an escape.
func turnedChar(text string) string {
	if len(text) != 3 {
		return text
	}
	c := text[1] + 1
	if c == '\\' || c == '\'' || c >= 0x7f {
		c = 'q'
	}
	return "'" + string(rune(c)) + "'"
}

// plus adds to the whole part of a number and keeps the rest. Small numbers stay small, because they may be bytes.
func plus(text string, n int) string {
	end := len(text) - len(strings.TrimLeft(text, "0123456789_"))
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
