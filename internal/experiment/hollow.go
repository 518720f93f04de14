package experiment

import (
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/internal/source"
)

// Hollow makes each function fail that contains a chosen line: it inserts a statement that raises an error at the start
// of the body. With `quietly` it inserts a return without a value instead, if the language allows it. Hollow returns
// the new content, the number of changed functions, and those chosen lines of code that are in no function. Tests that
// need the code of the chosen lines must fail then.
func Hollow(file string, src []byte, lines Lines, quietly bool) (out []byte, functions int, outside Lines) {
	l, toks := source.Read(file, src)
	if raises[l.Name] == "" {
		return src, 0, lines
	}
	bodies, outside := within(findBodies(l, src, toks), toks, lines)
	var edits []edit
	for _, b := range bodies {
		if quietly && nothing[l.Name] != "" {
			b.text = strings.NewReplacer(raises[l.Name], nothing[l.Name], raisesInArrow, nothingInArrow).Replace(b.text)
		}
		edits = append(edits, edit{b.at, b.at, b.text})
	}
	slices.SortFunc(edits, func(a, b edit) int { return a.from - b.from })
	return apply(src, edits), len(edits), outside
}

// within returns the innermost functions around the chosen lines, and the chosen lines of code that are in no function.
func within(bodies []body, toks []source.Token, lines Lines) (chosen []body, outside Lines) {
	outside = Lines{}
	is := map[int]bool{}
	for _, t := range toks {
		if !lines[t.Line] || notRun(toks, t.Line) {
			continue
		}
		in := innermost(bodies, t.Line)
		if in < 0 {
			outside[t.Line] = true
		} else if !is[in] {
			is[in] = true
			chosen = append(chosen, bodies[in])
		}
	}
	return chosen, outside
}

// innermost returns the index of the innermost function that contains a line, or -1.
func innermost(bodies []body, line int) int {
	in := -1
	for i, b := range bodies {
		if b.line <= line && line <= b.last && (in < 0 || b.line >= bodies[in].line) {
			in = i
		}
	}
	return in
}

// raises has the statement that raises an error, by language.
var raises = map[string]string{
	"go":     `panic("hollow");`,
	"python": `raise RuntimeError("hollow")`,
	"script": `throw new Error("hollow");`,
	"rust":   `panic!("hollow");`,
	"java":   `if (true) throw new RuntimeException("hollow");`,
	"php":    `throw new \RuntimeException("hollow");`,
}

// nothing has the statement that returns no value, by language. It finds tests that pass as soon as any error is
// raised.
var nothing = map[string]string{"python": "return None", "script": "return;"}

// The same, as text that is inserted before the expression of an arrow function.
const (
	raisesInArrow  = `(() => { throw new Error("hollow") })() || `
	nothingInArrow = `undefined && `
)

// body is the body of a function, and the text that makes the function fail.
type body struct {
	line, last int // numbers of the first line of its head and of its last line
	at         int // byte offset at which text is inserted
	text       string

	head, open, end int // token indexes: the head, and the body or an arrow function's expression
	arrow           bool
}

func findBodies(l *source.Language, src []byte, toks []source.Token) []body {
	if l.Name == "python" {
		return pythonBodies(src, toks)
	}
	return braceBodies(l, toks)
}

// control are the keywords before a block in braces that is not the body of a function.
var control = wordSet(`
	if for while switch catch else match loop try do select synchronized with unless using class struct impl
	interface enum trait mod namespace type case default finally unsafe record import module package when object
	return new foreach lock declare throw defer go let`)

// braceBodies finds the bodies of functions in braces, and arrow functions that have only an expression.
func braceBodies(l *source.Language, toks []source.Token) []body {
	f := finder{l: l, toks: toks}
	for i := range toks {
		f.step(i)
	}
	return f.list
}

// finder collects the bodies of functions while it goes through the tokens of a file.
type finder struct {
	l      *source.Language
	toks   tokens
	list   []body
	start  int   // index of the token that begins the current statement
	starts []int // the same for the statements around it, one for each open bracket
}

func (f *finder) step(i int) {
	switch f.toks[i].Text {
	case "{":
		if functionHead(f.l, f.toks[f.start:i]) {
			f.braces(i)
		}
		f.open(i)
	case "(", "[":
		f.open(i)
	case ")", "]":
		f.close()
	case "}":
		f.close()
		f.start = i + 1
	case ";":
		f.start = i + 1
	case ",":
		if len(f.starts) > 0 {
			f.start = i + 1
		}
	case "=>":
		f.arrow(i)
	}
	if f.endsWithLine(i) {
		f.start = i + 1
	}
}

