// Package source splits source code in a dozen languages into tokens with their positions. Tokens are enough to change
// a literal, to find the body of a function, or to compare names. It returns no errors: syntax that it does not know
// becomes punctuation.
package source

import (
	"path"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Kind is the type of a token.
type Kind uint8

const (
	Word    Kind = iota // a name or a keyword
	Number              // with its suffix, as in 10u32
	String              // with its quotes
	Punct               // an operator or a bracket
	Comment             // returned by WithComments only
)

// Token is a word, literal, operator or comment in a file. White space is no token.
type Token struct {
	Kind     Kind
	From, To int // byte offsets of its start and end
	Line     int // number of the line on which it begins, from 1
	Text     string
}

// Language describes the parts of a language's syntax that are needed to find tokens.
type Language struct {
	Name     string
	comments []string // signs that begin a comment up to the end of the line
	blocks   bool     // has /* … */ comments
	quotes   []quote  // kinds of quotes, longest first
	prefixes string   // letters that may stand before a quote, as in b"bytes"
	regexps  bool     // /…/ may be a regular expression
	Braces   bool     // blocks are in braces; if false, they are indented
	// single quotes enclose one character
	Chars bool
}

type quote struct {
	open, close string
	many, raw   bool // many: may span lines; raw: a backslash is not an escape
	template    bool // may contain ${…}
}

var (
	double = quote{open: `"`, close: `"`}
	single = quote{open: `'`, close: `'`}

	goLang = Language{Name: "go", comments: []string{"//"}, blocks: true, Braces: true, Chars: true,
		quotes: []quote{{open: "`", close: "`", many: true, raw: true}, double, single}}
	python = Language{Name: "python", comments: []string{"#"}, prefixes: "bfruBFRU",
		quotes: []quote{{open: `"""`, close: `"""`, many: true}, {open: "'''", close: "'''", many: true}, double, single}}
	script = Language{Name: "script", comments: []string{"//"}, blocks: true, Braces: true, regexps: true,
		quotes: []quote{{open: "`", close: "`", many: true, template: true}, double, single}}
	rust = Language{Name: "rust", comments: []string{"//"}, blocks: true, Braces: true, Chars: true, prefixes: "b",
		quotes: []quote{{open: `r#"`, close: `"#`, many: true, raw: true}, {open: `"`, close: `"`, many: true}, single}}
	java = Language{Name: "java", comments: []string{"//"}, blocks: true, Braces: true, Chars: true,
		quotes: []quote{{open: `"""`, close: `"""`, many: true}, double, single}}
	php = Language{Name: "php", comments: []string{"//", "#"}, blocks: true, Braces: true,
		quotes: []quote{{open: `"`, close: `"`, many: true}, {open: `'`, close: `'`, many: true}}}
	ruby = Language{Name: "ruby", comments: []string{"#"},
		quotes: []quote{{open: `"`, close: `"`, many: true}, {open: `'`, close: `'`, many: true}}}
)

var byExtension = map[string]*Language{
	".go": &goLang, ".py": &python, ".pyi": &python, ".rs": &rust, ".php": &php, ".rb": &ruby,
	".js": &script, ".mjs": &script, ".cjs": &script, ".jsx": &script, ".ts": &script, ".mts": &script, ".cts": &script,
	".tsx":  &script,
	".java": &java, ".kt": &java, ".kts": &java, ".groovy": &java, ".scala": &java, ".cs": &java,
}

// LanguageOf returns the language of a file, judged by its extension, or nil if this package does not know it.
func LanguageOf(file string) *Language { return byExtension[path.Ext(file)] }

// Read returns the language and the tokens of a file. If this package does not know the language, it returns an empty
// Language and no tokens.
func Read(file string, src []byte) (*Language, []Token) {
	if l := LanguageOf(file); l != nil {
		return l, l.Tokens(src)
	}
	return &Language{}, nil
}

// Tokens returns the tokens of source code in this language, without comments.
func (l *Language) Tokens(src []byte) []Token { return scan(&scanner{l: l, src: string(src), line: 1}) }

// WithComments returns the tokens and comments of a part of a file, which may be of any origin. After a multi-line
// string without an end, it finds no others of that kind, so that it takes no quadratic time.
func (l *Language) WithComments(src []byte) []Token {
	return scan(&scanner{l: l, src: string(src), line: 1, open: map[string]bool{}})
}

type scanner struct {
	l    *Language
	src  string
	at   int
	line int
	out  []Token
	open map[string]bool // for WithComments: the kinds of quotes that have no end in the rest of src
}

func scan(s *scanner) []Token {
	for s.at < len(s.src) {
		s.step()
	}
	return s.out
}

func (s *scanner) step() {
	switch c := s.src[s.at]; {
	case c == '\n':
		s.at, s.line = s.at+1, s.line+1
	case c <= ' ':
		s.at++
	case s.comment(), s.quoted(), s.regexp():
	case c >= '0' && c <= '9':
		s.take(Number, numberEnd(s.src[s.at:]))
	case isLetter(s.src[s.at:]):
		n := 0
		for n < len(s.src)-s.at && (isLetter(s.src[s.at+n:]) || isDigit(s.src[s.at+n])) {
			_, size := utf8.DecodeRuneInString(s.src[s.at+n:])
			n += size
		}
		s.take(Word, n)
	default:
		s.take(Punct, operatorLength(s.src[s.at:]))
	}
}

// take makes a token of the next n bytes.
func (s *scanner) take(k Kind, n int) {
	text := s.src[s.at : s.at+n]
	s.out = append(s.out, Token{Kind: k, From: s.at, To: s.at + n, Line: s.line, Text: text})
	s.at, s.line = s.at+n, s.line+strings.Count(text, "\n")
}

func (s *scanner) comment() bool {
	rest := s.src[s.at:]
	for _, mark := range s.l.comments {
		if strings.HasPrefix(rest, mark) && !(s.l.Name == "rust" && strings.HasPrefix(rest, "#")) {
			n := strings.IndexByte(rest, '\n')
			if n < 0 {
				n = len(rest)
			}
			s.pass(n)
			return true
		}
	}
	if s.l.blocks && strings.HasPrefix(rest, "/*") {
		n := strings.Index(rest[2:], "*/")
		if n < 0 {
			n = len(rest) - 4
		}
		s.pass(min(len(rest), max(0, n)+4))
		return true
	}
	return false
}

// pass goes on after a comment of n bytes.
func (s *scanner) pass(n int) {
	s.take(Comment, n)
	if s.open == nil {
		s.out = s.out[:len(s.out)-1]
	}
}

func (s *scanner) quoted() bool {
	rest := strings.TrimLeft(s.src[s.at:], s.l.prefixes)
	before := len(s.src) - s.at - len(rest)
	for _, q := range s.l.quotes {
		if !strings.HasPrefix(rest, q.open) || s.open[q.open] {
			continue
		}
		n := closing(rest, q)
		if n < 0 && q.many && s.open != nil {
			s.open[q.open] = true
		}
		if n < 0 || s.l.Name == "rust" && q.open == "'" && n > len(`'\u{10ffff}'`) ||
			s.l.Name == "rust" && q.open == "'" && isLifetime(rest) {
			continue
		}
		s.take(String, before+n)
		return true
	}
	return false
}

// isLifetime reports whether a single quote in Rust begins a lifetime (as in &'a str) and not a character (as in 'a').
func isLifetime(rest string) bool {
	_, size := utf8.DecodeRuneInString(rest[1:])
	return rest[1] != '\\' && !strings.HasPrefix(rest[1+size:], "'")
}

// closing returns the length of the string at the start of `rest`, including its quotes, or -1 if the string has no
// end.
func closing(rest string, q quote) int {
	for i := len(q.open); i < len(rest); i++ {
		switch {
		case strings.HasPrefix(rest[i:], q.close):
			return i + len(q.close)
		case rest[i] == '\\' && !q.raw:
			i++
		case rest[i] == '\n' && !q.many:
			return -1
		case q.template && strings.HasPrefix(rest[i:], "${"):
			i += braced(rest[i:])
		}
	}
	return -1
}

// braced returns the offset of the brace that closes the first brace of a text, or the text's length if none does.
func braced(text string) int {
	depth := 0
	for i := range len(text) {
		switch text[i] {
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return len(text)
}

// regexp makes a token of a regular expression, if one begins here. A slash begins one only where no operator may
// stand.
func (s *scanner) regexp() bool {
	if !s.l.regexps || s.src[s.at] != '/' {
		return false
	}
	last := len(s.out) - 1
	for last >= 0 && s.out[last].Kind == Comment {
		last--
	}
	if last >= 0 && endsOperand(s.out[last]) {
		return false
	}
	class := false
	for i := s.at + 1; i < len(s.src) && s.src[i] != '\n'; i++ {
		switch c := s.src[i]; {
		case c == '\\':
			i++
		case c == '[':
			class = true
		case c == ']':
			class = false
		case c == '/' && !class:
			flags := s.src[i+1:]
			n := len(flags) - len(strings.TrimLeft(flags, "abcdefghijklmnopqrstuvwxyz"))
			s.take(Punct, i+1+n-s.at) // of kind Punct, because it is not a value
			return true
		}
	}
	return false
}

// endsOperand reports whether a token ends an operand, so that an operator may follow but not another operand.
func endsOperand(t Token) bool {
	switch t.Kind {
	case Number, String:
		return true
	case Word:
		return t.Text != "return" && t.Text != "case" && t.Text != "typeof"
	}
	return t.Text == ")" || t.Text == "]" || t.Text == "}"
}

func numberEnd(s string) int {
	for i := 1; i < len(s); i++ {
		if c := s[i]; !isDigit(c) && !isLatin(c) && c != '_' && !isPoint(s, i) && !isSign(s, i) {
			return i
		}
	}
	return len(s)
}

// isPoint reports whether the byte at i of a number is its decimal point.
func isPoint(s string, i int) bool {
	return s[i] == '.' && i+1 < len(s) && isDigit(s[i+1]) && !strings.Contains(s[:i], ".")
}

// isSign reports whether the byte at i of a number is the sign of its exponent.
func isSign(s string, i int) bool {
	return (s[i] == '+' || s[i] == '-') && (s[i-1] == 'e' || s[i-1] == 'E') && !strings.HasPrefix(s, "0x")
}

// operators lists the operators of more than one character, longest first.
var operators = strings.Fields("=== !== ... **= <<= >>= == != <= >= && || => -> := += -= *= /= ++ -- :: ** ??")

func operatorLength(s string) int {
	for _, op := range operators {
		if strings.HasPrefix(s, op) {
			return len(op)
		}
	}
	_, size := utf8.DecodeRuneInString(s)
	return size
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func isLatin(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }

func isLetter(s string) bool {
	c, _ := utf8.DecodeRuneInString(s)
	return c == '_' || c == '$' || unicode.IsLetter(c)
}
