package session

import (
	"fmt"
	"strings"
)

// HoldoutResult is the result of the hold-out tests on a tree. Agents never see hold-out tests, so it has no names of
// tests unless the plan reveals them.
type HoldoutResult struct {
	Tree    Tree    `json:"tree"`    // the tree that was judged
	Digest  string  `json:"digest"`  // digest of the hold-out tests, as in the plan
	Verdict Verdict `json:"verdict"` // `pass`, `fail`; `blocked`: they could not be run
	Reason  string  `json:"reason"`  // one sentence
	Passed  int     `json:"passed"`  // tests that pass
	// tests that fail; a package or file that cannot be built or loaded counts once
	Failed  int      `json:"failed"`
	NotRun  int      `json:"not_run,omitempty"` // files with tests of which none ran
	Failing []TestID `json:"failing,omitempty"` // names of failing tests, only with `reveal: names`; at most 50
	Millis  int64    `json:"millis"`            // duration of the gates in milliseconds
	// name of the directory with the gates' output, in the user's state directory
	Run string `json:"run,omitempty"`
}

// Concludes sets the verdict and the reason from the counts.
func (r *HoldoutResult) Concludes() {
	all := r.Passed + r.Failed
	r.Verdict = Pass
	switch {
	case r.Failed+r.NotRun > 0:
		r.Verdict = Fail
		r.Reason = ""
		if r.Failed > 0 {
			r.Reason = fmt.Sprintf("%d of %d hold-out tests fail", r.Failed, all)
			if all == 1 {
				r.Reason = "1 hold-out test fails"
			}
		}
		if r.NotRun > 0 {
			if r.Reason != "" {
				r.Reason += ", and "
			}
			r.Reason += fmt.Sprintf("the tests of %d hold-out files did not run", r.NotRun)
			if r.NotRun == 1 {
				r.Reason = strings.Replace(r.Reason, "1 hold-out files", "1 hold-out file", 1)
			}
		}
	case all == 0:
		r.Verdict, r.Reason = Fail, "no hold-out test ran"
	case all == 1:
		r.Reason = "1 hold-out test passes"
	default:
		r.Reason = fmt.Sprintf("%d hold-out tests pass", all)
	}
}

// HoldoutAt returns the result of the hold-out tests on a checkpoint's tree, nil if it is unknown.
func (s *Session) HoldoutAt(checkpoint int) *HoldoutResult {
	c := s.At(checkpoint)
	if c == nil || s.Holdout == nil || s.Holdout.Tree != c.Tree {
		return nil
	}
	return s.Holdout
}
