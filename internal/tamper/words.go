package tamper

import "strings"

// findWords collects the texts, numbers and called names of each unit. Titles, messages of failures and names of modules
// say nothing about what is tested.
func (p *parsed) findWords() {
	inCheck := make([]bool, len(p.toks))
	for _, u := range p.units {
		for _, c := range u.checks {
			for _, r := range [][2]int{{c.from, c.to}, c.cond} {
				for i := r[0]; i < r[1]; i++ {
					inCheck[i] = true
				}
			}
		}
	}
	for i := 0; i < len(p.toks); i++ {
		t, u := p.toks[i], p.unitAt(i)
		if t.kind == ident && (t.text == "for" || t.text == "while" || t.text == "each" || t.text == "forEach" || t.text == "parametrize" || t.text == "subTest" || t.text == "map" || t.text == "rstest" || t.text == "CsvSource" || t.text == "InlineData" || t.text == "MethodSource" || t.text == "times") {
			u.table = true
		}
		switch {
		case t.kind == ident && p.is(i+1, "(") || t.kind == ident && p.l.name == "rust" && p.is(i+1, "!"):
			u.calls[t.text]++
			if p.isTalk(i) && !(u.test && p.l.name == "go" && isExample(u.name)) {
				i = p.close(i+1) - 1
			}
		case (t.kind == text || t.kind == number) && !inCheck[i] && !p.isTitle(i, u):
			u.lits[t.text]++
			if !p.argument(i) && !p.is(i-1, "=") && !p.is(i-1, ":=") { // a variable is no row
				u.rows[t.text]++
			}
		}
	}
	for _, u := range p.units {
		for i := u.from; i < u.to && u.test; i++ {
			if p.is(i, "each") || p.is(i, "parametrize") || p.is(i, "ParameterizedTest") || p.is(i, "Theory") {
				u.table = true
			}
		}
	}
}

// argument reports whether a token is an argument of a call, and not of one that makes a row of a table.
func (p *parsed) argument(i int) bool {
	at := p.within[i]
	return p.is(at, "(") && p.isKind(at-1, ident) && p.toks[at-1].text != "param" && p.toks[at-1].text != "InlineData" && p.toks[at-1].text != "case"
}

// isTalk reports whether a call only says something to people, or loads or names modules.
func (p *parsed) isTalk(i int) bool {
	if p.is(i, "skip") && p.is(i-1, ".") && (p.is(i-2, "describe") || p.is(i-2, "context") || p.is(i-2, "suite") || p.is(i-2, "it") || p.is(i-2, "test")) {
		return false // describe.skip("…", () => { … }) holds tests
	}
	switch p.toks[i].text {
	case "Log", "Logf", "log", "print", "println", "Println", "Printf", "puts", "Errorf", "Error", "Fatal", "Fatalf", "require", "import", "patch", "mock", "doMock", "unmock", "warn", "debug", "info", "Skip", "Skipf", "skip", "setattr", "delattr", "importorskip":
		return true
	}
	return false
}

// isTitle reports whether a text names a test or a row of a table, or documents something.
func (p *parsed) isTitle(i int, u *unit) bool {
	if i == u.body-1 || p.toks[i].kind == text && p.toks[i].lead && (p.isKind(i+1, newline) || i+1 == len(p.toks)) { // a doc string
		return true
	}
	if p.is(i-1, "(") && i > 2 && p.isKind(i-2, ident) {
		switch p.toks[i-2].text {
		case "Run", "describe", "context", "it", "test", "suite", "group", "step", "subTest", "Name":
			return true
		}
	}
	if (p.is(i-1, ":") || p.is(i-1, "=")) && p.isKind(i-2, ident) {
		switch strings.ToLower(p.toks[i-2].text) {
		case "name", "desc", "description", "title", "label", "comment", "reason", "msg", "message", "id", "ids", "doc", "match":
			return true
		}
	}
	return p.is(i-1, "from") || p.is(i-1, "import") || p.namesRow(i)
}
