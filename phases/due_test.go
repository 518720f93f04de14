package phases

import (
	"testing"

	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
)

// TestDue: gates may wait. But a phase that expects red needs a gate that does, and no phase passes without a command
// just because no gate's paths changed.
func TestDue(t *testing.T) {
	gate := func(name string, expect workflows.Expect, when workflows.When, paths ...string) workflows.Gate {
		return workflows.Gate{Name: name, Run: workflows.Command{Shell: "true"}, Expect: expect, When: when, Paths: paths}
	}
	const red, lap, finish = workflows.ExpectRed, workflows.WhenLap, workflows.WhenFinish
	for name, c := range map[string]struct {
		gates []workflows.Gate
		now   string
	}{
		"all":                         {[]workflows.Gate{gate("a", red, ""), gate("b", "", "")}, "a b "},
		"the only red one, at a lap":  {[]workflows.Gate{gate("a", red, lap)}, "a "},
		"the only red one, at finish": {[]workflows.Gate{gate("a", red, finish), gate("lint", "", "")}, "a lint "},
		"another one is red":          {[]workflows.Gate{gate("a", red, ""), gate("slow", red, finish)}, "a "},
		"paths, beside a linter":      {[]workflows.Gate{gate("a", red, "", "/a/"), gate("lint", "", "")}, "a lint "},
		"other paths changed":         {[]workflows.Gate{gate("a", red, "", "/a/"), gate("b", red, "", "/b/")}, "b "},
		"no paths changed":            {[]workflows.Gate{gate("a", "", "", "/a/"), gate("c", "", "", "/c/"), gate("slow", "", finish)}, "a c "},
		"a lap, no red":               {[]workflows.Gate{gate("a", "", lap)}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			now, later := due(session.JudgeRequest{Phase: workflows.Phase{Gates: c.gates}, Changed: []session.Change{{Path: "b/x"}}})
			got := ""
			for _, g := range now {
				got += g.Name + " "
			}
			if got != c.now || len(now)+len(later) != len(c.gates) {
				t.Errorf("now %q and %d later, want %q of %d", got, len(later), c.now, len(c.gates))
			}
		})
	}
}
