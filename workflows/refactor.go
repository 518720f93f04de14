package workflows

// Refactor says when the phase that tidies up code is entered.
type Refactor string

const (
	RefactorAlways Refactor = "always"
	RefactorAuto   Refactor = "auto" // if a lap changed at least SmallLap lines of code
)

// SmallLap is the minimum number of lines of code, without tests, that a lap must change to be tidied up with
// RefactorAuto.
const SmallLap = 20

// Tidying returns the phase after the one that makes red tests pass, nil for none.
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
