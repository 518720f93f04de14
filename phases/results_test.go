package phases

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/wfs-dev/wfs/internal/durable"
	"github.com/wfs-dev/wfs/internal/proc"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
)

// resultsIn are results in a directory, as a process of its own has them, at a time.
func resultsIn(dir string, now time.Time) *Results {
	return &Results{Dir: dir, Now: func() time.Time { return now }}
}

func TestResultsAreKeptAndNotBelievedBlindly(t *testing.T) {
	t.Parallel()
	dir, now := filepath.Join(t.TempDir(), "evidence"), time.Unix(1_700_000_000, 0)
	rep := newReport()
	rep.tests["a.TestA"] = session.TestPass
	ran := &gateRun{gate: workflows.Gate{Name: "tests"}, ended: proc.Exited, report: rep}
	resultsIn(dir, now).put("key", ran, nil)
	if k := resultsIn(dir, now).get("key"); k == nil || k.Tests["a.TestA"] != session.TestPass {
		t.Fatalf("not kept: %+v", k)
	}
	for name, r := range map[string]*Results{
		"another key": nil, "too old": resultsIn(dir, now.Add(maxResultAge+time.Second)), "from the future": resultsIn(dir, now.Add(-time.Second)),
		"to be tested again": {Dir: dir, Now: func() time.Time { return now }, Retest: true},
	} {
		key := "key"
		if r == nil {
			r, key = resultsIn(dir, now), "other"
		}
		if k := r.get(key); k != nil {
			t.Errorf("%s: %+v", name, k)
		}
	}
}

// While somebody is at work who could write results of his own, what he writes or replaces does not count, neither then
// nor later; and when this process dies meanwhile, nothing does.
func TestResultsOfOthersAreThrownAway(t *testing.T) {
	t.Parallel()
	dir, now := filepath.Join(t.TempDir(), "evidence"), time.Unix(1_700_000_000, 0)
	rep := newReport()
	rep.tests["a.TestA"] = session.TestFail
	ran := &gateRun{gate: workflows.Gate{Name: "tests"}, ended: proc.Exited, exit: 1, report: rep}
	resultsIn(dir, now).put("kept", ran, nil)
	resultsIn(dir, now).put("replaced", ran, nil)
	text, err := os.ReadFile(filepath.Join(dir, "kept.json"))
	if err != nil {
		t.Fatal(err)
	}
	forge := func() {
		for _, name := range []string{"new.json", "replaced.json"} {
			if err := os.WriteFile(filepath.Join(dir, name), append(text, '\n'), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	r := resultsIn(dir, now)
	r.Before()
	forge()
	for _, key := range []string{"new", "replaced"} {
		if r.get(key) != nil {
			t.Errorf("%s was believed while somebody was at work", key)
		}
	}
	r.After()
	for _, key := range []string{"new", "replaced"} {
		if r.get(key) != nil || resultsIn(dir, now).get(key) != nil {
			t.Errorf("%s was believed afterwards", key)
		}
	}
	if resultsIn(dir, now).get("kept") == nil {
		t.Error("what nobody touched is gone")
	}

	resultsIn(dir, now).Before()
	forge() // and this process dies
	for _, key := range []string{"kept", "new", "replaced"} {
		if resultsIn(dir, now).get(key) != nil {
			t.Errorf("%s was believed after a process died", key)
		}
	}
}

func TestResultsLeaveNothingOfKilledProcesses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	left := filepath.Join(dir, durable.TempPrefix+"123")
	if err := os.WriteFile(left, []byte("half"), 0o600); err != nil {
		t.Fatal(err)
	}
	resultsIn(dir, time.Unix(0, 0)).get("key")
	if _, err := os.Lstat(left); err == nil {
		t.Error("it is still there")
	}
}
