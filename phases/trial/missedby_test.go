package trial

import (
	"testing"

	"github.com/wfs-dev/wfs/phases/gate"
	"github.com/wfs-dev/wfs/phases/report"
	"github.com/wfs-dev/wfs/session"
)

// TestMissedBy: a change that a row noticed may be noticed by any row of its table, but by no other existing test.
func TestMissedBy(t *testing.T) {
	t.Parallel()
	run := func(failing []session.TestID, all ...session.TestID) *gate.Run {
		r := &gate.Run{Report: report.New()}
		for _, id := range all {
			r.Report.Tests[id] = session.TestPass
		}
		for _, id := range failing {
			r.Report.Tests[id] = session.TestFail
		}
		return r
	}
	const (
		first, second = "example.org/m.TestSum/#00", "example.org/m.TestSum/#01"
		deep          = "example.org/m.TestSum/float/#00"
		other, fresh  = "example.org/m.TestOther", "example.org/m.TestFresh"
	)
	for name, tc := range map[string]struct {
		before, after []session.TestID
		all           []session.TestID
		missed        session.TestID
	}{
		"the same row":        {before: []session.TestID{first}, after: []session.TestID{first}, all: []session.TestID{first, second, other}},
		"another row":         {before: []session.TestID{first}, after: []session.TestID{second}, all: []session.TestID{first, second, other}},
		"a row of another":    {before: []session.TestID{first}, after: []session.TestID{deep}, all: []session.TestID{first, second, deep}},
		"another test":        {before: []session.TestID{first}, after: []session.TestID{other}, all: []session.TestID{first, other}, missed: first},
		"nothing notices":     {before: []session.TestID{first}, all: []session.TestID{first, second}, missed: first},
		"a new test":          {before: []session.TestID{other}, after: []session.TestID{fresh}, all: []session.TestID{other}},
		"it does not run now": {before: []session.TestID{first}, after: []session.TestID{other}, all: []session.TestID{other}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			old := run(tc.before, first, second, deep, other)
			if got := missedBy(tc.before, tc.after, old, run(tc.after, tc.all...)); got != tc.missed {
				t.Errorf("missed %q, want %q", got, tc.missed)
			}
		})
	}
}
