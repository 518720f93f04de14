package present

import (
	"fmt"
	"strings"

	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
	"github.com/wfs-dev/wfs/workflows/measure"
)

// GateLine returns a gate's name, result and duration in one line.
func GateLine(g session.GateResult) Styled {
	line := Join(g.Gate+": ", GateSays(g))
	if took := GateTook(g); took != "" {
		line = Join(line, ", "+took)
	}
	return line
}

// GateSays returns a gate's result in words, such as "12 passed, 1 failed".
func GateSays(g session.GateResult) Styled {
	failed := g.Counts.Failed + g.Counts.Errors
	red := g.Expect == string(workflows.ExpectRed) && g.Verdict == session.Pass
	text := ""
	switch {
	case g.Where == session.InTree:
		text = g.Reason
	case g.Counts.Total() > 0:
		text = counts(g.Counts, red)
		if g.Verdict != session.Pass && failed == 0 {
			text += "; " + g.Reason
		}
	case red:
		text = "fails as intended"
	case g.Verdict == session.Pass:
		text = "passed"
	default:
		text = g.Reason
	}
	if numbers := measure.List(g.Numbers); numbers != "" && g.Class != session.ClassNumber {
		text += ", " + numbers
	}
	if len(g.Unjudged) > 0 {
		text += "; cannot be judged, without the number on the base: " + strings.Join(g.Unjudged, ", ")
	}
	if g.TestsOf != nil {
		text += fmt.Sprintf(", with the tests of @%d", *g.TestsOf)
	}
	if g.Verdict == session.Pass {
		return Join(text)
	}
	return Judged(g.Verdict, text)
}

// counts says how many tests passed, failed, were skipped or are flaky.
func counts(c session.Counts, red bool) string {
	text, intended := fmt.Sprintf("%d passed", c.Passed), ""
	if red {
		intended = " (as intended)"
	}
	for _, x := range []struct {
		n    int
		word string
	}{{c.Failed + c.Errors, "failed" + intended}, {c.Skipped, "skipped"}, {c.Flaky, "flaky"}} {
		if x.n > 0 {
			text += fmt.Sprintf(", %d %s", x.n, x.word)
		}
	}
	return text
}

// HoldoutBaseLine says how many hold-out tests pass on the base commit, before any work.
func HoldoutBaseLine(r *session.HoldoutResult) string {
	all := r.Passed + r.Failed
	line := fmt.Sprintf("hold-out tests: %d of %d pass on the base, before the work", r.Passed, all)
	if r.NotRun > 0 {
		line += fmt.Sprintf("; of %s no test runs", N(r.NotRun, "file"))
	}
	return line
}

// GateTook returns how long a gate ran, "cached" if its result comes from the cache, or "" for less than a second.
func GateTook(g session.GateResult) string {
	if g.Cached {
		return "cached"
	}
	return Seconds(g.Millis)
}

// ProofOf returns the proof (the result of the gates in a clean checkout) of the current checkpoint's files. It returns
// nil if there is none.
func ProofOf(s *session.Session) *session.Proof { return ProofAt(s, s.Current) }

func ProofAt(s *session.Session, checkpoint int) *session.Proof {
	c := s.At(checkpoint)
	if c == nil || s.Proof == nil || s.Proof.Tree != c.Tree {
		return nil
	}
	return s.Proof
}

// ProofLine describes the result of a proof in one line.
func ProofLine(p *session.Proof) string {
	if p.Verdict == session.Pass {
		return p.Reason
	}
	return "clean checkout: " + p.Why()
}

// unprovenGate returns the end of a line about completed work: "; not tested in a clean checkout: GATE". It returns ""
// if there is no proof, or if the proof passed.
func unprovenGate(p *session.Proof) string {
	if p == nil || p.Verdict == session.Pass {
		return ""
	}
	gate, _, _ := strings.Cut(p.Why(), ":")
	return "; not tested in a clean checkout: " + gate
}

// Remedies explains how to provide files that a clean checkout lacks.
const Remedies = "allow them (git add -f FILE, or wfs allow FILE), name them in clean-provide of the configuration, or set clean-proof: off there (then wfs edit --reload)"

// BaseText describes a gate's result on the base commit.
func BaseText(g session.GateResult) string {
	switch {
	case g.Counts.Total() > 0:
		return counts(g.Counts, false)
	case g.Class == session.ClassNoTests:
		return "no tests yet"
	case g.Exit != 0:
		return g.Reason
	}
	return "passes"
}

// NoteMark returns the prefix of a finding of tampering: "note: " if the finding is minor, else "".
func NoteMark(t session.Tampering) string {
	if t.Grave {
		return ""
	}
	return "note: "
}
