package session

import "slices"

// Visit is the state of the current visit: the attempts at one phase in a row, since the session entered the phase. It
// has the counts of the breaker, which count from its last reset, and the state of the guards.
type Visit struct {
	Attempts    int      `json:"attempts"`              // judged attempts
	NoProgress  int      `json:"no_progress"`           // attempts in a row without progress
	SameFailure int      `json:"same_failure"`          // attempts in a row with the same failure
	Fingerprint string   `json:"fingerprint,omitempty"` // fingerprint of the newest failure
	Seen        []string `json:"seen,omitempty"`        // fingerprints of all failures
	Trees       []Tree   `json:"trees,omitempty"`       // all trees that were judged
	Best        int      `json:"best"`                  // highest number of the lap's tests that passed in one attempt
	// tree at the start of the visit: the phase's guards compare with it. Files that a person checkpoints or resumes
	// are not the agent's changes, so this replaces it; `wfs resume --backup` restores the agent's files and keeps it
	Tree Tree `json:"tree,omitempty"`
	// tree of the files that `wfs resume --backup` restored from an auto-save of an interrupted attempt
	Recovered Tree `json:"recovered,omitempty"`

	High Reached `json:"high,omitzero"` // the best value of each field at this visit
	// attempts in a row that did not improve `high`
	Stale int `json:"stale,omitempty"`
	// attempts since the last improvement that ended with the same files as an earlier attempt
	Circles int `json:"circles,omitempty"`
	Idle    int `json:"idle,omitempty"` // attempts in a row that changed nothing
	// how many of those newest attempts in a row also had a denied tool call
	Denied int `json:"denied,omitempty"`
	Looked int `json:"looked,omitempty"` // attempts that were excused for only reading files
	// attempts that left fewer tasks open than all attempts before
	Fewer int `json:"fewer,omitempty"`
	// attempts in a row that passed all gates, but whose agent did not report that it is done
	Unsigned int      `json:"unsigned,omitempty"`
	Failing  []TestID `json:"failing,omitempty"`  // tests that failed at this visit, at most 200
	BestAt   int      `json:"best_at,omitempty"`  // number of the checkpoint of the attempt that got furthest
	BestHas  Reached  `json:"best_has,omitzero"`  // how far that attempt got
	Tampered int      `json:"tampered,omitempty"` // attempts in a row that tampered with tests
	// findings about tampered tests at this visit, each as kind, path and test
	Found []string `json:"found,omitempty"`
	Again bool     `json:"again,omitempty"` // the newest attempt has a finding that an earlier attempt had
	// the agent's conversation that the next attempt may continue
	Conversation *Conversation `json:"conversation,omitempty"`
}

// Step is the kind of progress of an attempt that did not pass.
type Step string

const (
	StepAhead    Step = "ahead"    // the attempt got further than any earlier attempt at this visit
	StepMoved    Step = "moved"    // the attempt fails in a new way on a new tree, and breaks nothing more
	StepLooked   Step = "looked"   // the attempt only read files, which is excused once
	StepUnsigned Step = "unsigned" // the attempt passes its gates, but the agent did not report that it is done
)

// Reached measures how far an attempt got, by counts from the judgement of one tree. A value returned by Most combines
// the best counts of several attempts.
type Reached struct {
	Ran     bool `json:"ran,omitempty"`     // the tests could be built and run
	Targets int  `json:"targets,omitempty"` // tests of the lap that pass
	Gates   int  `json:"gates,omitempty"`   // gates that pass
	Tests   int  `json:"tests,omitempty"`   // tests that pass, if the lap has no tests
	Holdout int  `json:"holdout,omitempty"` // hold-out tests that pass
	// open tasks plus one, as `left` of the gates; the lowest of several attempts; none if it is unknown
	Left int `json:"left,omitempty"`
}

// Reached returns how far the judged attempt got. An attempt that tampered with tests got nowhere.
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

// Beyond reports whether any value of r is better than the same value of `most`.
func (r Reached) Beyond(most Reached) bool {
	return r.Ran && !most.Ran || r.Targets > most.Targets || r.Gates > most.Gates || r.Tests > most.Tests ||
		r.Holdout > most.Holdout || r.LeavesLess(most)
}

// LeavesLess reports whether fewer tasks are left in r than in `than`. It reports false if one of the numbers is
// unknown.
func (r Reached) LeavesLess(than Reached) bool {
	return r.Left > 0 && than.Left > 0 && r.Left < than.Left
}

// Less reports whether r got less far than `other`. The values are compared one by one, the most important first.
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

// Most returns a result that has, for each value, the better one of r and `other`.
func (r Reached) Most(other Reached) Reached {
	left := r.Left
	if left == 0 || other.LeavesLess(r) {
		left = other.Left
	}
	return Reached{Ran: r.Ran || other.Ran, Targets: max(r.Targets, other.Targets), Gates: max(r.Gates, other.Gates),
		Tests: max(r.Tests, other.Tests), Holdout: max(r.Holdout, other.Holdout), Left: left}
}

// Failing returns the tests because of which the attempt fails. `all` is false if the list may be incomplete, because a
// gate names only the first MaxNamed tests.
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

// Known reports whether the visit began with this tree, or an attempt of the visit has already produced it.
func (v *Visit) Known(t Tree) bool { return t == v.Tree || slices.Contains(v.Trees, t) }
