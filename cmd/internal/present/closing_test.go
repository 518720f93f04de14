package present

import (
	"testing"

	"github.com/wfs-dev/wfs/session"
)

// TestLapTests counts a lap's tests once, whether or not they had names from the start.
func TestLapTests(t *testing.T) {
	t.Parallel()
	two := []session.TestID{"a::one", "a::two"}
	waits := session.Checkpoint{Lap: 1, NextLap: 1, Next: "GREEN"}
	waits.Expected = []string{"a"}
	named := session.Checkpoint{Lap: 1, NextLap: 1, Next: "REFACTOR"}
	named.Targets = two
	over := session.Checkpoint{Lap: 1, NextLap: 2, Next: "RED"}
	second := session.Checkpoint{Lap: 2, NextLap: 2, Next: "GREEN"}
	second.Targets = two[:1]
	for name, c := range map[string]struct {
		way  []session.Checkpoint
		n    int
		said string
	}{
		"none":                        {nil, 0, "0 "},
		"named after they waited":     {[]session.Checkpoint{waits, named, over}, 2, "2 "},
		"two laps":                    {[]session.Checkpoint{waits, named, over, second}, 3, "3 "},
		"a lap that never named them": {[]session.Checkpoint{waits, over, second}, 2, ""},
	} {
		if n, said := LapTests(c.way); n != c.n || said != c.said {
			t.Errorf("%s: %d, %q, want %d, %q", name, n, said, c.n, c.said)
		}
	}
}
