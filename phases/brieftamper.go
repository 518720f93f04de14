package phases

import (
	"fmt"

	"github.com/wfs-dev/wfs/internal/safetext"
	"github.com/wfs-dev/wfs/session"
)

// tampered says what was done to frozen tests, how it is put back, and what to do when a test is wrong. Where tests are
// written it says why one is to be changed.
func (b *brief) tampered() {
	b.packages()
	if b.req.Phase.WritesTests() {
		if why := b.s.TestChange; why != "" {
			b.section("A test is to be changed", "")
			b.line("Whoever worked after this phase asked for it. Change the test if that is right, and leave the code as it is: what fails is")
			b.line("looked at without the code of this lap. Do not change more of the tests than that.")
			b.open("why it should be changed, in the words of another agent")
			b.line("%s", b.inner(why))
			b.close()
		}
		return
	}
	var grave []session.Tampering
	for _, t := range b.s.Tampered {
		if t.Grave && !t.OfPackages() {
			grave = append(grave, t)
		}
	}
	if len(grave) == 0 || b.s.Last == nil || b.s.Last.Class != session.ClassTampered {
		return
	}
	if session.AllOfCode(grave) {
		b.section("The code seems to ask whether it is being tested", "")
	} else {
		b.section("Tests were changed so that they ask for less", "")
	}
	b.line("Put all of this back, and leave the tests, what they read, and how they are run as they were. Code must not ask whether it")
	b.line("is being tested. Done again, it stops the work.")
	if c := b.frozenCommit(); c != "" {
		b.line("A file is put back by `git checkout %s -- PATH`.", c)
	}
	b.line("%s", b.codeAlone())
	b.line("If a test is wrong, do not change it here: answer with \"test_change\" (text: which one, and why) in the JSON object in which")
	b.line("you say that you are done. The work then goes back to where tests are written.")
	b.open("what was found, with lines of the code")
	for _, t := range grave[:min(len(grave), maxListed)] {
		b.line("- %s", b.inner(safetext.Line(t.String(), maxSaid)))
	}
	b.close()
}

// withTests says whose tests a gate judged with, "" for those of the attempt.
func withTests(g session.GateResult) string {
	if g.TestsOf == nil {
		return ""
	}
	return fmt.Sprintf(" With the tests of checkpoint %d, in place of those that were changed.", *g.TestsOf)
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
		return "What your code is worth without these changes is not known."
	case judged == passed:
		return "The code is right: with the tests as they were it passes. Only the tests have to be put back, and nothing else is to be done."
	}
	return "With the tests as they were the code does not pass yet: what they say stands above. Put them back, then mend the code."
}

// packages says what was done to installed packages, and how it is put back.
func (b *brief) packages() {
	var grave []session.Tampering
	for _, t := range b.s.Tampered {
		if t.Grave && t.OfPackages() {
			grave = append(grave, t)
		}
	}
	if len(grave) == 0 || b.s.Last == nil || b.s.Last.Class != session.ClassTampered {
		return
	}
	b.section("What is installed was changed by hand", "")
	b.line("Files in directories that packages are installed into must be as the installer leaves them: put these back, by removing what")
	b.line("was added and installing anew what was edited. A package that the work needs is declared in the project's own manifest and")
	b.line("lock file, and installed by the project's own tool. Until then nothing is judged. Done again, it stops the work.")
	b.open("what was found")
	for _, t := range grave[:min(len(grave), maxListed)] {
		b.line("- %s", b.inner(safetext.Line(t.String(), maxSaid)))
	}
	b.close()
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
