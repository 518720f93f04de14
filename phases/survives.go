package phases

import (
	"regexp"
	"slices"
	"sync"

	"github.com/wfs-dev/wfs/session"
)

// Honest work also renames tests with what they are about. What says so are names, so that nothing is believed that the
// files do not show. What else may have become of a test that is gone is tried: see experiment.

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
