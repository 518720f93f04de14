package phases

import (
	"strings"

	"github.com/wfs-dev/wfs/session"
)

// retitled reports whether a subtest in Go that the lap is about, and that is gone, only has another title: its parent
// passes, with as many new subtests as are gone, and no number or short text is gone from the tests but their titles. What
// else may have become of its row is asked where tests are compared.
func (l *lap) retitled(id session.TestID) bool {
	if pkg, _ := goTest(id); pkg == "" || len(l.targets)*len(l.now.tests) > 100*mostPairs || parent(id) == "" || l.now.tests[parent(id)] != session.TestPass {
		return false
	}
	titles, gone, fresh := map[string]int{}, 0, 0
	for _, t := range l.targets {
		if _, ran := l.now.tests[t]; !ran && parent(t) != "" {
			titles[string(t)[strings.LastIndexByte(string(t), '/')+1:]]++
			if parent(t) == parent(id) {
				gone++
			}
		}
	}
	for t, s := range l.now.tests {
		if _, had := l.start[t]; s == session.TestPass && !had && !l.about().isTarget[t] && parent(t) == parent(id) {
			fresh++
		}
	}
	if l.merges == nil {
		l.merges = newMerges(l)
	}
	for word, n := range l.merges.lost {
		if titles[word] < n {
			return false
		}
	}
	return fresh >= gone && l.merges.any
}
