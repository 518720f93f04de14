package brief

import (
	"fmt"
	"slices"

	"github.com/wfs-dev/wfs/session"
)

// testFindings has the part of a brief about weakened tests and hold-out tests.
type testFindings struct{ subject }

// Allowed returns the changes of tests in this lap that a person approved. They stay, and count as no findings any
// more.
func (b testFindings) Allowed() (list []session.Tampering) {
	for _, c := range b.S.Way() {
		if c.Lap == b.S.Lap && c.Class == session.ClassApproved && c.Verdict == session.Pass {
			list = append(list, c.Tampered...)
		}
	}
	return list
}

// IsSaid reports whether a text is one of the messages of people that the brief shows at its beginning.
func (b people) IsSaid(text string) bool {
	return slices.ContainsFunc(b.S.Said, func(x session.Said) bool { return x.Text == text })
}

// Grave returns the findings because of which the last judgement failed.
func (b testFindings) Grave() []session.Tampering {
	if b.S.Last == nil || b.S.Last.Class != session.ClassTampered {
		return nil
	}
	return (&session.Judgement{Tampered: b.S.Tampered}).Grave()
}

// NotRestored returns those findings of Grave whose files have not been restored since.
func (b testFindings) NotRestored() []session.Tampering {
	return slices.DeleteFunc(b.Grave(), func(t session.Tampering) bool { return slices.Contains(b.Req.Back, t.Path) })
}

// TestsDeaf reports whether the last judgement failed because tests pass even with broken code or with other expected
// values.
func (b testFindings) TestsDeaf() bool {
	grave := b.Grave()
	return len(grave) > 0 && slices.Contains([]string{session.FoundCannotFail, session.FoundDeaf,
		session.FoundNotNeeded}, grave[0].Kind)
}

// CodeAlone returns a sentence that says whether the code of an attempt that changed tests passes with the tests as
// they were before.
func (b testFindings) CodeAlone() string {
	var judged, passed int
	for _, g := range b.S.LastGates {
		if g.TestsOf != nil {
			judged++
			if g.Verdict == session.Pass {
				passed++
			}
		}
	}
	switch {
	case judged == 0:
		return "Whether the code is right without these changes is unknown."
	case judged == passed:
		return "The code is right: it passes with the former tests. Restore them, and nothing else is left to do."
	}
	return "With the former tests the code does not pass yet: see the test output. Restore them, then fix the code."
}

// FrozenCommit returns the latest commit that has the frozen tests; "" if there is none.
func (b testFindings) FrozenCommit() session.Commit {
	for _, c := range slices.Backward(b.S.Checkpoints) {
		if c.Tree == b.S.Frozen {
			return c.Code
		}
	}
	return ""
}

// HeldOut returns the result of the hold-out tests, which the agent does not know, if the last judgement failed
// because of them; else nil. The brief has only their number, not their contents or output.
func (b testFindings) HeldOut() *session.HoldoutResult {
	d, r := b.S.Last, b.S.HoldoutAt(b.S.Current)
	if d == nil || d.Class != session.ClassHoldout || r == nil || r.Verdict != session.Fail {
		return nil
	}
	return r
}

// Failing returns how many hold-out tests fail, as "1 of 3".
func (b testFindings) Failing(r *session.HoldoutResult) string {
	return fmt.Sprintf("%d of %d", r.Failed+r.NotRun, r.Passed+r.Failed+r.NotRun)
}

// findings returns the findings of a review, numbered, one in each text.
func findings(v *session.Review) (lines []string) {
	for i, f := range v.Findings {
		at := ""
		if f.Path != "" {
			at = name(f.Path)
			if f.Line > 0 {
				at += fmt.Sprintf(":%d", f.Line)
			}
			at += ": "
		}
		lines = append(lines, fmt.Sprintf("%d. %s%s", i+1, at, f.What))
	}
	switch {
	case len(lines) == 0:
		lines = []string{"(no findings)"}
	case v.More > 0:
		lines[len(lines)-1] += fmt.Sprintf("\nand %d more", v.More)
	}
	return lines
}
