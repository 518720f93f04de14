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

// Sort says which expected values Turn changes.
type Sort uint8

const (
	All     Sort = iota
	Numbers      // only numbers
	Others       // strings and booleans
)

// Turn changes the expected values on the chosen lines of a test file, and returns the new content and the number of
// changed values. A test whose expected values were changed must fail; if it passes, it cannot fail at all.
//
// Expected values are literals that the test compares with something. If there are none, Turn changes the literals in
// tables of cases; if there are none of these either, the last arguments in calls of the test's own helper functions.
// `sort` limits the change to some types of literals; the literals of tables and helpers are changed with All only.
//
// Each value is changed by a different amount, so that two equal values become different.
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

// leaveBenchmarks removes the lines of Go benchmarks from the chosen lines, because `go test` does not run benchmarks
// with the tests.
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

// Compared returns those of the chosen lines that compare something with an expected value. Literals in tables of cases
// and in calls of helpers do not count, because they may be inputs or names. `literals` is how many of the expected
// values are literals.
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

// find finds the expected values, in the order of the source. `loose` means that they are from tables or helpers, so
// that some of them may be inputs or names.
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

// Expected returns the numbers and strings that the chosen lines of a test expect. Strings are without quotes.
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

// valuesWithin matches the numbers and words in a string. The string may be a whole table.
var valuesWithin = lazyregexp.New(`[\p{L}\p{N}_]+(\.[\p{L}\p{N}_]+)*`)

// Values returns all numbers and strings in a file, and also the numbers and words inside the strings. Strings are
// without quotes.
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

// plain returns a string literal without its quotes and the letters before them, or a number without its digit separators.
func plain(text string) string {
	if text[0] >= '0' && text[0] <= '9' {
		return strings.ReplaceAll(text, "_", "")
	}
	return strings.Trim(text[max(0, strings.IndexAny(text, "\"'`")):], "\"'`#")
}

// TurnData changes the values on the chosen lines of a data file with which tests compare results. It changes each
// number; on a line without numbers, it changes the last word. It returns the new content and the number of changed
// values. JSON keys stay, because the test may pass them to the code.
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

// jsonKey matches the key, with its colon, at the start of a line of JSON.
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
	found []int // indexes of the tokens that are expected values
}

func (c *canary) text(i int) string { return c.toks.text(i) }

// literal reports whether a token is a literal that Turn can change.
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

// matchers are the names of functions that compare two values, or compare one value with the subject of a chain of
// calls. The first two arguments are values.
var matchers = wordSet(`
	toBe toEqual toStrictEqual toBeCloseTo toHaveLength toContain toMatchObject toMatchInlineSnapshot equal equals
	strictEqual deepEqual deepStrictEqual eql eq lengthOf is same assertEqual assertEquals assertSame
	assertListEqual assertDictEqual assertTupleEqual assertSetEqual assertAlmostEqual assertCountEqual
	assertArrayEquals assertIterableEquals assertSequenceEqual assertMultiLineEqual assertRaisesRegex assertRegex
	assert_eq Equal EqualValues Exactly ElementsMatch Len InDelta EqualError JSONEq isEqualTo containsExactly isTrue
	isFalse hasSize equalTo approx DeepEqual`)

// said maps matchers that compare with no value to their opposites, so that Turn can replace the matcher.
var said = opposites(`assertTrue assertFalse
	toBeTruthy toBeFalsy
	toBeUndefined toBeDefined
	assertIsNone assertIsNotNone
	assertNull assertNotNull
	isTrue isFalse
	assertIn assertNotIn
	True False`)

// expectations finds the expected values next to == and !=, and in the arguments of matchers.
func (c *canary) expectations() {
	for i, t := range c.toks {
		if !c.lines[t.Line] || t.Text == "__name__" || c.text(i-1) == "__name__" { // if __name__ == "__main__":
			continue
		}
		switch {
		case comparisons[t.Text] && c.difference(i) > 0:
			c.arguments(c.difference(i))
		case comparisons[t.Text] && c.asserts(i):
			c.operand(i+1, 1)
			c.operand(i-1, -1)
		case t.Kind == source.Word && c.opens(i+1):
			c.matcher(i)
		}
	}
}

