package session

import "slices"

// Visit has the counts of the breaker, and state for the guards, since the phase was entered or, for the breaker, was
// reset.
type Visit struct {
	Attempts    int      `json:"attempts"`              // judged
	NoProgress  int      `json:"no_progress"`           // in a row
	SameFailure int      `json:"same_failure"`          // in a row
	Fingerprint string   `json:"fingerprint,omitempty"` // of the newest failure
	Seen        []string `json:"seen,omitempty"`        // all fingerprints
	Trees       []Tree   `json:"trees,omitempty"`       // all trees that were judged
	Best        int      `json:"best"`                  // most tests of the lap that passed at once
	// tree at the start of the phase, for its guards. A reset of the breaker keeps it; `wfs checkpoint` and `wfs
	// resume` replace it, except `wfs resume --backup`
	Tree Tree `json:"tree,omitempty"`
	// files of the interrupted attempt, which `wfs resume --backup` restored from an auto-save
	Recovered Tree `json:"recovered,omitempty"`

	High Reached `json:"high,omitzero"` // the maximum of each at this visit
	// attempts in a row that did not get further than that
	Stale int `json:"stale,omitempty"`
	// attempts since then that left the same files as an earlier one
	Circles int `json:"circles,omitempty"`
	Idle    int `json:"idle,omitempty"` // attempts in a row that changed nothing
	// how many of the newest of those in a row were denied a tool call
	Denied int `json:"denied,omitempty"`
	Looked int `json:"looked,omitempty"` // attempts that were excused for only reading files
	// attempts that left fewer tasks open than any before
	Fewer int `json:"fewer,omitempty"`
	// attempts in a row that passed all gates, but whose agent did not report that it is done
	Unsigned int      `json:"unsigned,omitempty"`
	Failing  []TestID `json:"failing,omitempty"`  // tests that failed at this visit, at most 200
	BestAt   int      `json:"best_at,omitempty"`  // checkpoint of the attempt that got furthest
	BestHas  Reached  `json:"best_has,omitzero"`  // how far that is
	Tampered int      `json:"tampered,omitempty"` // attempts in a row that tampered with tests
	// findings in such attempts at this visit: kind, path and test
	Found []string `json:"found,omitempty"`
	Again bool     `json:"again,omitempty"` // the newest attempt repeated an earlier finding
	// Conversation that the next attempt may continue
	Conversation *Conversation `json:"conversation,omitempty"`
}

// Step is the kind of progress of an attempt that did not pass.
type Step string

const (
	StepAhead    Step = "ahead"    // it got further than any attempt at this visit
	StepMoved    Step = "moved"    // it fails in a new way on a new tree, and breaks nothing more
	StepLooked   Step = "looked"   // it only read files, which is excused once
	StepUnsigned Step = "unsigned" // its gates pass, but the agent did not report that it is done
)

// Reached measures how far an attempt got, in counts of one tree. Most combines the best counts of several.
type Reached struct {
	Ran     bool `json:"ran,omitempty"`     // its tests could be built and run
	Targets int  `json:"targets,omitempty"` // tests of the lap that pass
	Gates   int  `json:"gates,omitempty"`   // gates that pass
	Tests   int  `json:"tests,omitempty"`   // tests that pass, if the lap has no tests
	Holdout int  `json:"holdout,omitempty"` // hold-out tests that pass
	// as in GateResult, the lowest; none when it is unknown
	Left int `json:"left,omitempty"`
}

// Reached returns how far the judged attempt got.
func (j *Judgement) Reached() Reached {
	if j.Class == ClassTampered {
		return Reached{}
	}
	r := Reached{Targets: j.Passing()}
	if j.Holdout != nil {
		r.Holdout = j.Holdout.Passed
	}
	aimed := j.Red() != nil || r.Targets > 0
	for _, g := range j.Gates {
		if g.Verdict == Pass {
			r.Gates++
		}
		r.Left += g.Left
		aimed = aimed || g.Class == ClassTargetFailing || g.Class == ClassTargetMissing || g.Class == ClassFlaky
	}
	switch j.Class {
	case ClassBuildBroken, ClassNoTests, ClassTimeout, ClassInfraError, ClassGuard, ClassKey, ClassGateChangedTree,
		ClassLeadsBack, ClassRoomChanged:
	default:
		r.Ran = true
	}
	if !aimed {
		r.Tests = CountsOf(j.Gates).Passed
	}
	return r
}

// Beyond reports whether any value of r is better than in most.
func (r Reached) Beyond(most Reached) bool {
	return r.Ran && !most.Ran || r.Targets > most.Targets || r.Gates > most.Gates || r.Tests > most.Tests ||
		r.Holdout > most.Holdout || r.LeavesLess(most)
}

// LeavesLess reports whether fewer tasks are left than there, if both numbers are known.
func (r Reached) LeavesLess(than Reached) bool {
	return r.Left > 0 && than.Left > 0 && r.Left < than.Left
}

// Less orders results by their values, the most important first.
func (r Reached) Less(other Reached) bool {
	if r.Ran != other.Ran {
		return other.Ran
	}
	for _, c := range [][2]int{{r.Targets, other.Targets}, {r.Gates, other.Gates}, {r.Holdout, other.Holdout},
		{r.Tests, other.Tests}} {
		if c[0] != c[1] {
			return c[0] < c[1]
		}
	}
	return other.LeavesLess(r)
}

// Most returns the better of both for each value.
func (r Reached) Most(other Reached) Reached {
	left := r.Left
	if left == 0 || other.LeavesLess(r) {
		left = other.Left
	}
	return Reached{Ran: r.Ran || other.Ran, Targets: max(r.Targets, other.Targets), Gates: max(r.Gates, other.Gates),
		Tests: max(r.Tests, other.Tests), Holdout: max(r.Holdout, other.Holdout), Left: left}
}

// Failing returns the tests that gates count against the attempt. all is false if there may be more than are named.
func (j *Judgement) Failing() (ids []TestID, all bool) {
	all = true
	if j.Class == ClassTampered {
		return nil, true
	}
	for _, g := range j.Gates {
		ids = append(ids, g.Failing...)
		all = all && len(g.Failing) < MaxNamed
	}
	return ids, all
}

// Known reports whether an attempt at this visit has already produced a tree, or the visit began with it.
func (v *Visit) Known(t Tree) bool { return t == v.Tree || slices.Contains(v.Trees, t) }