func (f *finder) open(i int) { f.starts, f.start = append(f.starts, f.start), i+1 }

func (f *finder) close() {
	if n := len(f.starts); n > 0 {
		f.starts, f.start = f.starts[:n-1], f.starts[n-1]
	}
}

// braces adds the function whose body begins at the brace at i. If a Java constructor begins with a call of another
// constructor, the text is inserted after that call, because the call must be first.
func (f *finder) braces(i int) {
	end := closing(f.toks, i)
	at := f.toks[i].To
	if f.l.Name == "java" && f.toks.is(i+1, "super", "this") && f.toks.is(i+2, "(") {
		if after := closing(f.toks, i+2) + 1; after < len(f.toks) {
			at = f.toks[after].To
		}
	}
	f.list = append(f.list, body{line: f.toks[f.start].Line, last: f.toks[end].Line, at: at,
		text: " " + raises[f.l.Name], head: f.start, open: i, end: end})
}

func (f *finder) arrow(i int) {
	if f.l.Name != "script" || i+1 >= len(f.toks) || f.toks[i+1].Text == "{" {
		return
	}
	f.list = append(f.list, body{line: f.toks[f.start].Line, last: f.toks[i+1].Line, at: f.toks[i+1].From,
		text: raisesInArrow, head: f.start, open: i + 1, end: expressionEnd(f.toks, i+1), arrow: true})
}

// endsWithLine reports whether the end of the line after a token ends the statement.
func (f *finder) endsWithLine(i int) bool {
	return (f.l.Name == "go" || f.l.Name == "script") && i+1 < len(f.toks) && f.toks[i+1].Line > f.toks[i].Line &&
		ended(f.toks[i]) && (i == 0 || f.start <= i)
}

// expressionEnd returns the index of the last token of the expression that begins at `from`.
func expressionEnd(toks []source.Token, from int) int {
	for i := from; i < len(toks); i++ {
		switch toks[i].Text {
		case "(", "[", "{":
			i = closing(toks, i)
		case ")", "]", "}", ",", ";":
			return i - 1
		}
		if i+1 >= len(toks) || toks[i+1].Line > toks[i].Line && ended(toks[i]) && ended(toks[i+1]) &&
			toks[i+1].Text != ")" && toks[i+1].Text != "]" {
			return i
		}
	}
	return len(toks) - 1
}

// ended reports whether a statement can end with this token.
func ended(t source.Token) bool {
	return t.Kind != source.Punct || t.Text == ")" || t.Text == "]" || t.Text == "}"
}

// functionHead reports whether the tokens before an opening brace are the head of a function.
func functionHead(l *source.Language, head tokens) bool {
	if len(head) == 0 {
		return false
	}
	last := len(head) - 1
	switch l.Name {
	case "go":
		return head.has("func") && !head.is(0, "type") && !head.is(last, "interface", "struct")
	case "rust":
		return head.has("fn")
	case "script":
		if head.has("function") || head.is(last, "=>") {
			return true
		}
	}
	for head.is(0, "@", "}") {
		head = head[1:]
	}
	if len(head) == 0 || control[head[0].Text] || !head.has(")") ||
		head.has("class", "interface", "enum", "record", "new") {
		return false
	}
	return l.Name != "script" || head.is(len(head)-1, ")") || head.has(":") // a method: name(…) {
}

