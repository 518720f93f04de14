package workflows

import "slices"

// Tamper says what follows when an attempt changes frozen tests so that they ask for less.
type Tamper string

const (
	TamperStrict Tamper = "strict" // the attempt fails; done twice in a row it stops the session
	TamperReview Tamper = "review" // a person approves or rejects it
	TamperWarn   Tamper = "warn"   // it is named wherever the work is shown
	TamperOff    Tamper = "off"    // nobody looks
)

// Red is the phase in which failing tests are written, nil when there is none.
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

// TamperIn is the policy of a phase. Where tests are written, changes of them are named and no more.
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
