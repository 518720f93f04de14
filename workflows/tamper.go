package workflows

import "slices"

// Tamper is the policy for attempts that weaken frozen tests.
type Tamper string

const (
	TamperStrict Tamper = "strict" // the attempt fails; a second such attempt in a row stops the session
	TamperReview Tamper = "review" // a person approves or rejects the changed tests
	TamperWarn   Tamper = "warn"   // the change is only reported, wherever the work is shown
	TamperOff    Tamper = "off"    // changes of tests are not checked
)

// Red returns the phase in which failing tests are written, nil for none.
func (w *Workflow) Red() *Phase {
	for i := range w.Phases {
		if w.Phases[i].WritesTests() {
			return &w.Phases[i]
		}
	}
	return nil
}

// WritesTests reports whether a gate of the phase expects red, so that the phase has to write failing tests.
func (p *Phase) WritesTests() bool {
	return slices.ContainsFunc(p.Gates, func(g Gate) bool { return g.Expect == ExpectRed })
}

// TamperIn returns the policy that applies in a phase. A phase that writes tests may change tests, so changes are at
// most reported there. The default is TamperStrict for workflows in which a phase writes tests, and TamperOff for
// others.
func (w *Workflow) TamperIn(p *Phase) Tamper {
	t := w.Tamper
	if p.Tamper != "" {
		t = p.Tamper
	}
	switch {
	case t == "" && w.Red() != nil:
		t = TamperStrict
	case t == "":
		t = TamperOff
	}
	if t != TamperOff && p.WritesTests() {
		t = TamperWarn
	}
	return t
}