// closing returns the index of the token that closes the bracket at `open`.
func closing(toks []source.Token, open int) int {
	depth := 0
	for i := open; i < len(toks); i++ {
		switch toks[i].Text {
		case "(", "[", "{":
			depth++
		case ")", "]", "}":
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return len(toks) - 1
}

// pythonBodies finds functions by the keyword def, and the end of their bodies by the indentation.
func pythonBodies(src []byte, toks tokens) []body {
	lines := strings.SplitAfter(string(src), "\n")
	indent := func(line int) int {
		text := strings.TrimSuffix(lines[line-1], "\n")
		return len(text) - len(strings.TrimLeft(text, " \t"))
	}
	var list []body
	for i, t := range toks {
		if t.Text != "def" || i+2 >= len(toks) {
			continue
		}
		colon := i + 2
		for colon < len(toks) && !toks.is(colon, ":") {
			if toks.is(colon, "(", "[", "{") {
				colon = closing(toks, colon)
			}
			colon++
		}
		if colon+1 >= len(toks) {
			break
		}
		first := toks[colon+1]
		b := body{line: t.Line, at: first.From, text: raises["python"] + "; ", head: i, open: colon,
			last: lastLine(toks, colon, func(line int) bool { return indent(line) <= indent(t.Line) })}
		if first.Line > toks[colon].Line {
			b.text = raises["python"] + "\n" + lines[first.Line-1][:indent(first.Line)]
		}
		list = append(list, b)
	}
	return list
}

// lastLine returns the number of the last line of a Python body, which begins after the token `colon`.
func lastLine(toks tokens, colon int, outside func(line int) bool) int {
	last := toks[colon+1].Line
	for k := colon + 1; k < len(toks); k++ {
		line := toks[k].Line
		if line > toks[k-1].Line && line > toks[colon].Line && outside(line) && atDepth(toks, colon, k) {
			break
		}
		last = line
	}
	return last
}

// atDepth reports whether all brackets that are opened between two tokens are closed there too.
func atDepth(toks []source.Token, from, to int) bool {
	depth := 0
	for _, t := range toks[from:to] {
		switch t.Text {
		case "(", "[", "{":
			depth++
		case ")", "]", "}":
			depth--
		}
	}
	return depth <= 0
}

// notRun reports whether a line has no code that runs: it is an import, names the package, or closes a bracket.
func notRun(toks []source.Token, line int) bool {
	at, _ := slices.BinarySearchFunc(toks, line, func(t source.Token, line int) int { return t.Line - line })
	if at >= len(toks) {
		return true
	}
	switch first := toks[at].Text; first {
	case "import", "from", "package", "use", "using", "namespace", "mod", "@", "module":
		return true
	case "}", ")", "]":
		return at+1 >= len(toks) || toks[at+1].Line > line || toks[at+1].Kind == source.Punct
	case "const", "let", "var":
		for _, t := range toks[at:] {
			if t.Line > line {
				break
			}
			if t.Text == "require" {
				return true
			}
		}
	}
	return false
}

// Called returns the lines of all functions of a file whose name is in `names`.
func Called(file string, src []byte, names map[string]bool) Lines {
	lines := Lines{}
	l, toks := source.Read(file, src)
	if raises[l.Name] == "" {
		return lines
	}
	for _, b := range findBodies(l, src, toks) {
		head, _ := slices.BinarySearchFunc(toks, b.line, func(t source.Token, line int) int { return t.Line - line })
		for k, t := range toks[head:] {
			if t.Line > b.line {
				break
			}
			if names[t.Text] && k+1 < len(toks[head:]) && slices.Contains([]string{"(", "=", "<", "["}, toks[head+k+1].Text) {
				for n := b.line; n <= b.last; n++ {
					lines[n] = true
				}
				break
			}
		}
	}
	return lines
}

// Named returns the lines of the tests in a file that a test runner lists under `name`. That is the name of the test
// function, or the title that the file passes to the runner together with the function.
func Named(file string, src []byte, name string) Lines {
	lines := Lines{}
	l, toks := source.Read(file, src)
	for _, b := range findBodies(l, src, toks) {
		if !tokens(toks[b.head:b.open]).has(name) && !titled(toks, b.head, name) {
			continue
		}
		for n := b.line; n <= b.last; n++ {
			lines[n] = true
		}
	}
	return lines
}

// titled reports whether a function is an argument of a call in which a title is another argument.
func titled(toks tokens, head int, title string) bool {
	for i := head - 1; i >= 0 && toks[i].Line >= toks[head].Line-1; i-- {
		switch {
		case toks[i].Kind == source.String && plain(toks[i].Text) == title:
			return true
		case toks.is(i, "(", ";"):
			return false
		}
	}
	return false
}

// Words returns the names and keywords on the chosen lines of a file.
func Words(file string, src []byte, lines Lines) map[string]bool {
	words := map[string]bool{}
	_, toks := source.Read(file, src)
	for _, t := range toks {
		if t.Kind == source.Word && lines[t.Line] && len(t.Text) > 1 {
			words[t.Text] = true
		}
	}
	return words
}
