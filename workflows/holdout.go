package workflows

import (
	"fmt"
	"maps"
	"slices"
)

// Reveal says what agents learn about hold-out tests that fail.
type Reveal string

const (
	RevealCount Reveal = "count" // their number
	RevealNames Reveal = "names" // their names
)

// Holdout are tests that agents never see: files that are added to finished work in a clean tree. A plan has data to
// identify the files, but not the files.
type Holdout struct {
	Digest string `json:"digest"` // SHA-256 of the files, in hexadecimal
	Files  int    `json:"files"`
	// Gate runs them; nil: the gates that the finished work has passed.
	Gate   *Gate  `json:"gate,omitempty"`
	Reveal Reveal `json:"reveal,omitempty"` // "" is RevealCount
}

// HoldoutConfig says how hold-out tests run, wherever they come from.
type HoldoutConfig struct {
	Gate   string `json:"gate,omitempty" is:"name"` // name of a gate
	Reveal Reveal `json:"reveal,omitempty" is:"count|names" default:"count"`
}

// ResolveHoldout applies the configuration to hold-out tests, whose digest and number of files are set. It returns nil
// for nil.
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