var comparisons = wordSet("== === != !==")

// matcher adds the values of a call of a matcher. If the matcher takes no value, it adds the matcher itself.
func (c *canary) matcher(i int) {
	word := c.text(i)
	switch {
	case c.text(i-1) == "." && c.text(i-2) == "not": // skipped, because "not" is also true of the changed value
	case matchers[word] || c.looksFor(i):
		c.arguments(c.bracket(i + 1))
	case said[word] != "" && (word[0] != 'T' && word[0] != 'F' || c.text(i-1) == "."):
		c.found = append(c.found, i)
	}
}

// difference returns the index of the bracket of the call that made a difference, as in `d := cmp.Diff(got, want)`, if a
// Go test checks at token `at` that it is empty; else 0. With another text in place of "" a test always fails, even if
// it does not see any difference.
func (c *canary) difference(at int) int {
	if c.l.Name != "go" || c.text(at) != "!=" || c.text(at+1) != `""` {
		return 0
	}
	for i := at - 2; i >= 0 && c.toks[at].Line-c.toks[i].Line < 8; i-- {
		if c.text(i) != c.text(at-1) || !c.toks.is(i+1, ":=", "=") {
			continue
		}
		name := i + 2
		if c.text(name+1) == "." {
			name += 2
		}
		if c.text(name+1) == "(" && strings.HasPrefix(strings.ToLower(c.text(name)), "diff") {
			return name + 1
		}
		return 0
	}
	return 0
}

// patterns are the names of matchers that look for a text, or for a match of a regular expression.
var patterns = wordSet("toThrow toThrowError toMatch throws rejects match")

// looksFor reports whether a word is one of patterns, and is used as a matcher here: "match" and "throws" are also
// names of many other functions.
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

// asserts reports whether the result of a comparison decides whether the test passes. In Go that is a !=, after which
// the test fails. In other languages it is a comparison in an assertion: after the keyword, or in the arguments. Any
// other comparison only chooses a branch.
func (c *canary) asserts(at int) bool {
	if c.l.Name == "go" {
		return c.text(at) == "!="
	}
	depth, open := 0, 0
	for i := at - 1; i >= 0 && c.toks[at].Line-c.toks[i].Line < 4; i-- {
		switch c.text(i) {
		case "(":
			if depth--; depth < open { // the comparison is inside this bracket
				open = depth
				if c.isAssert(i-1) || c.text(i-1) == "!" && c.isAssert(i-2) {
					return true
				}
			}
		case ")":
			depth++
		}
		if c.toks.begins(i, c.toks[at].Line) && c.isAssert(i) {
			return true // as in: assert x == 3
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

// assertWords are the first parts of the names of assertions.
var assertWords = strings.Fields("assert expect should require ensure verify check must ok")

// opens reports whether the arguments of a call begin here. In a Rust macro, a "!" is before the bracket.
func (c *canary) opens(i int) bool { return c.text(i) == "(" || c.text(i) == "!" && c.text(i+1) == "(" }

func (c *canary) bracket(i int) int {
	if c.text(i) == "!" {
		return i + 1
	}
	return i
}

// operand adds one side of a comparison, which begins at token i, to the values to change: the literal itself, or the
// literals in a list or an object. step is -1 for the left side, which is read backwards.
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

// standsAlone reports whether a literal is a whole side of a comparison, and not only a part of it.
func (c *canary) standsAlone(i, step int) bool {
	next := c.text(i + step)
	switch {
	case step < 0 && next == "-": // a negative number, or a subtraction
		return c.endsOperand(c.text(i - 2))
	case step > 0 && next == "." && c.toks[i].Kind == source.Word:
		return false
	}
	return c.endsOperand(next) || c.toks[i+step].Line != c.toks[i].Line
}

// makes reports whether an expression that begins here constructs a value: it is a list, an object, or a call of a
// function that is named like a type. The result of any other function is not an expected value.
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

// begins are the words and signs with which such an expression may begin.
var begins = wordSet("[ { ( vec & new set dict list tuple")

// makers are the names of functions of a type that construct a value of the type.
var makers = wordSet("of ofEntries asList from valueOf parse")

func (c *canary) endsOperand(text string) bool {
	return text == "" || ends[text]
}

var ends = wordSet(") ] } , ; : { ( && || and or if assert return else ? !")

// arguments adds the literals in a matcher's first two arguments, because a third one is a message. If there are three
// arguments and the first is a string, the first is the message.
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

// span is a range of tokens. The token at `to` is not in it.
type span struct{ from, to int }

// split returns the arguments between the bracket at `open` and the bracket that closes it.
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
	case n == 3 && c.toks.spell(a.from, "match", "=") && c.literal(a.from+2): // as in pytest.raises(…, match=…)
		c.found = append(c.found, a.from+2)
	case c.text(a.from) == "(" && c.text(closing(c.toks, a.from)+1) == "=>": // skipped: a closure with the tested call
	case n > 1 && c.makes(a.from):
		c.within(a.from, a.to)
	}
}

// within adds all literals of a list or an object, except the keys.
func (c *canary) within(from, to int) {
	for i := from; i < to && i < len(c.toks); i++ {
		if c.literal(i) && c.text(i+1) != ":" && c.text(i+1) != "=>" {
			c.found = append(c.found, i)
		}
	}
}

// tableMakers are the names of functions, and words, before a table of cases.
var tableMakers = wordSet(`
	each parametrize expand of arguments CsvSource ValueSource asList cases table Entry in range for return`)

// given reports whether the expression that begins here is an argument of a function that is not one of tableMakers.
// Then it is an input of the tested code, not an expected value.
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
				return false // a body of a function or loop begins here
			case t == "(" && i > 0 && c.toks[i-1].Kind == source.Word && !tableMakers[before]:
				return true
			}
		}
	}
	return false
}

