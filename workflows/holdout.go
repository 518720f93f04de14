package workflows

import (
	"fmt"
	"maps"
	"slices"
)

// Reveal says what whoever works is told of hold-out tests that fail.
type Reveal string

const (
	RevealCount Reveal = "count" // how many
	RevealNames Reveal = "names" // which
)

// Holdout are tests that whoever works never sees: files that are put over finished work in a clean tree. A plan has what
// tells them from others, and never the files.
type Holdout struct {
	Digest string `json:"digest"` // SHA-256 of the files, in hexadecimal
	Files  int    `json:"files"`
	// Gate judges with them; nil: the gates that the finished work has passed.
	Gate   *Gate  `json:"gate,omitempty"`
	Reveal Reveal `json:"reveal,omitempty"` // "" is RevealCount
}

// HoldoutConfig says how hold-out tests are run, wherever they come from.
type HoldoutConfig struct {
	Gate   string `json:"gate,omitempty"` // name of a gate
	Reveal Reveal `json:"reveal,omitempty"`
}

var holdoutObject = &object{
	name: "holdout", about: "How hold-out tests run and are reported. Their place is given by wfs new --holdout DIR.",
	keys: []key{
		{name: "gate", about: "The gate that runs them, if it is not those of the workflow.", value: shape{kind: aName}},
		{name: "reveal", about: "What the agent learns about failing ones. count: how many. names: which. Never their content.",
			value: word(RevealCount, RevealNames), fallback: string(RevealCount)},
	},
}

func (r *reader) holdout(n *node) HoldoutConfig {
	f, _ := r.fields(n, "holdout", holdoutObject)
	return HoldoutConfig{Gate: r.name(f["gate"], "holdout: gate"),
		Reveal: Reveal(r.word(f["reveal"], "holdout: reveal", string(RevealCount), string(RevealNames)))}
}

// ResolveHoldout gives hold-out tests, of which the digest and the number of files are known, what the configuration says of
// them. nil stays nil.
func ResolveHoldout(h *Holdout, c *Config) (*Holdout, []Finding) {
	if h == nil {
		return nil, nil
	}
	out := &Holdout{Digest: h.Digest, Files: h.Files}
	if c.Holdout.Reveal == RevealNames {
		out.Reveal = RevealNames
	}
	name := c.Holdout.Gate
	if name == "" {
		return out, nil
	}
	g, ok := c.Gates[name]
	switch {
	case !ok:
		f := Finding{Message: fmt.Sprintf("holdout: there is no gate %q", name), Hint: "write it under gates:"}
		if near := Suggest(name, slices.Collect(maps.Keys(c.Gates))); near != "" {
			f.Hint = fmt.Sprintf("there is a gate %q", near)
		}
		return nil, []Finding{f}
	case g.MayChangeTree:
		return nil, []Finding{{Message: fmt.Sprintf("holdout: gate %s may change the tree, and these tests run in a clean one", name), Hint: "name another gate"}}
	}
	g.Name, g.Expect, g.Stable = name, "", 0
	out.Gate = &g
	return out, nil
}

// text is for people.
func (h *Holdout) text() string {
	if h == nil {
		return ""
	}
	s := fmt.Sprintf("%d files (%.8s)", h.Files, h.Digest)
	if h.Gate != nil {
		s += ", gate " + h.Gate.Name + ": " + h.Gate.text()
	}
	if h.Reveal != "" {
		s += ", reveals " + string(h.Reveal)
	}
	return s
}
