package tamper

import (
	"slices"
	"strconv"
	"strings"
)

// inlineConstants writes the text or number of a file's constants in place of their names, and products of numbers as
// one number, so that `60 * SECOND` and 60000 compare as the same. Names that anything else in the file may bind stay.
func inlineConstants(l *language, toks []token) []token {
	if l.name != "script" && l.name != "python" && l.name != "go" {
		return toks
	}
	if l.name == "python" {
		toks = plainParameters(toks)
	}
	values := constantNames(l, toks) // nil values until their declaration has been read
	out := make([]token, 0, len(toks))
	name, from := "", 0 // the constant whose value is being read, and where it begins in out
	for i, t := range toks {
		ends := t.kind == newline || t.kind == punct && t.text == ";" || t.lead && t.col == 0
		if name != "" && ends {
			if isConstant(out[from:]) {
				values[name] = &token{kind: out[from].kind, text: out[from].text}
			}
			name = ""
		}
		before := word(toks, i-1)
		if v := values[t.text]; t.kind == ident && v != nil && before != "." && (word(toks, i+1) != ":" || before != "{" && before != ",") {
			t.kind, t.text = v.kind, v.text
		}
		if t.kind == number {
			out = appendNumber(out, t, word(toks, i+1))
		} else {
			out = append(out, t)
		}
		if t.kind == punct && t.text == "=" {
			if n := declared(l, toks, i); n != "" {
				if _, known := values[n]; known {
					name, from = n, len(out)
				}
			}
		}
	}
	return out
}

// word is the text of a token that is no string, "" for all else.
func word(toks []token, i int) string {
	if i < 0 || i >= len(toks) || toks[i].kind == text {
		return ""
	}
	return toks[i].text
}

// among reports whether a token's text is one of several, with spaces between them.
func among(word, list string) bool { return slices.Contains(strings.Fields(list), word) }

// isConstant reports whether a value is one text or number that nothing is inserted into.
func isConstant(value []token) bool {
	return len(value) == 1 && (value[0].kind == number || value[0].kind == text && !strings.Contains(value[0].text, "{"))
}

// appendNumber adds a number, with the sign before it, and multiplied with the number before it.
func appendNumber(out []token, t token, next string) []token {
	n := len(out)
	if n > 0 && word(out, n-1) == "-" && !strings.HasPrefix(t.text, "-") && signDue(out[:n-1]) {
		t.text, t.line, t.col, t.lead = "-"+t.text, out[n-1].line, out[n-1].col, out[n-1].lead
		out, n = out[:n-1], n-1
	}
	if n > 1 && word(out, n-1) == "*" && out[n-2].kind == number && !among(word(out, n-3), "* / // % **") &&
		next != "**" && next != "." {
		a, err1 := strconv.ParseInt(out[n-2].text, 10, 32)
		b, err2 := strconv.ParseInt(t.text, 10, 32)
		if err1 == nil && err2 == nil {
			out[n-2].text = strconv.FormatInt(a*b, 10)
			return out[:n-1]
		}
	}
	return append(out, t)
}

// declared is the name that a statement at the left margin declares as a constant, with its sign of assignment.
func declared(l *language, toks []token, sign int) string {
	at := sign - 1
	if l.name != "python" && word(toks, at-1) == ":" || l.name == "go" && at > 1 && word(toks, at-2) == "const" {
		at-- // behind it is a type
		if word(toks, at) == ":" {
			at--
		}
	}
	if at < 0 || toks[at].kind != ident {
		return ""
	}
	name, first := toks[at].text, at
	if l.name == "python" {
		if name != strings.ToUpper(name) { // other names may be changed
			return ""
		}
	} else if first--; word(toks, first) != "const" {
		return ""
	} else if word(toks, first-1) == "export" {
		first--
	}
	if !toks[first].lead || toks[first].col > 0 {
		return ""
	}
	return name
}

// constantNames are the names that are declared once as constants and bound nowhere else.
func constantNames(l *language, toks []token) map[string]*token {
	at := map[string]int{} // of their declarations
	for i, t := range toks {
		if t.kind == punct && t.text == "=" {
			if n := declared(l, toks, i); n != "" {
				at[n]++
			}
		}
	}
	names := map[string]*token{}
	if len(at) == 0 {
		return names
	}
	for n, times := range at {
		if times == 1 {
			names[n] = nil
		}
	}
	var open []int
	pairs := matching(toks)
	for i, t := range toks {
		for len(open) > 0 && pairs[open[len(open)-1]] <= i {
			open = open[:len(open)-1]
		}
		if _, known := names[t.text]; known && t.kind == ident && word(toks, i-1) != "." && binds(l, toks, pairs, open, i) {
			delete(names, t.text)
		}
		if end, ok := pairs[i]; ok && end > i {
			open = append(open, i)
		}
	}
	return names
}

// binds reports whether a name gets a value here, beside its declaration: a variable, a parameter, a part of a pattern.
func binds(l *language, toks []token, pairs map[int]int, open []int, i int) bool {
	const binders = "const let var function func def class for as import global nonlocal lambda catch"
	before, next := word(toks, i-1), word(toks, i+1)
	if among(before, binders) || among(next, "= := += -= *= /= ++ -- => in of") {
		for n := i + 1; n <= i+3 && n < len(toks); n++ {
			if toks[n].kind == punct && toks[n].text == "=" {
				return declared(l, toks, n) != toks[i].text
			}
		}
		return next != "in" && next != "of" || among(before, binders)
	}
	for n := len(open) - 1; n >= 0; n-- {
		o := open[n]
		lead, behind := word(toks, o-1), word(toks, pairs[o]+1)
		switch {
		case behind == "=", behind == ":=", behind == "=>", lead != "for" && among(lead, binders):
			return true
		case word(toks, o) == "{" && !among(lead, "( , [ : ="):
			return false // a block
		case word(toks, o) != "(" || among(lead, "if for while switch"):
		case behind == "{" || behind == ":" || behind == "->":
			return true
		}
	}
	return false
}
