package phases

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
)

// Honest work also takes tests away: it renames them with what they are about, makes one of several or several of one,
// and removes them with code that is removed. What says so are names and literals, so that nothing is believed that the
// files do not show. Whether a test that lives on still asserts what it did is not asked here.

// mostPairs bounds how many pairs of a test that is gone and a new one are compared word by word.
const mostPairs = 20_000

var wordsRE = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile("\"(?:[^\"\\\\\n]|\\\\.)*\"|'(?:[^'\\\\\n]|\\\\.)*'|[\\p{L}_$][\\p{L}\\p{N}_$]*|[0-9][\\w.]*|\\S")
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

// wentAway reports whether a name stood in changed code at the lap's start, or when the phase was entered, and stands in
// none of it any more.
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

// mergedInto returns the tests that have become of one that is gone: new or different ones that pass, that call whatever
// it called, in files that hold every number and short text which tests there held before. nil when there are none.
func (l *lap) mergedInto(id session.TestID) []session.TestID {
	if l.merges == nil {
		l.merges = newMerges(l)
	}
	var calls []string
	for _, d := range l.merges.before.of(id) {
		if !d.empty {
			calls = append(calls, callsIn(d.body)...)
		}
	}
	if len(calls) == 0 || !l.merges.conserved {
		return nil
	}
	var into []session.TestID
	for _, m := range l.merges.now {
		if !slices.ContainsFunc(calls, func(c string) bool { return !m.words[c] }) {
			into = append(into, m.ids...)
		}
	}
	slices.Sort(into)
	return slices.Compact(into)
}

// merges is what is known of tests that may have taken in others.
type merges struct {
	before    *declIndex
	now       []mergedTest
	conserved bool // no literal of the tests is gone
	any       bool // they had some
	lost      map[string]int
}

type mergedTest struct {
	ids   []session.TestID // that pass
	words map[string]bool
}

func newMerges(l *lap) *merges {
	files := l.files.testFiles()
	old := func(f *changedFile) []declaration {
		if f.visitDecls != nil {
			return f.visitDecls
		}
		return f.oldDecls
	}
	m := &merges{before: newDeclIndex(files, old)}
	had, has := map[string]int{}, map[string]int{}
	for _, f := range files {
		for _, d := range old(f) {
			if !l.wentAlong(d) { // its cases went with it
				literals(d.body, had)
			}
		}
		literals(string(f.now), has)
		for _, d := range f.decls {
			if !d.test || d.empty || sameIn(old(f), d) {
				continue
			}
			t := mergedTest{words: map[string]bool{}}
			for _, w := range wordsOf(d.body) {
				t.words[w] = true
			}
			for _, id := range sortedKeys(l.now.tests) {
				if l.now.tests[id] == session.TestPass && d.declares(id, leaf(id)) {
					t.ids = append(t.ids, id)
				}
			}
			if len(t.ids) > 0 {
				m.now = append(m.now, t)
			}
		}
	}
	m.any, m.lost = len(had) > 0, map[string]int{}
	for lit, n := range had {
		if n > has[lit] {
			m.lost[lit] = n - has[lit]
		}
	}
	m.conserved = m.any && len(m.lost) == 0
	return m
}

// literals counts numbers, and quoted texts in which there is neither a space nor a verb of a format: those are cases,
// the others are messages and titles.
func literals(text string, into map[string]int) {
	for _, w := range wordsRE().FindAllString(text, -1) {
		quoted := w[0] == '"' || w[0] == '\''
		if quoted && !strings.ContainsAny(w, " %") {
			into[strings.Trim(w, `"'`)]++
		} else if w[0] >= '0' && w[0] <= '9' {
			into[w]++
		}
	}
}

// notCalls are words before a parenthesis that call nothing.
var notCalls = []string{"if", "for", "while", "switch", "catch", "func", "function", "return", "and", "or", "not", "in", "def", "test", "it", "async", "await", "import", "require"}

// callsIn names what a test calls.
func callsIn(body string) []string {
	words := wordsOf(body)
	var out []string
	for i, w := range words {
		if i+1 < len(words) && words[i+1] == "(" && isName(w) && !slices.Contains(notCalls, w) && (i == 0 || words[i-1] != "def" && words[i-1] != "func") {
			out = append(out, w)
		}
		if w == "assert" {
			out = append(out, w)
		}
	}
	return out
}

// wentWithCode reports whether a test that is gone was about something that is gone as well: it called a name that stood
// in changed code and stands in none of it any more. Only where work is tidied, and never for the lap's own tests.
func (l *lap) wentWithCode(id session.TestID) bool {
	if !l.tidying || l.about().isTarget[id] {
		return false
	}
	if l.merges == nil {
		l.merges = newMerges(l)
	}
	for _, d := range l.merges.before.of(id) {
		if slices.ContainsFunc(callsIn(d.body), l.files.wentAway) {
			return true
		}
	}
	return false
}

// wentAlong reports whether a declaration is of a test that wentWithCode may let go, by what it calls.
func (l *lap) wentAlong(d declaration) bool {
	return l.tidying && d.test && slices.ContainsFunc(callsIn(d.body), l.files.wentAway) &&
		!slices.ContainsFunc(l.targets, func(id session.TestID) bool { return d.declares(id, leaf(id)) })
}

// tidies reports whether a phase may take code away together with its tests: not while it makes red tests green, where
// nothing but the code that is missing is asked for.
func tidies(w workflows.Workflow, p workflows.Phase) bool {
	for _, ph := range w.Phases {
		for _, g := range ph.Gates {
			if g.Expect == workflows.ExpectRed && (ph.Name == p.Name || ph.On[workflows.Pass] == p.Name) {
				return false
			}
		}
	}
	return true
}
