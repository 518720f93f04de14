package phases

import (
	"bytes"
	"slices"
	"strings"

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
