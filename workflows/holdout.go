package workflows

import (
	"fmt"
	"maps"
	"slices"
)

// Reveal says what agents are told about failing hold-out tests.
type Reveal string

const (
	RevealCount Reveal = "count" // the number of failing tests
	RevealNames Reveal = "names" // the names of failing tests
)

// Holdout describes hold-out tests: tests that agents never see. Their files are added to finished work in a clean
// tree. A plan identifies the files by a digest, but does not contain them.
type Holdout struct {
	Digest string `json:"digest"` // SHA-256 of the files, in hexadecimal
	Files  int    `json:"files"`
	// Gate is the gate that runs the hold-out tests; nil means the gates that the finished work has passed.
	Gate   *Gate  `json:"gate,omitempty"`
	Reveal Reveal `json:"reveal,omitempty"` // "" means RevealCount
}

// HoldoutConfig configures how hold-out tests run.
type HoldoutConfig struct {
	Gate   string `json:"gate,omitempty" is:"name"` // name of the gate that runs them
	Reveal Reveal `json:"reveal,omitempty" is:"count|names" default:"count"`
}

// ResolveHoldout returns a copy of `h`, whose digest and number of files are set, with the gate and the Reveal of the
// configuration. It returns nil if `h` is nil, or if the configuration names an unsuitable gate; then there is a
// finding.
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
		f := Findingf("holdout: there is no gate %q\nwrite it under gates:", name)
		if near := Suggest(name, slices.Collect(maps.Keys(c.Gates))); near != "" {
			f.Hint = fmt.Sprintf("there is a gate %q", near)
		}
		return nil, []Finding{f}
	case g.MayChangeTree:
		return nil, []Finding{Findingf("holdout: gate %s may change the tree, and these tests run in a clean one\n"+
			"name another gate", name)}
	}
	g.Name, g.Expect, g.Stable = name, "", 0
	out.Gate = &g
	return out, nil
}
