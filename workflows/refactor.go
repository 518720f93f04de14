package workflows

// Refactor says when the phase that only tidies up code is entered.
type Refactor string

const (
	RefactorAlways Refactor = "always"
	RefactorAuto   Refactor = "auto" // only if the lap changed at least SmallLap lines of code
)

// SmallLap is the number of lines of code, without tests, that a lap must change at least for RefactorAuto to enter the
// phase.
const SmallLap = 20

// Tidying returns the phase that tidies up code: the one after the phase that makes red tests pass. It returns nil if
// there is none.
func (w *Workflow) Tidying() *Phase {
	red := w.Red()
	if red == nil {
		return nil
	}
	green := w.Phase(red.On[Pass])
	if green == nil || green.WritesTests() {
		return nil
	}
	if ph := w.Phase(green.On[Pass]); ph != nil && ph.Run.Agent && ph.Review == nil {
		return ph
	}
	return nil
}