// rows adds the literals of lists that consist of literals, because such lists are rows in tables of cases.
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

// onlyLiterals reports whether a range of tokens has at least two values, and no names except keys.
func (c *canary) onlyLiterals(from, to int) bool {
	literals := 0
	for k := from; k < to; k++ {
		key := c.text(k+1) == ":"
		switch {
		case c.toks.spell(k, "[", "]", "byte", "("):
			k += 3
		case c.literal(k) && !key:
			literals++
		case c.toks[k].Kind == source.Word && !key, c.text(k) == "(":
			return false
		}
	}
	return literals >= 2
}

// helpers adds the last argument of each call of a function of the same file, if the call is a statement of its own.
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

// functionsIn returns the names of the functions that a file declares.
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

// turned returns another value of the same kind for a token that is the n-th expected value of the file.
func turned(t source.Token, l *source.Language, n int) string {
	switch {
	case t.Kind == source.Number:
		return plus(t.Text, n)
	case pattern(t):
		end := strings.LastIndexByte(t.Text, '/')
		return "/(?!)(?:" + t.Text[1:end] + ")" + t.Text[end:] // this regular expression matches nothing
	case t.Kind == source.String && l.Chars && (strings.HasSuffix(t.Text, "'") || t.Text[0] == 'b'):
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

// turnedChar returns another character for one in quotes. A character that is written as an escape stays. Of a byte
// string in Rust it changes the first character, because the type of the string has its length.
func turnedChar(text string) string {
	at := strings.IndexAny(text, "'\"") + 1
	if text[at] == '\\' || text[at] == text[at-1] || text[0] != 'b' && len(text) != 3 {
		return text
	}
	c := text[at] + 1
	if c == '\\' || c == '\'' || c == '"' || c >= 0x7f {
		c = 'q'
	}
	return text[:at] + string(rune(c)) + text[at+1:]
}

// plus adds to the integer part of a number, and keeps its fraction. A number below 256 stays below 256, because it may
// be a byte.
func plus(text string, n int) string {
	end := len(text) - len(strings.TrimLeft(text, "0123456789_"))
	whole := strings.ReplaceAll(text[:end], "_", "")
	v, err := strconv.ParseInt(whole, 10, 64)
	if err != nil || end == 1 && text[0] == '0' && len(text) > 1 && strings.ContainsAny(text[1:2], "xXbBoO") {
		return text
	}
	by := int64(n%23) + 1
	if v+by > 9 && v <= 255 && v+by > 255 { // it may be a byte, so stay below 256
		by = -by
	}
	return strconv.FormatInt(v+by, 10) + text[end:]
}
