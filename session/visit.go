package session

import "slices"

// Visit is what the breaker and the guards need, since the phase was entered or, for the breaker, was reset.
type Visit struct {
	Attempts    int      `json:"attempts"`              // judged
	NoProgress  int      `json:"no_progress"`           // in a row
	SameFailure int      `json:"same_failure"`          // in a row
	Fingerprint string   `json:"fingerprint,omitempty"` // of the newest failure
	Seen        []string `json:"seen,omitempty"`        // all fingerprints
	Trees       []Tree   `json:"trees,omitempty"`       // all trees that were judged
	Best        int      `json:"best"`                  // most tests of the lap that passed at once
	// tree that the phase was entered with, for its guards. A reset of the breaker keeps it; `wfs checkpoint` and `wfs
	// resume` replace it, except `wfs resume --backup`
	Tree Tree `json:"tree,omitempty"`
	// files of an auto-save that `wfs resume --backup` restored: the interrupted attempt's
	Recovered Tree `json:"recovered,omitempty"`

	High Reached `json:"high,omitzero"` // the most of each at this visit
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
	Failing  []TestID `json:"failing,omitempty"`  // that failed at this visit, at most 200
	BestAt   int      `json:"best_at,omitempty"`  // checkpoint of the attempt that got furthest
	BestHas  Reached  `json:"best_has,omitzero"`  // how far that is
	Tampered int      `json:"tampered,omitempty"` // attempts in a row that tampered with tests
	// what such attempts at this visit did: kind, path and test
	Found []string `json:"found,omitempty"`
	Again bool     `json:"again,omitempty"` // the newest attempt repeated what was found before
	// Conversation that the next attempt may continue
	Conversation *Conversation `json:"conversation,omitempty"`
}

// maxFailing bounds Visit.Failing.
const maxFailing = 4 * MaxNamed

// Step is how an attempt that did not pass came closer.
type Step string

const (
	StepAhead    Step = "ahead"    // it got further than any attempt at this visit
	StepMoved    Step = "moved"    // it fails on a tree and in a way that are new here, and breaks nothing more
	StepLooked   Step = "looked"   // it only looked around, as it may once
	StepUnsigned Step = "unsigned" // its gates pass, and its agent's word is missing
)

// Reached is how far an attempt got. Counts go up only as long as nothing of what counts is lost: they are of one tree.
type Reached struct {
	Ran     bool `json:"ran,omitempty"`     // its tests could be built and run
	Targets int  `json:"targets,omitempty"` // tests of the lap that pass
	Gates   int  `json:"gates,omitempty"`   // gates that pass
	Tests   int  `json:"tests,omitempty"`   // tests that pass, where the lap has none of its own
	Holdout int  `json:"holdout,omitempty"` // hold-out tests that pass
	// as in GateResult, the lowest; none when it is unknown
	Left int `json:"left,omitempty"`
}

// Reached is how far the judged attempt got.
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

// Beyond reports whether r is more than has been reached, in anything.
func (r Reached) Beyond(most Reached) bool {
	return r.Ran && !most.Ran || r.Targets > most.Targets || r.Gates > most.Gates || r.Tests > most.Tests ||
		r.Holdout > most.Holdout || r.LeavesLess(most)
}

// LeavesLess reports whether fewer tasks are left than there, where both are known.
func (r Reached) LeavesLess(than Reached) bool {
	return r.Left > 0 && than.Left > 0 && r.Left < than.Left
}

// Less orders what was reached by what counts most.
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

// Most is the most of each that either has reached.
func (r Reached) Most(other Reached) Reached {
	left := r.Left
	if left == 0 || other.LeavesLess(r) {
		left = other.Left
	}
	return Reached{Ran: r.Ran || other.Ran, Targets: max(r.Targets, other.Targets), Gates: max(r.Gates, other.Gates),
		Tests: max(r.Tests, other.Tests), Holdout: max(r.Holdout, other.Holdout), Left: left}
}

// Failing are the tests that gates hold against the attempt. all is false when there may be more than are named.
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

