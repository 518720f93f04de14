package session

import "strings"

// Proof is what the gates of finished work say about its tree alone: in a clean tree, without what only lies
// beside it in the work tree.
type Proof struct {
	Tree Tree `json:"tree"` // what was judged
	// `pass`; `fail`: the work does not pass with its own files alone; `blocked`: the gates could not run there, which
	// wfs reports and which stops nothing
	Verdict Verdict      `json:"verdict"`
	Class   Class        `json:"class"`           // `green`, `not_clean`, `infra_error`
	Reason  string       `json:"reason"`          // one sentence
	Gates   []GateResult `json:"gates,omitempty"` // one for each gate that was run
	// files of the work tree that no checkpoint has, and that the output of the failing gate mentions; at most 50. An
	// older wfs listed files with which the gates pass (paths)
	Lacks []string `json:"lacks,omitempty"`
}

// Unproven says why finished work is not proven, "" when it is, or when that is another tree's.
func (p *Proof) Unproven(tree Tree) string {
	if p == nil || p.Tree != tree || p.Verdict == Pass {
		return ""
	}
	return p.Why()
}

// Why is the proof's reason, without what older versions of wfs put before it.
func (p *Proof) Why() string { return strings.TrimPrefix(p.Reason, "not proven clean: ") }
