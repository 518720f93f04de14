package session

import "strings"

// Proof is the result of the gates on the tree of finished work alone: in a clean tree, without other files of the work
// tree.
type Proof struct {
	Tree Tree `json:"tree"` // the tree that was judged
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

// Unproven returns why the work on a tree is not proven. It returns "" if it is, or if the proof is about another tree.
func (p *Proof) Unproven(tree Tree) string {
	if p == nil || p.Tree != tree || p.Verdict == Pass {
		return ""
	}
	return p.Why()
}

// Why returns the proof's reason, without the prefix of older versions of wfs.
func (p *Proof) Why() string { return strings.TrimPrefix(p.Reason, "not proven clean: ") }