// Untouched is the tree with the newest edits of people at this visit, what it began with when there are none:
// attempts made what came after it.
func (s *Session) Untouched() Tree {
	attempts := 0
	for c := range s.Back() {
		switch {
		case c.Class == ClassAsked: // it is no attempt of the visit's
		case c.Trigger == TriggerAttempt && attempts == s.Visit.Attempts: // of an earlier visit
			return s.Visit.Tree
		case c.Trigger == TriggerAttempt:
			attempts++
		case c.Trigger == TriggerFound || c.Trigger == TriggerSwitch || c.Trigger == TriggerHook:
			return c.Tree
		}
	}
	return s.Visit.Tree
}

// Known reports whether an attempt at this visit has left a tree before, or the visit began with it.
func (v *Visit) Known(t Tree) bool { return t == v.Tree || slices.Contains(v.Trees, t) }

// Furthest is the checkpoint of the attempt at this visit that got further than the newest one, nil when none did.
func (s *Session) Furthest() *Checkpoint {
	best := s.At(s.Visit.BestAt)
	if best == nil || best.Number == 0 || best.Number >= s.Current || s.Last == nil {
		return nil
	}
	newest := Judgement{Class: s.Last.Class, Gates: s.LastGates, Holdout: s.HoldoutAt(s.Current)}
	if !newest.Reached().Less(s.Visit.BestHas) {
		return nil
	}
	return best
}

// after is the visit after one more attempt at it, which became the checkpoint of that number.
func (v Visit) after(open *Open, d *Decided, fingerprint string, checkpoint int) Visit {
	v.Attempts++
	if d.Step == StepLooked {
		v.Looked++
	} else {
		v = v.counted(d, fingerprint)
	}
	v.Fingerprint = fingerprint
	if fingerprint != "" && !slices.Contains(v.Seen, fingerprint) {
		v.Seen = append(slices.Clip(v.Seen), fingerprint)
	}
	j := open.Judgement
	if j == nil {
		return v
	}
	v.Tampered, v.Again = v.Tampered+1, false
	if d.Class != ClassTampered {
		v.Tampered = 0
	} else {
		v = v.found(j.Grave())
	}
	unchanged := j.Tree == open.Tree
	switch {
	case d.Step == StepAhead, d.Step == StepUnsigned:
		v.Circles = 0
	case !unchanged && v.Known(j.Tree):
		v.Circles++
	}
	v.Idle++
	if !unchanged {
		v.Idle = 0
	}
	if unchanged && open.Run != nil && open.Run.Denials > 0 {
		v.Denied++
	} else {
		v.Denied = 0
	}
	if !slices.Contains(v.Trees, j.Tree) {
		v.Trees = append(slices.Clip(v.Trees), j.Tree)
	}
	v.Best = max(v.Best, j.Passing())
	r := j.Reached()
	if r.LeavesLess(v.High) {
		v.Fewer++
	}
	if v.High = v.High.Most(r); v.BestAt == 0 || v.BestHas.Less(r) {
		v.BestAt, v.BestHas = checkpoint, r
	}
	ids, _ := j.Failing()
	for _, id := range ids {
		if len(v.Failing) < maxFailing && !slices.Contains(v.Failing, id) {
			v.Failing = append(slices.Clip(v.Failing), id)
		}
	}
	return v
}

// found takes the findings of an attempt into what attempts at this visit are told of.
func (v Visit) found(list []Tampering) Visit {
	told := v.Found
	for _, t := range list {
		key := t.Kind + " " + t.Path + " " + t.Test
		v.Again = v.Again || slices.Contains(told, key)
		if len(v.Found) < maxFailing && !slices.Contains(v.Found, key) {
			v.Found = append(slices.Clip(v.Found), key)
		}
	}
	return v
}

// counted takes an attempt into what is counted in a row.
func (v Visit) counted(d *Decided, fingerprint string) Visit {
	v.NoProgress++
	if d.Progress {
		v.NoProgress = 0
	}
	switch {
	case d.Step == StepAhead, d.Step == StepUnsigned:
		v.Stale = 0
	case d.Step == "" && d.Progress: // of an older wfs, which did not say what kind
	default:
		v.Stale++
	}
	v.Unsigned++
	if d.Step != StepUnsigned {
		v.Unsigned = 0
	}
	switch {
	case d.Step == StepAhead: // how far it got counts, and not where it failed then
		v.SameFailure = 0
	case fingerprint != "" && fingerprint == v.Fingerprint:
		v.SameFailure++
	default:
		v.SameFailure = 1
	}
	return v
}
