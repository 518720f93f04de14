package tamper

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// kind of a token.
type kind uint8

const (
	ident kind = iota
	number
	text // a string, template or regular expression, without its quotes
	punct
	newline // only where the language ends statements with lines
)

// token is one word of a source file. Comments and layout are not among them.
type token struct {
	kind kind
	text string
	line int
	col  int  // bytes before it in its line, tabs count as one
	lead bool // the first of its line
}

// scan splits a source file into tokens. It never fails: what it does not understand becomes punctuation.
func scan(l *language, src []byte) []token {
	s := scanner{l: l, src: string(src), line: 1}
	s.run()
	return s.out
}

type scanner struct {
	l         *language
	src       string
	at        int
	line      int
	lineStart int
	depth     int
	out       []token
	lead      bool

	outputEnds int // the last line of what an example must print
}

func (s *scanner) run() {
	s.lead = true
	for s.at < len(s.src) {
		c := s.src[s.at]
		switch {
		case c == '\n':
			if s.l.lines && s.depth == 0 && len(s.out) > 0 && s.out[len(s.out)-1].kind != newline {
				s.add(newline, "", s.at)
			}
			s.at++
			s.newLine()
		case c == '\\' && strings.HasPrefix(s.src[s.at+1:], "\n"):
			s.at += 2
			s.newLine()
			s.lead = false
		case c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == 0:
			s.at++
		case s.comment():
		case s.quoted():
		case c >= '0' && c <= '9', c == '.' && isDigit(s.src[s.at+1:]) && (s.at == 0 || s.src[s.at-1] != '.') && s.operandDue():
			s.number()
		case isLetter(s.src[s.at:]):
			s.word()
		default:
			s.punct()
		}
	}
}

func (s *scanner) newLine() { s.line, s.lineStart, s.lead = s.line+1, s.at, true }

func (s *scanner) add(k kind, word string, from int) {
	s.out = append(s.out, token{kind: k, text: word, line: s.line, col: from - s.lineStart, lead: s.lead})
	s.lead = false
}

// comment skips one, and reports whether there was one.
func (s *scanner) comment() bool {
	rest := s.src[s.at:]
	for _, mark := range s.l.comments {
		if strings.HasPrefix(rest, mark) {
			n := strings.IndexByte(rest, '\n')
			if n < 0 {
				n = len(rest)
			}
			if s.l.name == "go" {
				s.output(rest[:n])
			}
			s.at += n
			return true
		}
	}
	for _, pair := range s.l.blocks {
		if strings.HasPrefix(rest, pair[0]) {
			n := strings.Index(rest[len(pair[0]):], pair[1])
			if n < 0 {
				n = len(rest) - len(pair[0]) - len(pair[1])
			}
			end := min(len(s.src), s.at+len(pair[0])+max(0, n)+len(pair[1]))
			s.skip(end)
			return true
		}
	}
	return false
}

// skip goes to an offset and counts the lines between.
func (s *scanner) skip(end int) {
	for ; s.at < end; s.at++ {
		if s.src[s.at] == '\n' {
			s.line, s.lineStart = s.line+1, s.at+1
		}
	}
}

// quoted takes a string, template or regular expression.
func (s *scanner) quoted() bool {
	rest := s.src[s.at:]
	for _, q := range s.l.quotes {
		open := q.open
		at := 0
		if q.prefixes != "" { // r"…", f'…', b"""…"""
			for at < len(rest) && at < 3 && strings.IndexByte(q.prefixes, rest[at]) >= 0 {
				at++
			}
			if at > 0 && (!strings.HasPrefix(rest[at:], open) || s.at > 0 && isLetter(s.src[s.at-1:])) {
				at = 0
			}
		}
		if !strings.HasPrefix(rest[at:], open) {
			continue
		}
		end := closing(rest, at+len(open), q)
		if end < 0 {
			continue
		}
		line, col := s.line, s.at-s.lineStart
		word := unescape(rest[at+len(open):end], q)
		if n := len(s.out); q.template && n > 0 && s.out[n-1].kind == ident && s.out[n-1].text == "each" {
			word = plainTable(word)
		}
		if n := len(s.out); n > 0 && s.out[n-1].kind == text && s.l.name == "python" { // "one " "text"
			s.out[n-1].text += word
		} else {
			s.out = append(s.out, token{kind: text, text: word, line: line, col: col, lead: s.lead})
		}
		s.lead = false
		s.skip(s.at + end + len(q.close))
		return true
	}
	if s.l.regexps && rest[0] == '/' && s.operandDue() {
		if end := regexpEnd(rest); end > 0 {
			s.add(text, rest[:end], s.at)
			s.at += end
			return true
		}
	}
	return false
}

