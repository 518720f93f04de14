package phases

import "github.com/wfs-dev/wfs/session"

// heldOut says that tests fail which whoever works is not shown: how many, and their names where a person reveals them.
// Nothing that they hold or print comes here.
func (b *brief) heldOut() {
	d, r := b.s.Last, b.s.HoldoutAt(b.s.Current)
	if d == nil || d.Class != session.ClassHoldout || r == nil || r.Verdict != session.Fail {
		return
	}
	b.section("Tests that you cannot see")
	b.line("All tests that you see pass. There are hidden tests too: %d of %d fail.", r.Failed+r.NotRun, r.Passed+r.Failed+r.NotRun)
	b.line("They check only what the goal says, with other inputs. Do not look for them. Read the goal again, and make the code")
	b.line("right in general: for empty, negative, large and odd inputs, not only for those in the tests that you see.")
	if len(r.Failing) > 0 {
		b.open("the names of the failing ones")
		list(b, r.Failing)
		b.close()
	}
}
