package phases

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/wfs-dev/wfs/session"
)

// Honest work renames tests and the files that they are in. A test that is gone counts as renamed when a new one has the
// very same text.

// renamed pairs tests that are gone with those that they have become. gone are tests that the lap began with, or that it
// is about.
func (l *lap) renamed() map[session.TestID]session.TestID {
	if l.renames != nil {
		return l.renames
	}
	l.renames = map[session.TestID]session.TestID{}
	var gone, fresh []session.TestID
	for _, id := range slices.Compact(slices.Sorted(slices.Values(append(sortedKeys(l.start), l.targets...)))) {
		if _, ran := l.now.tests[id]; !ran && !l.about().ranBelow[id] && id != gateID(l.gate) && (l.start[id] == session.TestPass || l.about().isTarget[id]) {
			gone = append(gone, id)
		}
	}
	for _, name := range l.expected {
		if len(l.expectedAs(name)) == 0 {
			gone = append(gone, session.TestID(name))
		}
	}
	if len(gone) == 0 {
		return l.renames
	}
	for _, id := range sortedKeys(l.now.tests) {
		if _, had := l.start[id]; !had && !l.known[id] && !l.about().isTarget[id] && id != gateID(l.gate) {
			fresh = append(fresh, id)
		}
	}
	files := l.files.testFiles()
	now := newDeclIndex(files, func(f *changedFile) []declaration { return f.decls })
	before := newDeclIndex(files, func(f *changedFile) []declaration { return slices.Concat(f.visitDecls, f.oldDecls) })
	taken := map[session.TestID]bool{}
	for _, same := range []bool{true, false} { // those that kept their own name first
		byText := map[string][]session.TestID{}
		for _, id := range fresh {
			if taken[id] {
				continue
			}
			texts, declared := now.texts(id, same)
			if !declared && same {
				texts = []string{nameAlone(id)}
			}
			for _, text := range texts {
				byText[text] = append(byText[text], id)
			}
		}
		for _, id := range gone {
			if l.renames[id] != "" {
				continue
			}
			texts, declared := before.texts(id, same)
			if !declared && same && !mentionedBefore(files, leaf(id)) {
				texts = []string{nameAlone(id)}
			}
			for _, text := range texts {
				free := byText[text]
				for len(free) > 0 && taken[free[0]] {
					free = free[1:]
				}
				if byText[text] = free; len(free) > 0 {
					l.renames[id], taken[free[0]] = free[0], true
					break
				}
			}
		}
	}
	l.renameAlong(gone, fresh, now, before, taken)
	l.renamedIDs = taken
	return l.renames
}

// mentionedBefore reports whether a changed file may have declared a test in a way that is not understood: then its name
// alone does not say that it is the same.
func mentionedBefore(files []*changedFile, name string) bool {
	return slices.ContainsFunc(files, func(f *changedFile) bool { return bytes.Contains(f.before, []byte(name)) })
}

// renamedTo reports whether a test is an older one under a new name.
func (l *lap) renamedTo(id session.TestID) bool {
	l.renamed()
	return l.renamedIDs[id]
}

// declIndex finds the declarations of a test among many.
type declIndex struct {
	byName map[string][]declaration // also by the name that is shown
	holes  []declaration            // with wildcards
}

func newDeclIndex(files []*changedFile, decls func(*changedFile) []declaration) *declIndex {
	x := &declIndex{byName: map[string][]declaration{}}
	for _, f := range files {
		for _, d := range decls(f) {
			switch {
			case !d.test:
			case strings.Contains(d.name, "*"):
				x.holes = append(x.holes, d)
			default:
				x.byName[d.name] = append(x.byName[d.name], d)
				if d.alias != "" {
					x.byName[d.alias] = append(x.byName[d.alias], d)
				}
			}
		}
	}
	return x
}

// of lists what may declare a test, in the sense of declares.
func (x *declIndex) of(id session.TestID) []declaration {
	name := leaf(id)
	out := slices.Clone(x.byName[name])
	if strings.Contains(string(id), "::") { // suites may stand before the name
		for i := range len(name) {
			if name[i] == ' ' {
				out = append(out, x.byName[name[i+1:]]...)
			}
		}
	}
	for _, d := range x.holes {
		if d.declares(id, name) {
			out = append(out, d)
		}
	}
	return out
}

// texts are the texts of a test, with its name if that must be the same, and without it if not.
func (x *declIndex) texts(id session.TestID, named bool) (texts []string, declared bool) {
	for _, d := range x.of(id) {
		declared = true
		if !d.empty {
			texts = append(texts, kind(id)+d.text(named))
		}
	}
	return texts, declared
}

