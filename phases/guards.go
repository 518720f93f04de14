package phases

import (
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/phases/gate"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
)

// guarded returns the changed paths that a phase's guards forbid, sorted. It ignores paths in `.wfs/`, because they
// are not part of a session.
func guarded(g workflows.Guards, changes []session.Change) []string {
	var bad []string
	for _, c := range changes {
		if c.Path == ".wfs" || strings.HasPrefix(c.Path, ".wfs/") {
			continue
		}
		if len(g.Only) > 0 && !gate.MatchAny(g.Only, c.Path) || gate.MatchAny(g.Except, c.Path) {
			bad = append(bad, c.Path)
		}
	}
	slices.Sort(bad)
	return bad
}
