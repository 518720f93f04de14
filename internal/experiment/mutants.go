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
		now := ""
		switch {
		case t.Kind == source.Number:
			now = plus(t.Text, 0)
		case t.Text == "<" || t.Text == ">": // not of a type's parameters
			if i > 0 && i+1 < len(toks) && src[t.From-1] == ' ' && t.To < len(src) && src[t.To] == ' ' {
				now = swaps[t.Text]
			}
		case t.Text == "*" || t.Text == "-" || t.Text == "+" || t.Text == "/": // not a pointer, nor a sign
			if i > 0 && (toks[i-1].Kind != source.Punct || toks[i-1].Text == ")" || toks[i-1].Text == "]") && i+1 < len(toks) &&
				toks[i+1].Kind != source.String && toks[i-1].Kind != source.String &&
				t.To < len(src) && src[t.To] == ' ' && toks[i-1].Text != "return" {
				now = swaps[t.Text]
			}
		case t.Text == "!" || t.Text == "not":
			now = twice(toks, i)
		default:
			now = swaps[t.Text]
		}
		if now != "" && now != t.Text {
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