// nameAlone stands for the text of a test that no changed file declares.
func nameAlone(id session.TestID) string { return kind(id) + "its name is " + leaf(id) }

// kind keeps tests of Go apart from all others.
func kind(id session.TestID) string {
	if notGo(id) {
		return ""
	}
	return "go "
}

// text is a declaration's text, with "_" for its name unless that counts. What closes the suite around the last test of a
// file is no part of it, nor is what Python adds to a function that becomes a method.
func (d declaration) text(named bool) string {
	body := strings.NewReplacer("( self , ", "( ", "( self )", "( )").Replace(strings.TrimRight(d.body, "}); "))
	if named {
		return d.name + "\n" + body
	}
	return strings.ReplaceAll(body, d.name, "_")
}

// testFiles are the changed files that hold tests or held some, in the lap or in the present phase.
func (l *lapFiles) testFiles() []*changedFile {
	var out []*changedFile
	for _, list := range [][]session.Change{l.changes, l.visits} {
		for _, c := range list {
			if f := l.file(c); l.holdsTests(c) && !slices.Contains(out, f) {
				out = append(out, f)
			}
		}
	}
	return out
}

// mostPairs bounds how many pairs of a test that is gone and a new one are compared word by word.
const mostPairs = 20_000

var wordsRE = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile("\"(?:[^\"\\\\\n]|\\\\.)*\"|'(?:[^'\\\\\n]|\\\\.)*'|" +
		"[\\p{L}_$][\\p{L}\\p{N}_$]*|[0-9][\\w.]*|\\S")
})

// wordsOf cuts source into names, numbers and other characters. Quoted texts are cut too.
func wordsOf(text string) []string {
	var out []string
	for _, w := range wordsRE().FindAllString(text, -1) {
		if len(w) > 2 && (w[0] == '"' || w[0] == '\'') {
			out = append(append(append(out, w[:1]), wordsOf(w[1:len(w)-1])...), w[:1])
			continue
		}
		out = append(out, w)
	}
	return out
}

func isName(w string) bool {
	c := w[0]
	return c == '_' || c == '$' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}

// renamedAlong reports whether two texts are the same but for names, each of which is gone from the code that changed
// and has one other name in its place there.
func (l *lapFiles) renamedAlong(was, is string) bool {
	old, now := wordsOf(was), wordsOf(is)
	if len(old) != len(now) {
		return false
	}
	to := map[string]string{}
	for i, w := range old {
		if other, ok := to[w]; ok && other != now[i] {
			return false
		}
		if w != now[i] && (!isName(w) || !isName(now[i])) {
			return false
		}
		to[w] = now[i]
	}
	changed := false
	for w, other := range to {
		if w != other {
			changed = true
			if !l.wentAway(w) || !l.hasNow(other) {
				return false
			}
		}
	}
	return changed
}

// hasNow reports whether a name stands in a changed file of production code.
func (l *lapFiles) hasNow(name string) bool {
	return slices.ContainsFunc(l.changes, func(c session.Change) bool {
		return !isTestFile(c.Path) && isCode(c.Path) && c.Status != "D" && hasWord(production(c.Path, l.file(c).now), name)
	})
}

// wentAway reports whether a name stood in changed code at the lap's start, or when the phase was entered, and stands
// in none of it any more.
func (l *lapFiles) wentAway(name string) bool {
	if l.removed(name) {
		return true
	}
	return l.entered != nil && !l.hasNow(name) && slices.ContainsFunc(l.visits, func(c session.Change) bool {
		if isTestFile(c.Path) || !isCode(c.Path) || c.Status == "A" {
			return false
		}
		text, ok := l.entered(c.Path)
		return ok && hasWord(production(c.Path, text), name)
	})
}

// renameAlong pairs what the same text did not.
func (l *lap) renameAlong(gone, fresh []session.TestID, now, before *declIndex, taken map[session.TestID]bool) {
	if len(gone)*len(fresh) > mostPairs {
		return
	}
	for _, id := range gone {
		if l.renames[id] != "" {
			continue
		}
		texts, _ := before.texts(id, false)
		for _, to := range fresh {
			if taken[to] {
				continue
			}
			others, _ := now.texts(to, false)
			if slices.ContainsFunc(texts, func(was string) bool {
				return slices.ContainsFunc(others, func(is string) bool { return l.files.renamedAlong(was, is) })
			}) {
				l.renames[id], taken[to] = to, true
				break
			}
		}
	}
}
