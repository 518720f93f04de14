package experiment

import (
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/internal/lazyregexp"
	"github.com/wfs-dev/wfs/internal/source"
)

// Files maps the paths of files to their contents.
type Files map[string][]byte

// Renamed reports whether two versions of a project's tests differ only in names, file paths and imports. An old name
// must have the same new name everywhere. Only names that the project itself declares, in its code or its tests, may
// differ. Other names may not, such as those of assertions, because they decide how strict a test is. Comments and
// white space do not count.
func Renamed(testsBefore, testsAfter, codeBefore, codeAfter Files) bool {
	r := renaming{to: map[string]string{}, from: map[string]string{}, before: declared(testsBefore, codeBefore),
		after: declared(testsAfter, codeAfter)}
	r.files(codeBefore, codeAfter)
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

// renaming maps old names to new names, and new names to old names.
type renaming struct {
	to, from      map[string]string
	before, after map[string]bool // names that the project declares in each version, and the stems of moved files
}

// qualifier is added to a name that is before a dot, because a module may have the same name as one of its functions.
const qualifier = "."

// files adds the names of modules whose files were moved: the file names, without extension, of removed and of added
// files.
func (r *renaming) files(before, after Files) {
	for name := range before {
		if _, stays := after[name]; !stays {
			r.before[stem(name)+qualifier] = true
		}
	}
	for name := range after {
		if _, was := before[name]; !was {
			r.after[stem(name)+qualifier] = true
		}
	}
}

func stem(name string) string { return strings.TrimSuffix(path.Base(name), path.Ext(name)) }

// same reports whether two versions of a file differ only in names. If they do, it adds the names to the renaming.
func (r *renaming) same(file string, before, after []byte) bool {
	l := source.LanguageOf(file)
	if l == nil {
		return string(before) == string(after)
	}
	a, b := withoutImports(l, before), withoutImports(l, after)
	if len(a) != len(b) {
		return false
	}
	next := renaming{maps.Clone(r.to), maps.Clone(r.from), r.before, r.after}
	for i := range a {
		mark := ""
		if tokens(a).is(i+1, ".") && !tokens(a).is(i-1, ".") {
			mark = qualifier
		}
		if !next.fits(a[i], b[i], mark) {
			return false
		}
	}
	r.to, r.from = next.to, next.from
	return true
}

// fits reports whether token y may be token x with names replaced.
func (r *renaming) fits(x, y source.Token, mark string) bool {
	switch {
	case x.Kind != y.Kind:
		return false
	case x.Kind == source.Word:
		return r.takes(x.Text, y.Text, mark)
	case x.Kind == source.String:
		return r.texts(x.Text, y.Text)
	}
	return x.Text == y.Text
}

// takes reports whether name y may replace name x, and adds the pair to the renaming.
func (r *renaming) takes(x, y, mark string) bool {
	switch {
	case r.to[x+mark] == "" && r.from[y+mark] == "":
		if x != y && (!r.before[x+mark] && !r.before[x] || !r.after[y+mark] && !r.after[y]) {
			return false
		}
		r.to[x+mark], r.from[y+mark] = y, x
		return true
	}
	return r.to[x+mark] == y && r.from[y+mark] == x
}

var wordRE = lazyregexp.New(`[\p{L}_][\p{L}\p{N}_]*`)

// texts reports whether two strings, such as messages and titles of tests, differ only in names.
func (r *renaming) texts(x, y string) bool {
	if x == y {
		return true
	}
	if wordRE.ReplaceAllString(x, "") != wordRE.ReplaceAllString(y, "") {
		return false
	}
	a, b := wordRE.FindAllString(x, -1), wordRE.FindAllString(y, -1)
	for i := range a {
		if a[i] != b[i] && !r.takes(a[i], b[i], "") {
			return false
		}
	}
	return true
}

// withoutImports returns the tokens of a file, without the lines that import something.
func withoutImports(l *source.Language, src []byte) []source.Token {
	var out []source.Token
	toks := l.Tokens(src)
	for i := 0; i < len(toks); {
		end := i + 1
		for end < len(toks) && toks[end].Line == toks[i].Line {
			end++
		}
		if toks[i].Text != "@" && importing(toks, i) {
			for k := i; k < end; k++ { // an import with a list in brackets has several lines
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

// importing reports whether the line that begins with the token at i is an import.
func importing(toks []source.Token, i int) bool {
	switch toks[i].Text {
	case "import", "from", "package", "use", "using", "mod":
		return true
	}
	return (toks[i].Text == "const" || toks[i].Text == "let" || toks[i].Text == "var") && notRun(toks, toks[i].Line)
}

// declares are the keywords after which a name is declared.
var declares = wordSet(`
	def func function fn class const let var struct type interface trait enum mod static val record module`)

// noType are words that may stand before a name, but are not the type in a declaration.
var noType = wordSet("return new else await in not and or if assert throw yield case is")

// declared returns the names that the files declare.
func declared(all ...Files) map[string]bool {
	names := map[string]bool{}
	for _, files := range all {
		for name, src := range files {
			maps.Copy(names, declaredIn(source.Read(name, src)))
		}
	}
	return names
}

func declaredIn(l *source.Language, toks tokens) map[string]bool {
	names := map[string]bool{}
	for i, t := range toks {
		if t.Kind == source.Word && (declares[toks.text(i-1)] || toks.is(i+1, "=", ":=") ||
			toks.text(i-1) == "," && toks.text(i+1) == "," || isMethod(l, toks, i) || isField(l, toks, i)) {
			names[t.Text] = true
		}
	}
	return names
}

// isMethod reports whether the word at i may be the name of a declared method, judged by the tokens next to it.
func isMethod(l *source.Language, toks tokens, i int) bool {
	if !toks.is(i+1, "(") || i == 0 {
		return false
	}
	return l.Name == "go" && toks.is(i-1, ")") ||
		l.Name == "java" && toks[i-1].Kind == source.Word && !noType[toks[i-1].Text]
}

// isField reports whether the word at i may be the name of a declared field, or of a method in a JavaScript class.
func isField(l *source.Language, toks tokens, i int) bool {
	return l.Braces && (toks.is(i+1, ":") || l.Name == "script" && toks.is(i+1, "(") && toks.is(i-1, "}", "{", "async"))
}
