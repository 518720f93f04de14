package phases

import (
	"slices"

	"github.com/wfs-dev/wfs/internal/safetext"
	"github.com/wfs-dev/wfs/session"
)

// tampered says what was done to frozen tests, how it is put back, and what to do when a test is wrong. Where tests are
// written it says why one is to be changed.
func (b *brief) tampered() {
	b.allowed()
	if b.req.Phase.WritesTests() {
		if why := b.s.TestChange; why != "" {
			b.line("\nThe work returned here because of a report that a test is wrong. If that is right, change this test and no other.")
			b.line("Leave the code as it is: the tests are judged without the code of this lap.")
			if slices.ContainsFunc(b.s.Said, func(x session.Said) bool { return x.Text == why }) {
				return // a person said so, and it stands above
			}
			b.data("why it should be changed", why)
		}
		return
	}
	grave := b.grave()
	if len(grave) == 0 {
		return
	}
	if slices.Contains([]string{kindCannotFail, kindDeaf, kindNotNeeded}, grave[0].Kind) {
		b.section("The tests do not test the code")
		b.line("wfs made a change that the tests of this lap must notice, and they still passed. Find out why: they may")
		b.line("accept any value, stop before they compare, or test something other than the delivered code. If it is the code,")
		b.line("put this lap's work where it belongs. If it is a test, do not change it here: answer with `test_change` and say why.")
		b.foundIn(grave)
		return
	}
	left := slices.DeleteFunc(slices.Clone(grave),
		func(t session.Tampering) bool { return slices.Contains(b.req.Back, t.Path) })
	if len(left) == 0 {
		b.section("Tests were weakened")
		b.line("The last attempt did that, and wfs restored them. Leave the tests, the data that they read and how they are run as they are.")
		return
	}
	b.section("Tests were weakened")
	b.line("Restore what is listed here, and leave the tests, the data that they read and how they are run as they were. If it happens again, wfs")
	b.line("stops the work.")
	if c := b.frozenCommit(); c != "" {
		b.line("`git checkout %s -- PATH` restores a file.", c)
	}
	b.line("%s", b.codeAlone())
	b.line("If a test is wrong, do not change it here: answer with `test_change`.")
	b.foundIn(left)
	if len(b.req.Back) > 0 {
		b.line("Already restored, to be left alone: %s", b.inner(some(b.req.Back)))
	}
}

// allowed says what a person has said yes to in this lap: it is no finding any more, and not to be put back.
func (b *brief) allowed() {
	var list []session.Tampering
	for _, c := range b.s.Way() {
		if c.Lap == b.s.Lap && c.Class == session.ClassApproved && c.Verdict == session.Pass {
			list = append(list, c.Tampered...)
		}
	}
	if len(list) == 0 {
		return
	}
	b.section("The user approved this")
	b.line("The verdict uses it as if it had been there from the start. Leave it as it is now; do not restore the former version.")
	b.foundIn(list)
}

// grave are the findings of the newest judgement for which it failed.
func (b *brief) grave() []session.Tampering {
	if b.s.Last == nil || b.s.Last.Class != session.ClassTampered {
		return nil
	}
	var grave []session.Tampering
	for _, t := range b.s.Tampered {
		if t.Grave {
			grave = append(grave, t)
		}
	}
	return grave
}

func (b *brief) foundIn(list []session.Tampering) {
	var lines []string
	for _, t := range list {
		lines = append(lines, "- "+safetext.Line(t.String(), maxSaid))
	}
	b.data("what was found", lines...)
}

// codeAlone says what is known of the code of an attempt that changed tests, whatever those say now.
func (b *brief) codeAlone() string {
	var judged, passed int
	for _, g := range b.s.LastGates {
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

// frozenCommit is the newest commit whose tests are the frozen ones.
func (b *brief) frozenCommit() session.Commit {
	for i := len(b.s.Checkpoints) - 1; i >= 0; i-- {
		if c := b.s.Checkpoints[i]; c.Tree == b.s.Frozen {
			return c.Code
		}
	}
	return ""
}
