package workflows

// Refactor says when the phase is entered in which code is tidied up.
type Refactor string

const (
	RefactorAlways Refactor = "always"
	RefactorAuto   Refactor = "auto" // where a lap changed at least SmallLap lines of code
)

// SmallLap is how many lines of code, tests not counted, a lap has to change for its code to be tidied up with
// RefactorAuto.
const SmallLap = 20

// Tidying is the phase that follows the one which makes red tests pass, nil when there is none.
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
