package session

import "slices"

// foundFlaky folds what a judgement says is flaky. It is named from now on, and nothing else: an attempt that
// makes a test flaky must not be rid of it by that.
func (s *Session) foundFlaky(j *Judgement) {
	all := slices.Clone(s.Flaky)
	for _, g := range j.Gates {
		all = append(all, g.Flaky...)
	}
	slices.Sort(all)
	all = slices.Compact(all)
	s.Flaky = all[:min(len(all), MaxNamed)]
}

// FlakyTests are all tests that did now this and now that on the same files: on the base, where they are not
// held against anybody, or later. Sorted.
func (s *Session) FlakyTests() []TestID {
	all := slices.Clone(s.Flaky)
	if s.Base0 != nil {
		all = append(all, s.Base0.Flaky...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}
