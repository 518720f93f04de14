package engine

import (
	"testing"

	"github.com/wfs-dev/wfs/session"
)

func TestTamperedText(t *testing.T) {
	t.Parallel()
	edited := session.Tampering{Kind: "expectation_edited", Path: "a_test.go", Line: 3, Before: "5", After: "6", Grave: true}
	planted := session.Tampering{Kind: "dependency_planted", Path: "node_modules/x/y.js", Grave: true}
	asks := session.Tampering{Kind: "knows_that_it_tests", Path: "calc.py", Line: 3, After: "x", Grave: true}
	tests := "\nTests that were there before ask for less, or for something else:\n- a_test.go:3: expectation edited: 5 → 6\n"
	packages := "\nPackages that the tests run with were changed in place:\n- node_modules/x/y.js: dependency planted\n"
	for _, c := range []struct {
		verdict session.Verdict
		found   []session.Tampering
		want    string
	}{
		{session.Pass, nil, ""},
		{session.Fail, []session.Tampering{edited}, ""},
		{session.Pass, []session.Tampering{edited}, tests},
		{session.Pass, []session.Tampering{planted}, packages},
		{session.Pass, []session.Tampering{planted, edited}, tests + packages},
		{session.Pass, []session.Tampering{asks}, "\nCode that may behave differently under test:\n- calc.py:3: knows that it tests: x\n"},
	} {
		s := &session.Session{Checkpoints: []session.Checkpoint{{Verdict: c.verdict, Tampered: c.found}}}
		if got := tamperedText(s); got != c.want {
			t.Errorf("%s %v: %q, want %q", c.verdict, c.found, got, c.want)
		}
	}
}

// Nobody is told to leave tests alone who touched none.
func TestBlockedByCodeSaysSo(t *testing.T) {
	t.Parallel()
	asks := session.Tampering{Kind: "knows_that_it_tests", Path: "calc.py", After: "x", Grave: true}
	edited := session.Tampering{Kind: "expectation_edited", Path: "a_test.go", Grave: true}
	note := session.Tampering{Kind: "input_edited", Path: "a_test.go"}
	for _, c := range []struct {
		list []session.Tampering
		want bool
	}{{nil, false}, {[]session.Tampering{asks}, true}, {[]session.Tampering{asks, edited}, false}, {[]session.Tampering{edited}, false}} {
		if got := session.AllOfCode(c.list); got != c.want {
			t.Errorf("%v: %t", c.list, got)
		}
	}
	if !session.AllOfCode((&session.Judgement{Tampered: []session.Tampering{asks, note}}).Grave()) {
		t.Error("a note counts")
	}
}
