package phases

import (
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
	taken := map[session.TestID]bool{}
	for _, same := range []bool{true, false} { // those that kept their own name first
		byText := map[string][]session.TestID{}
		for _, id := range fresh {
			if !taken[id] {
				for _, text := range l.files.textsNow(id, same) {
					byText[text] = append(byText[text], id)
				}
			}
		}
		for _, id := range gone {
			if l.renames[id] != "" {
				continue
			}
			for _, text := range l.files.textsBefore(id, same) {
				i := slices.IndexFunc(byText[text], func(to session.TestID) bool { return !taken[to] })
				if i >= 0 {
					l.renames[id], taken[byText[text][i]] = byText[text][i], true
					break
				}
			}
		}
	}
	return l.renames
}

// renamedTo reports whether a test is an older one under a new name.
func (l *lap) renamedTo(id session.TestID) bool {
	for _, to := range l.renamed() {
		if to == id {
			return true
		}
	}
	return false
}

// textsNow are the texts of a test in the changed files, with its name if that must be the same, and without it if not.
// Where no changed file declares the test, its own name stands for its text.
func (l *lapFiles) textsNow(id session.TestID, named bool) []string {
	return textsOf(id, named, l.testFiles(), func(f *changedFile) []declaration { return f.decls })
}

// textsBefore are the same at the lap's start and when the phase was entered.
func (l *lapFiles) textsBefore(id session.TestID, named bool) []string {
	return textsOf(id, named, l.testFiles(), func(f *changedFile) []declaration { return slices.Concat(f.visitDecls, f.oldDecls) })
}

func textsOf(id session.TestID, named bool, files []*changedFile, decls func(*changedFile) []declaration) []string {
	var texts []string
	declared := false
	for _, f := range files {
		for _, d := range decls(f) {
			if !d.test || !d.declares(id, leaf(id)) {
				continue
			}
			declared = true
			if !d.empty {
				texts = append(texts, kind(id)+d.text(named))
			}
		}
	}
	// The name alone is enough where nothing that changed can have declared the test.
	if !declared && named && !slices.ContainsFunc(files, func(f *changedFile) bool { return strings.Contains(string(f.before), leaf(id)) }) {
		texts = append(texts, kind(id)+"its name is "+leaf(id))
	}
	return texts
}

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
	body := strings.NewReplacer("(self, ", "(", "(self)", "()").Replace(strings.TrimRight(d.body, "}); "))
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
