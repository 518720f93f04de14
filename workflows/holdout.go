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

// Holdout are tests that whoever works never sees: files that are put over finished work in a clean tree. A
// plan has what tells them from others, and never the files.
type Holdout struct {
	Digest string `json:"digest"` // SHA-256 of the files, in hexadecimal
	Files  int    `json:"files"`
	// Gate judges with them; nil: the gates that the finished work has passed.
	Gate   *Gate  `json:"gate,omitempty"`
	Reveal Reveal `json:"reveal,omitempty"` // "" is RevealCount
}

// HoldoutConfig says how hold-out tests are run, wherever they come from.
type HoldoutConfig struct {
	Gate   string `json:"gate,omitempty" is:"name"` // name of a gate
	Reveal Reveal `json:"reveal,omitempty" is:"count|names" default:"count"`
}

// ResolveHoldout gives hold-out tests, of which the digest and the number of files are known, what the
// configuration says of them. nil stays nil.
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

// text is for people.
