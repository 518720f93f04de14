package experiment

import (
	"slices"

	"github.com/wfs-dev/wfs/internal/source"
)

// Mutant is a file with one small change of its behaviour.
type Mutant struct {
	Line     int
	Was, Now string
	Text     []byte // the whole content of the changed file
}

// swaps maps operators and booleans to the ones that replace them.
var swaps = opposites("== != === !== < >= > <= + - * / && || and or += -= true false True False")

// Mutants returns at most `most` mutants of a file. Each changes a number, an operator, a negation or a boolean on one
// of the chosen lines. The mutants are spread evenly over the chosen lines, at most one for each line. Log messages and
// imports are not changed.
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

// mutated returns the text that replaces the token at i, or "" if the token is not changed.
func mutated(src []byte, toks tokens, i int) string {
	t := toks[i]
	switch {
	case t.Kind == source.Number:
		return plus(t.Text, 0)
	case toks.is(i, "!", "not"):
		return twice(toks, i)
	case toks.is(i, "<", ">") && !(blank(src, t.From-1) && blank(src, t.To)): // type parameters
		return ""
	case toks.is(i, "*", "-", "+", "/") && !(blank(src, t.To) && calculates(toks, i)):
		return ""
	}
	return swaps[t.Text]
}

func blank(src []byte, at int) bool { return at >= 0 && at < len(src) && src[at] == ' ' }

// calculates reports whether the sign at i is an operator between two operands that are not strings. It is not if it
// marks a pointer, or is the sign of a number.
func calculates(toks tokens, i int) bool {
	if i == 0 || i+1 >= len(toks) || toks[i+1].Kind == source.String {
		return false
	}
	before := toks[i-1]
	return (before.Kind != source.Punct || toks.is(i-1, ")", "]")) && before.Kind != source.String &&
		before.Text != "return"
}

// twice returns the sign at i twice, as a double negation. It returns "" if the sign is no negation: in Rust it may
// belong to a macro, an attribute or the never type, in Python to `not in` or `is not`, in TypeScript and Kotlin to a
// non-null assertion, and in a script to the first line.
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

// spoken reports whether the token at i is in a call that only logs or prints.
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