// unescape makes the same text in other quotes the same: formatters change those.
func unescape(word string, q quote) string {
	if q.raw || !strings.Contains(word, `\`) {
		return word
	}
	return strings.NewReplacer(`\'`, `'`, `\"`, `"`, "\\`", "`").Replace(word)
}

// plainTable makes the same table of a tagged template the same: formatters align its columns and change its quotes.
func plainTable(word string) string {
	var b strings.Builder
	var quote rune
	space := false
	for _, c := range word {
		switch {
		case quote == 0 && unicode.IsSpace(c):
			space = true
			continue
		case quote == 0 && (c == '"' || c == '\''):
			quote, c = c, '\''
		case quote != 0 && c == quote:
			quote, c = 0, '\''
		}
		if space && b.Len() > 0 {
			b.WriteByte(' ')
		}
		space = false
		b.WriteRune(c)
	}
	return b.String()
}

// closing is the offset of what closes a string that is open at an offset, -1 if nothing does.
func closing(src string, at int, q quote) int {
	for i := at; i < len(src); i++ {
		switch {
		case src[i] == '\\' && !q.raw:
			i++
		case strings.HasPrefix(src[i:], q.close):
			return i
		case src[i] == '\n' && !q.many:
			return -1
		case q.template && strings.HasPrefix(src[i:], "${"):
			depth := 0
			for ; i < len(src); i++ {
				if src[i] == '{' {
					depth++
				} else if src[i] == '}' {
					if depth--; depth == 0 {
						break
					}
				}
			}
		}
	}
	return -1
}

// operandDue reports whether a slash begins a regular expression and does not divide.
func (s *scanner) operandDue() bool {
	if len(s.out) == 0 {
		return true
	}
	switch last := s.out[len(s.out)-1]; last.kind {
	case number, text:
		return false
	case ident:
		return last.text == "return" || last.text == "case" || last.text == "typeof"
	case punct:
		return last.text != ")" && last.text != "]" && last.text != "}"
	}
	return true
}

func regexpEnd(src string) int {
	class := false
	for i := 1; i < len(src) && src[i] != '\n'; i++ {
		switch src[i] {
		case '\\':
			i++
		case '[':
			class = true
		case ']':
			class = false
		case '/':
			if class {
				continue
			}
			for i++; i < len(src) && src[i] >= 'a' && src[i] <= 'z'; i++ {
			}
			return i
		}
	}
	return 0
}

func (s *scanner) number() {
	from := s.at
	if s.src[s.at] == '.' {
		s.at++
	}
	for s.at < len(s.src) {
		c := s.src[s.at]
		if !(c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || c == '.' && s.at+1 < len(s.src) && s.src[s.at+1] >= '0' && s.src[s.at+1] <= '9') {
			break
		}
		s.at++
	}
	word := plainNumber(strings.ReplaceAll(s.src[from:s.at], "_", ""))
	if n := len(s.out); n > 0 && s.out[n-1].kind == punct && s.out[n-1].text == "-" && signDue(s.out[:n-1]) {
		s.out[n-1].kind, s.out[n-1].text = number, "-"+word
		return
	}
	s.add(number, word, from)
}

func isDigit(src string) bool { return src != "" && src[0] >= '0' && src[0] <= '9' }

// plainNumber makes the same number in other spellings the same: formatters change those.
func plainNumber(word string) string {
	word = strings.ToLower(word)
	if strings.HasPrefix(word, ".") {
		word = "0" + word
	}
	whole, part, ok := strings.Cut(word, ".")
	if ok && whole != "" && part != "" && strings.Trim(whole+part, "0123456789") == "" { // no version, and no other base
		word = whole + "." + part[:1] + strings.TrimRight(part[1:], "0")
	}
	return word
}

// signDue reports whether a minus after these tokens belongs to the number that follows.
func signDue(before []token) bool {
	if len(before) == 0 {
		return true
	}
	last := before[len(before)-1]
	return last.kind == newline || last.kind == punct && last.text != ")" && last.text != "]" && last.text != "}" || last.kind == ident && last.text == "return"
}

func (s *scanner) word() {
	from := s.at
	for s.at < len(s.src) && (isLetter(s.src[s.at:]) || s.src[s.at] >= '0' && s.src[s.at] <= '9' || s.at == from) {
		_, n := utf8.DecodeRuneInString(s.src[s.at:])
		s.at += n
	}
	if s.l.bang && s.at < len(s.src) && (s.src[s.at] == '?' || s.src[s.at] == '!') && !strings.HasPrefix(s.src[s.at+1:], "=") { // empty?
		s.at++
	}
	s.add(ident, s.src[from:s.at], from)
}

func isLetter(src string) bool {
	c := src[0]
	if c < utf8.RuneSelf {
		return c == '_' || c == '$' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
	}
	r, _ := utf8.DecodeRuneInString(src)
	return unicode.IsLetter(r)
}

// operators are those of more than one character, longest first.
var operators = [...]string{"===", "!==", "...", "<=>", "**=", "==", "!=", "<=", ">=", "&&", "||", "=>", "->", "::", ":=", "??", "?.", "+=", "-=", "*=", "/=", "=~", "!~", "++", "--", "<-"}

func (s *scanner) punct() {
	for _, op := range operators {
		if strings.HasPrefix(s.src[s.at:], op) {
			s.add(punct, op, s.at)
			s.at += len(op)
			return
		}
	}
	_, n := utf8.DecodeRuneInString(s.src[s.at:])
	c := s.src[s.at : s.at+n]
	s.add(punct, c, s.at)
	s.at += n
	switch c {
	case "(", "[":
		s.depth++
	case "{":
		if !s.l.blocksByBrace {
			s.depth++
		}
	case ")", "]":
		s.depth = max(0, s.depth-1)
	case "}":
		if !s.l.blocksByBrace {
			s.depth = max(0, s.depth-1)
		}
	}
}
