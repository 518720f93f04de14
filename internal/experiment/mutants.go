package experiment

import (
	"slices"

	"github.com/wfs-dev/wfs/internal/source"
)

// Mutant is one small change of a file's behaviour.
type Mutant struct {
	Line     int
	Was, Now string
	Text     []byte // of the whole file
}

// swaps are operators and what stands in their places.
var swaps = opposites("== != === !== < >= > <= + - * / && || and or += -= true false True False")

// Mutants are at most so many changes of the chosen lines, spread over them, and one for each line: a number, an
// operator, a negation or a truth value. Messages and imports are left alone.
func Mutants(file string, src []byte, lines Lines, most int) []Mutant {
	_, toks := source.Read(file, src)
	var all []Mutant
	done := map[int]bool{}
	for i, t := range toks {
		if !lines[t.Line] || done[t.Line] || notRun(toks, t.Line) || spoken(toks, i) {
			continue
		}
		if now := mutated(src, toks, i); now != "" && now != t.Text {
			done[t.Line] = true
			all = append(all, Mutant{Line: t.Line, Was: t.Text, Now: now, Text: apply(src, []edit{{t.From, t.To, now}})})
		}
	}
	if len(all) <= most {
		return all
	}
	var some []Mutant
	for i := range most {
		some = append(some, all[i*len(all)/most])
	}
	return slices.Clip(some)
}

// mutated is what a token becomes, "" for one that stays.
func mutated(src []byte, toks tokens, i int) string {
	t := toks[i]
	switch {
	case t.Kind == source.Number:
		return plus(t.Text, 0)
	case toks.is(i, "!", "not"):
		return twice(toks, i)
	case toks.is(i, "<", ">") && !(blank(src, t.From-1) && blank(src, t.To)): // of a type's parameters
		return ""
	case toks.is(i, "*", "-", "+", "/") && !(blank(src, t.To) && calculates(toks, i)):
		return ""
	}
	return swaps[t.Text]
}

func blank(src []byte, at int) bool { return at >= 0 && at < len(src) && src[at] == ' ' }

// calculates reports whether an operator stands between two operands that are no texts: it is not a pointer,
// nor a sign.
func calculates(toks tokens, i int) bool {
	if i == 0 || i+1 >= len(toks) || toks[i+1].Kind == source.String {
		return false
	}
	before := toks[i-1]
	return (before.Kind != source.Punct || toks.is(i-1, ")", "]")) && before.Kind != source.String &&
		before.Text != "return"
}

// twice is a negation that is taken back, "" for what is none: a macro, an attribute and the type of what never returns
// in Rust, `not in` and `is not` in Python, an assertion in TypeScript and Kotlin, the first line of a script.
func twice(toks []source.Token, i int) string {
	before := ""
	if i > 0 {
		before = toks[i-1].Text
	}
	switch {
	case toks[i].Text == "not":
		if before == "is" || i+1 < len(toks) && toks[i+1].Text == "in" {
			return ""
		}
		return "not not"
	case i > 0 && toks[i-1].Kind != source.Punct && !slices.Contains([]string{"return", "if", "while", "case"}, before),
		slices.Contains([]string{")", "]", "#", "->", ">", "!"}, before), i+1 < len(toks) && toks[i+1].Text == "!":
		return ""
	}
	return "!!"
}

// spoken reports whether a token is in a call that only says something to people.
func spoken(toks []source.Token, i int) bool {
	for k := i; k >= 0 && toks[k].Line == toks[i].Line; k-- {
		switch toks[k].Text {
		case "log", "Log", "Logf", "Printf", "Println", "print", "println", "console", "logger", "logging", "warn", "debug",
			"info", "eprintln":
			return true
		}
	}
	return false
}
