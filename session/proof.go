package session

import "strings"

// Proof is the result of the gates on finished work in a clean tree: without the other files of the work tree.
type Proof struct {
	Tree Tree `json:"tree"` // the tree that was judged
	// `pass`; `fail` (the work does not pass with only its own files); `blocked` (the gates could not run in a clean
	// tree: wfs reports this, and continues)
	Verdict Verdict      `json:"verdict"`
	Class   Class        `json:"class"`           // `green`, `not_clean`, `infra_error`
	Reason  string       `json:"reason"`          // one sentence
	Gates   []GateResult `json:"gates,omitempty"` // one for each gate that was run
	// files of the work tree that are in no checkpoint, and that the output of the failing gate mentions; at most 50.
	// An older wfs listed files with which the gates pass (paths)
	Lacks []string `json:"lacks,omitempty"`
}

// Unproven returns the reason if this proof shows that the work on a tree does not pass in a clean tree. It returns ""
// if the work passes there, or if there is no proof for this tree.
func (p *Proof) Unproven(tree Tree) string {
	if p == nil || p.Tree != tree || p.Verdict == Pass {
		return ""
	}
	return p.Why()
}

// Why returns the reason of the proof, without a prefix that older versions of wfs added.
func (p *Proof) Why() string { return strings.TrimPrefix(p.Reason, "not proven clean: ") }
