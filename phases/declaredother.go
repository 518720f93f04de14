package phases

import (
	"regexp"
	"strings"
)

// Declarations in languages whose tests are marked (Rust, the JVM, .NET, PHP), in Ruby, and in what is left. They know how
// tests are usually written.

// Patterns of a test's mark and name; the first group that is not empty is the name.
const (
	rustTest = `#\[\s*(?:\w+::)*(?:test|rstest|test_case|quickcheck)\b[^\n]*\]\s*(?:#\[[^\n]*\]\s*|//[^\n]*\n\s*)*(?:pub(?:\([^)]*\))?\s+)?(?:async\s+)?(?:unsafe\s+)?fn\s+(\w+)`

	// A macro that makes tests, and what a call of it names: t!(adds: 1 => 2), tests! { adds: 1, subtracts: 2 }.
	rustMacro = `macro_rules!\s*(\w+)\s*[({]`
	rustMakes = `#\[\s*(?:\w+::)*test\b[^\n]*\]\s*(?:#\[[^\n]*\]\s*)*(?:async\s+)?fn\s+\$\w+`
	rustNamed = `(?:^\s*|[,;]\s*)(?:#\[[^\]]*\]\s*|//[^\n]*\n\s*)*([a-zA-Z_]\w*)\s*(?:=>|:(?:[^:]|$)|,|;|$)`

	jvmArguments = `(?:\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\))?`
	jvmTest      = `@(?:\w+\.)*(?:Test|ParameterizedTest|RepeatedTest|TestFactory|TestTemplate|Property)\b` + jvmArguments +
		`(?:\s*@[\w.]+` + jvmArguments + `|\s*//[^\n]*\n)*\s*(?:(?:public|private|protected|internal|static|final|open|suspend|override)\s+)*` +
		"(?:<[^>]*>\\s*)?(?:[\\w.<>\\[\\]?]+\\s+)?(?:(\\w+)|`([^`\n]+)`)\\s*\\(" + `|\bdef\s+"([^"\n]+)"\s*\(`

	dotnetTest = `\[(?:\w+\.)*(?:Fact|Theory|Test|TestCase|TestMethod|DataTestMethod|Property)\b[^\n]*\]\s*(?:\[[^\n]*\]\s*|//[^\n]*\n\s*)*` +
		"(?:(?:public|private|protected|internal|static|async|override|virtual|member|let|Public|Async|Sub|Function)\\s+)*(?:\\w+\\.)?(?:[\\w.<>]+\\s+)??(?:(\\w+)|``([^`\n]+)``)\\s*\\("

	phpTest = `(?:#\[[\\\w]*Test\]|@test\b)[^{;]*?function\s+(\w+)\s*\(|\bfunction\s+(test\w*)\s*\(`

	rubyTest = `(?m)^([ \t]*)(?:def[ \t]+(test_\w+[?!]?)|(?:it|specify|example|scenario|should)[ \t]*\(?[ \t]*(?:'((?:[^'\\\n]|\\.)*)'|"((?:[^"\\\n]|\\.)*)")|test[ \t]*\(?[ \t]*(?:'((?:[^'\\\n]|\\.)*)'|"((?:[^"\\\n]|\\.)*)"))`

	otherTest = `\b(?:void|fn|def|fun|func|function|sub|Task)\s+(\w*[Tt]est\w*|should\w*|it_\w+)\s*\(|@test\s+(?:"([^"\n]+)"|'([^'\n]+)')`
)

// displayRE finds the name that a test is shown by, where its mark says one.
const displayName = `@DisplayName\(\s*"([^"\n]+)"|\b(?:DisplayName|TestName)\s*=\s*"([^"\n]+)"`

func markedDeclarations(src string, mark *regexp.Regexp) []declaration {
	var out []declaration
	at := mark.FindAllStringSubmatchIndex(src, -1)
	for i, m := range at {
		next := len(src)
		if i+1 < len(at) {
			next = at[i+1][0]
		}
		end := m[1] + braceBlock(src[m[1]:next])
		body := withoutComments(src[m[0]:end], "//")
		d := declaration{name: testName(firstGroup(src, m)), body: laidOut(body), test: true}
		if a := declaredRE().display.FindStringSubmatchIndex(src[m[0]:m[1]]); a != nil {
			d.alias = testName(firstGroup(src[m[0]:m[1]], a))
		}
		if _, inner, ok := strings.Cut(withoutComments(src[m[1]:end], "//"), "{"); ok {
			d.empty = idle(inner)
		}
		out = append(out, d)
	}
	return out
}

// rustDeclarations finds the tests that are marked, and those that a macro of the same file makes.
func rustDeclarations(src string) []declaration {
	out := markedDeclarations(src, declaredRE().rust)
	for _, m := range declaredRE().rustMacro.FindAllStringSubmatchIndex(src, -1) {
		end := m[1] - 1 + braceBlock(src[m[1]-1:])
		if declaredRE().rustMakes.MatchString(src[m[0]:end]) {
			out = append(out, macroTests(src[:m[0]], src[m[2]:m[3]])...)
			out = append(out, macroTests(src[end:], src[m[2]:m[3]])...)
		}
	}
	return out
}

