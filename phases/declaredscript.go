package phases

import (
	"slices"
	"strings"
	"unicode"
)

// scriptDeclarations finds the tests of a file in JavaScript or TypeScript. A test is the call, from its name to the bracket
// that closes it; one that is declared inside of it is no part of its text.
func scriptDeclarations(src string) []declaration {
	var out []declaration
	at := declaredRE().script.FindAllStringSubmatchIndex(src, -1)
	type call struct {
		end  int
		code string // behind the title, see scriptCode
		ok   bool   // it is closed
	}
	calls := make([]call, len(at))
	open := 0
	for i, m := range at {
		s := scriptCode{src: src, at: m[1]}
		if open < maxUnclosed {
			calls[i].ok = s.until(')', 0)
		}
		if calls[i].end, calls[i].code = s.at, s.code.String(); !calls[i].ok {
			open++
			calls[i].end = len(src)
			if i+1 < len(at) {
				calls[i].end = at[i+1][0]
			}
		}
	}
	for i, m := range at {
		name := ""
		for g := 4; g < len(m); g += 2 {
			if m[g] >= 0 {
				name = src[m[g]:m[g+1]]
			}
		}
		modifier := src[m[2]:m[3]]
		if strings.Contains(modifier, "skip") || strings.Contains(modifier, "todo") || strings.Contains(modifier, "describe") {
			continue
		}
		name = withWildcards(strings.NewReplacer(`\'`, `'`, `\"`, `"`, "\\`", "`", `\\`, `\`).Replace(name))
		if strings.HasPrefix(strings.TrimSpace(calls[i].code), "+") {
			name += "*"
		}
		if strings.Trim(name, "* ") == "" {
			continue
		}
		own, from := "", m[0]
		for j := i + 1; j < len(at) && at[j][0] < calls[i].end; j++ {
			if at[j][0] >= from {
				own += src[from:at[j][0]]
				from = min(calls[j].end, calls[i].end)
			}
		}
		own += src[from:calls[i].end]
		out = append(out, declaration{name: testName(name), body: laidOut(withoutComments(own, "//")), test: true,
			empty: calls[i].ok && emptyScript(calls[i].code)})
	}
	return out
}

// maxUnclosed is how many calls without an end are looked for in one file, to its end each.
const maxUnclosed = 20

// emptyScript reports whether a test with this code behind its title, up to the bracket that closes the call, has no
// function, or one that calls and throws nothing.
func emptyScript(code string) bool {
	code = strings.TrimSuffix(code, ")")
	var args []string // what follows each comma
	commas := append(outside(code, ","), len(code))
	for i, end := range commas[1:] {
		args = append(args, code[commas[i]+1:end])
	}
	for len(args) > 0 && strings.TrimSpace(args[len(args)-1]) == "" { // a comma at the end
		args = args[:len(args)-1]
	}
	idle := func(text string) bool { return !strings.Contains(text, "(") && !strings.Contains(text, "throw") }
	for _, arg := range args {
		arg = strings.TrimSpace(arg)
		if arrows := outside(arg, "=>"); len(arrows) > 0 { // the type of what is returned may have some, too
			body := strings.TrimSpace(arg[arrows[len(arrows)-1]+len("=>"):])
			if strings.HasPrefix(body, "{") {
				return idle(body)
			}
			return slices.Contains([]string{"", "undefined", "null", "true", "false", "void 0", "0", "1", "''", `""`, "({})", "[]"}, body)
		}
		if rest, ok := strings.CutPrefix(strings.TrimSpace(strings.TrimPrefix(arg, "async")), "function"); ok {
			s := scriptCode{src: rest, at: strings.IndexByte(rest, '(') + 1}
			return s.at > 0 && s.until(')', 0) && idle(rest[s.at:])
		}
	}
	return !slices.ContainsFunc(args, func(arg string) bool { return !strings.HasPrefix(strings.TrimSpace(arg), "{") }) // options alone
}

// outside finds a sign in code, where it is in no bracket.
func outside(code, sign string) (at []int) {
	depth := 0
	for i := range len(code) {
		switch c := code[i]; {
		case c == '(' || c == '[' || c == '{':
			depth++
		case c == ')' || c == ']' || c == '}':
			depth--
		case depth == 0 && strings.HasPrefix(code[i:], sign):
			at = append(at, i)
		}
	}
	return at
}

// scriptCode reads JavaScript. What it has read is in code: without comments, and without what is in strings, templates
// and regular expressions, but for what a template computes.
type scriptCode struct {
	src  string
	at   int
	code strings.Builder
}

// until reads up to the bracket that closes what is open, and reports whether it is there.
func (s *scriptCode) until(closing byte, depth int) bool {
	for s.at < len(s.src) && depth < 500 {
		c := s.src[s.at]
		s.at++
		switch {
		case c == closing:
			s.code.WriteByte(c)
			return true
		case c == ')' || c == ']' || c == '}':
			return false
		case c == '(' || c == '[' || c == '{':
			s.code.WriteByte(c)
			if !s.until(map[byte]byte{'(': ')', '[': ']', '{': '}'}[c], depth+1) {
				return false
			}
		case c == '`':
			if !s.template(depth) {
				return false
			}
		case c == '"' || c == '\'':
			s.code.WriteByte(c)
			if n := s.quoted(c); n > 0 { // else an apostrophe, as in JSX
				s.at += n
				s.code.WriteByte(c)
			}
		case c == '/' && s.has('/'):
			if n := strings.IndexByte(s.src[s.at:], '\n'); n >= 0 {
				s.at += n
			} else {
				s.at = len(s.src)
			}
		case c == '/' && s.has('*'):
			n := strings.Index(s.src[s.at+1:], "*/")
			if n < 0 {
				return false
			}
			s.at += n + 3
			s.code.WriteByte(' ')
		case c == '/' && s.operandDue():
			s.code.WriteString("//")
			s.at += s.regexp()
		default:
			s.code.WriteByte(c)
		}
	}
	return false
}

func (s *scriptCode) has(c byte) bool { return s.at < len(s.src) && s.src[s.at] == c }

// quoted is the length of the rest of a string that ends on its line, with its quote; 0 when it does not.
func (s *scriptCode) quoted(quote byte) int {
	for i := s.at; i < len(s.src) && s.src[i] != '\n'; i++ {
		switch s.src[i] {
		case '\\':
			i++
		case quote:
			return i + 1 - s.at
		}
	}
	return 0
}

func (s *scriptCode) template(depth int) bool {
	s.code.WriteByte('`')
	for s.at < len(s.src) {
		c := s.src[s.at]
		s.at++
		switch {
		case c == '\\':
			s.at++
		case c == '`':
			s.code.WriteByte('`')
			return true
		case c == '$' && s.has('{'):
			s.at++
			s.code.WriteByte('{')
			if !s.until('}', depth+1) {
				return false
			}
		}
	}
	return false
}

// regexp is the length of the rest of a regular expression, 0 when there is none on this line.
func (s *scriptCode) regexp() int {
	class := false
	for i := s.at; i < len(s.src) && s.src[i] != '\n'; i++ {
		switch c := s.src[i]; {
		case c == '\\':
			i++
		case c == '[':
			class = true
		case c == ']':
			class = false
		case c == '/' && !class:
			return i + 1 - s.at
		}
	}
	return 0
}

// operandDue reports whether a value may come next, so that a slash begins a regular expression and divides nothing.
func (s *scriptCode) operandDue() bool {
	before := strings.TrimRight(s.code.String(), " \t\r\n")
	if before == "" || strings.HasSuffix(before, "=>") {
		return true
	}
	if strings.IndexByte("(,=:[!&|?{;+-*%~^", before[len(before)-1]) >= 0 {
		return true
	}
	word := before[1+strings.LastIndexFunc(before, func(r rune) bool {
		return r != '_' && r != '$' && !unicode.IsLetter(r) && !unicode.IsDigit(r)
	}):]
	return slices.Contains(strings.Fields("return typeof case in of do else void delete throw new await yield instanceof"), word)
}
