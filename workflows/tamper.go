package workflows

import "slices"

// Tamper is the policy for attempts that weaken frozen tests.
type Tamper string

const (
	TamperStrict Tamper = "strict" // the attempt fails; the second time in a row stops the session
	TamperReview Tamper = "review" // a person approves or rejects it
	TamperWarn   Tamper = "warn"   // it is reported wherever the work is shown
	TamperOff    Tamper = "off"    // it is not checked
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

// WritesTests reports whether a gate of the phase expects red.
func (p *Phase) WritesTests() bool {
	return slices.ContainsFunc(p.Gates, func(g Gate) bool { return g.Expect == ExpectRed })
}

// TamperIn returns the policy of a phase. In a phase that writes tests, changes of tests are only reported.
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