// macroTests are the tests that calls of a macro make. The first name in a call is one, and each that has a colon or an arrow
// behind it.
func macroTests(src, macro string) []declaration {
	var out []declaration
	call := macro + "!"
	for {
		_, rest, ok := strings.Cut(src, call)
		if !ok {
			return out
		}
		before := len(src) - len(rest) - len(call)
		line := src[strings.LastIndexByte(src[:before], '\n')+1 : before]
		within := strings.Contains(line, "//") || line != "" && isWord(line[len(line)-1:])
		src = rest
		rest = strings.TrimLeft(rest, " \t\r\n")
		if within || rest == "" || !strings.ContainsRune("({[", rune(rest[0])) {
			continue
		}
		rest = rest[1:]
		flat := shallow(rest)
		var at [][]int
		for i, m := range declaredRE().rustNamed.FindAllStringSubmatchIndex(flat, -1) {
			behind := strings.TrimLeft(flat[m[3]:], " \t\r\n")
			if i == 0 && strings.TrimSpace(flat[:m[0]]) == "" || strings.HasPrefix(behind, ":") || strings.HasPrefix(behind, "=>") {
				at = append(at, m)
			}
		}
		for i, m := range at {
			end := len(flat)
			if i+1 < len(at) {
				end = at[i+1][2]
			}
			body := laidOut(withoutComments(rest[m[2]:end], "//"))
			out = append(out, declaration{name: testName(rest[m[2]:m[3]]), body: body, test: true})
		}
	}
}

// shallow is what stands before the closing bracket of the one that was opened before src, with blanks for strings, for
// comments, and for what is in brackets again.
func shallow(src string) string {
	out := []byte(src)
	depth := 0
	for i := 0; i < len(src); i++ {
		from := i
		switch c := src[i]; {
		case strings.IndexByte("([{", c) >= 0:
			depth++
		case strings.IndexByte(")]}", c) >= 0:
			if depth--; depth < 0 {
				return string(out[:i])
			}
		case c == '"':
			i += quoted(src[i:])
		case strings.HasPrefix(src[i:], "//"):
			i += max(0, strings.IndexByte(src[i:], '\n')-1)
		case depth == 0:
			continue
		}
		for j := from; j <= i; j++ {
			if out[j] != '\n' {
				out[j] = ' '
			}
		}
	}
	return string(out)
}

// idle reports whether a test's text has nothing in it that could fail.
func idle(body string) bool {
	for _, word := range []string{"(", "assert", "throw", "should", "raise", "expect", "must", "refute", "flunk", "panic"} {
		if strings.Contains(body, word) {
			return false
		}
	}
	return true
}

func firstGroup(src string, m []int) string {
	for g := 2; g < len(m); g += 2 {
		if m[g] >= 0 {
			return src[m[g]:m[g+1]]
		}
	}
	return ""
}

// braceBlock is the length of what comes before a block in braces and of the block, or of everything without one.
func braceBlock(src string) int {
	depth := 0
	for i := 0; i < len(src); i++ {
		switch c := src[i]; c {
		case '{':
			depth++
		case '}':
			if depth--; depth <= 0 {
				return i + 1
			}
		case '"':
			i += quoted(src[i:])
		case '\'':
			if i+2 < len(src) && src[i+2] == '\'' { // a character: in Rust, 'a may be a lifetime
				i += 2
			} else if i+3 < len(src) && src[i+1] == '\\' && src[i+3] == '\'' {
				i += 3
			}
		case '/':
			if strings.HasPrefix(src[i:], "//") {
				if n := strings.IndexByte(src[i:], '\n'); n > 0 {
					i += n
				}
			}
		}
	}
	return len(src)
}

// quoted is the offset of the end of the string literal that a text begins with, 0 if it has none.
func quoted(src string) int {
	for i := 1; i < len(src) && src[i] != '\n'; i++ {
		switch src[i] {
		case '\\':
			i++
		case '"':
			return i
		}
	}
	return 0
}

func rubyDeclarations(src string) []declaration {
	var out []declaration
	at := declaredRE().ruby.FindAllStringSubmatchIndex(src, -1)
	for i, m := range at {
		next := len(src)
		if i+1 < len(at) {
			next = at[i+1][0]
		}
		name := firstGroup(src, m[2:]) // the first group is the indentation
		if m[10] >= 0 || m[12] >= 0 {  // test "adds two" makes the method test_adds_two
			name = "test_" + strings.Join(strings.Fields(name), "_")
		}
		body := withoutComments(src[m[0]:m[1]+rubyBlock(src[m[1]:next], src[m[2]:m[3]])], "#")
		d := declaration{name: testName(strings.NewReplacer(`\'`, `'`, `\"`, `"`).Replace(name)), body: laidOut(body), test: true}
		inner := body[min(len(body), m[1]-m[0]):]
		d.empty = idle(inner) && !strings.Contains(inner, ".")
		out = append(out, d)
	}
	return out
}

// rubyBlock is the length of a definition's rest: to the `end` that is indented as it is.
func rubyBlock(src, indent string) int {
	at := 0
	for line := range strings.Lines(src) {
		text := strings.TrimRight(line, " \t\r\n")
		first := at == 0
		at += len(line)
		if first && (strings.HasSuffix(text, " end") || strings.HasSuffix(text, "}")) ||
			!first && (text == indent+"end" || strings.HasPrefix(text, indent+"end)") || text == indent+"}") {
			return at
		}
	}
	return len(src)
}

func otherDeclarations(src string) []declaration {
	var out []declaration
	at := declaredRE().other.FindAllStringSubmatchIndex(src, -1)
	for i, m := range at {
		end := len(src)
		if i+1 < len(at) {
			end = at[i+1][0]
		}
		out = append(out, declaration{name: testName(firstGroup(src, m)), body: laidOut(src[m[0]:end]), test: true})
	}
	return out
}
