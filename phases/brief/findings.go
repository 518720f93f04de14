package brief

import (
	"fmt"
	"slices"

	"github.com/wfs-dev/wfs/session"
)

// testFindings is what was found about tests, and what hidden ones said.
type testFindings struct{ subject }

// Allowed is what a person has said yes to in this lap: it is no finding any more, and not to be put back.
func (b testFindings) Allowed() (list []session.Tampering) {
	for _, c := range b.S.Way() {
		if c.Lap == b.S.Lap && c.Class == session.ClassApproved && c.Verdict == session.Pass {
			list = append(list, c.Tampered...)
		}
	}
	return list
}

// IsSaid reports whether a person said a text, so that it stands above.
func (b people) IsSaid(text string) bool {
	return slices.ContainsFunc(b.S.Said, func(x session.Said) bool { return x.Text == text })
}

// Grave are the findings of the newest judgement for which it failed.
func (b testFindings) Grave() []session.Tampering {
	if b.S.Last == nil || b.S.Last.Class != session.ClassTampered {
		return nil
	}
	return (&session.Judgement{Tampered: b.S.Tampered}).Grave()
}

// NotRestored are those of them that were not put back since.
func (b testFindings) NotRestored() []session.Tampering {
	return slices.DeleteFunc(b.Grave(), func(t session.Tampering) bool { return slices.Contains(b.Req.Back, t.Path) })
}

// TestsDeaf reports whether it failed because tests notice nothing.
func (b testFindings) TestsDeaf() bool {
	grave := b.Grave()
	return len(grave) > 0 && slices.Contains([]string{session.FoundCannotFail, session.FoundDeaf,
		session.FoundNotNeeded}, grave[0].Kind)
}

// CodeAlone says what is known of the code of an attempt that changed tests, whatever those say now.
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

// FrozenCommit is the newest commit whose tests are the frozen ones.
func (b testFindings) FrozenCommit() session.Commit {
	for _, c := range slices.Backward(b.S.Checkpoints) {
		if c.Tree == b.S.Frozen {
			return c.Code
		}
	}
	return ""
}

// HeldOut is what tests said that whoever works is not shown, if some of them fail. Nothing that they hold or
// print comes into the brief.
func (b testFindings) HeldOut() *session.HoldoutResult {
	d, r := b.S.Last, b.S.HoldoutAt(b.S.Current)
	if d == nil || d.Class != session.ClassHoldout || r == nil || r.Verdict != session.Fail {
		return nil
	}
	return r
}

// Failing is how many of them fail.
func (b testFindings) Failing(r *session.HoldoutResult) string {
	return fmt.Sprintf("%d of %d", r.Failed+r.NotRun, r.Passed+r.Failed+r.NotRun)
}

// findings are a reviewer's, a line each.
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
