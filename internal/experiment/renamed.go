package experiment

import (
	"maps"
	"path"
	"slices"

	"github.com/wfs-dev/wfs/internal/source"
)

// Files are texts by path.
type Files map[string][]byte

// Renamed reports whether two states of a project's tests differ in nothing but names: one old name for one new name
// throughout, files under other paths, and what is imported from where. Only names that the project declares itself, in
// its code or its tests, may change: others, such as those of assertions, say what a test asks. Layout and comments do not
// count.
func Renamed(testsBefore, testsAfter, codeBefore, codeAfter Files) bool {
	r := renaming{to: map[string]string{}, from: map[string]string{}, before: declared(testsBefore, codeBefore), after: declared(testsAfter, codeAfter)}
	var gone, came []string
	for _, name := range slices.Sorted(maps.Keys(testsBefore)) {
		if _, there := testsAfter[name]; !there {
			gone = append(gone, name)
		} else if !r.same(name, testsBefore[name], testsAfter[name]) {
			return false
		}
	}
	for _, name := range slices.Sorted(maps.Keys(testsAfter)) {
		if _, there := testsBefore[name]; !there {
			came = append(came, name)
		}
	}
	for _, old := range gone {
		at := slices.IndexFunc(came, func(name string) bool {
			return path.Ext(name) == path.Ext(old) && r.same(old, testsBefore[old], testsAfter[name])
		})
		if at < 0 {
			return false
		}
		came = slices.Delete(came, at, at+1)
	}
	return len(came) == 0
}

// renaming is what is known of old and new names.
type renaming struct {
	to, from      map[string]string
	before, after map[string]bool // names that the project declares
}

// same compares two texts, and takes over the names that it meets if they fit.
func (r *renaming) same(file string, before, after []byte) bool {
	l := source.LanguageOf(file)
	if l == nil {
		return string(before) == string(after)
	}
	a, b := withoutImports(l, before), withoutImports(l, after)
	if len(a) != len(b) {
		return false
	}
	to, from := maps.Clone(r.to), maps.Clone(r.from)
	for i := range a {
		x, y := a[i], b[i]
		switch {
		case x.Kind != y.Kind:
			return false
		case x.Kind != source.Word:
			if x.Text != y.Text {
				return false
			}
		case to[x.Text] == "" && from[y.Text] == "":
			if x.Text != y.Text && (!r.before[x.Text] || !r.after[y.Text]) {
				return false
			}
			to[x.Text], from[y.Text] = y.Text, x.Text
		case to[x.Text] != y.Text || from[y.Text] != x.Text:
			return false
		}
	}
	r.to, r.from = to, from
	return true
}

// withoutImports are the tokens of a text but for those of lines that import something.
func withoutImports(l *source.Language, src []byte) []source.Token {
	var out []source.Token
	toks := l.Tokens(src)
	for i := 0; i < len(toks); {
		end := i + 1
		for end < len(toks) && toks[end].Line == toks[i].Line {
			end++
		}
		if toks[i].Text != "@" && importing(toks, i) {
			for k := i; k < end; k++ { // over all lines of a list in brackets
				if t := toks[k].Text; t == "(" || t == "{" {
					end = max(end, closing(toks, k)+1)
				}
			}
		} else {
			out = append(out, toks[i:end]...)
		}
		i = end
	}
	return out
}

// importing reports whether the line that begins with a token imports something.
func importing(toks []source.Token, i int) bool {
	switch toks[i].Text {
	case "import", "from", "package", "use", "using", "mod":
		return true
	}
	return (toks[i].Text == "const" || toks[i].Text == "let" || toks[i].Text == "var") && notRun(toks, toks[i].Line)
}

// declares are words that stand before a name that they declare.
var declares = map[string]bool{
	"def": true, "func": true, "function": true, "fn": true, "class": true, "const": true, "let": true, "var": true, "struct": true, "type": true, "interface": true, "trait": true,
	"enum": true, "mod": true, "static": true, "val": true, "record": true, "module": true,
}

// noType are words before a name that are no type of what it declares.
var noType = map[string]bool{"return": true, "new": true, "else": true, "await": true, "in": true, "not": true, "and": true, "or": true, "if": true, "assert": true, "throw": true, "yield": true, "case": true, "is": true}

// declared are the names that files declare.
func declared(all ...Files) map[string]bool {
	names := map[string]bool{}
	for _, files := range all {
		for name, src := range files {
			l := source.LanguageOf(name)
			if l == nil {
				continue
			}
			toks := l.Tokens(src)
			for i, t := range toks {
				if t.Kind != source.Word {
					continue
				}
				before, after := "", ""
				if i > 0 {
					before = toks[i-1].Text
				}
				if i+1 < len(toks) {
					after = toks[i+1].Text
				}
				method := l.Name == "go" && before == ")" && after == "(" || l.Name == "java" && i > 0 && toks[i-1].Kind == source.Word && !noType[before] && after == "("
				field := l.Braces && (after == ":" || l.Name == "script" && after == "(" && (before == "}" || before == "{" || before == "async"))
				if declares[before] || after == "=" || after == ":=" || after == "," && before == "," || method || field {
					names[t.Text] = true
				}
			}
		}
	}
	return names
}
