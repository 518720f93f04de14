package plans

import (
	"fmt"
	"maps"
	"slices"

	"github.com/wfs-dev/wfs/workflows"
	"github.com/wfs-dev/wfs/workflows/spelling"
)

// ResolveHoldout returns a copy of `h`, whose digest and number of files are set, with the gate and the Reveal of the
// configuration. It returns nil if `h` is nil, or if the configuration names an unsuitable gate; then there is a
// finding.
func ResolveHoldout(h *workflows.Holdout, c *workflows.Config) (*workflows.Holdout, []workflows.Finding) {
	if h == nil {
		return nil, nil
	}
	out := &workflows.Holdout{Digest: h.Digest, Files: h.Files}
	if c.Holdout.Reveal == workflows.RevealNames {
		out.Reveal = workflows.RevealNames
	}
	name := c.Holdout.Gate
	if name == "" {
		return out, nil
	}
	g, ok := c.Gates[name]
	switch {
	case !ok:
		f := workflows.Findingf("holdout: there is no gate %q\nwrite it under gates:", name)
		if near := spelling.Suggest(name, slices.Collect(maps.Keys(c.Gates))); near != "" {
			f.Hint = fmt.Sprintf("there is a gate %q", near)
		}
		return nil, []workflows.Finding{f}
	case g.MayChangeTree:
		return nil, []workflows.Finding{workflows.Findingf(
			"holdout: gate %s may change the tree, and these tests run in a clean one\nname another gate", name)}
	}
	g.Name, g.Expect, g.Stable = name, "", 0
	out.Gate = &g
	return out, nil
}
