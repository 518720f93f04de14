package safety

import (
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/wfs-dev/wfs/internal/testkit"
)

// loseJournal kills a run of session one in the middle of its attempt, and deletes everything that wfs keeps outside of
// Git.
func loseJournal(f *fixture) {
	f.savingAgent(1, "wait_for false")
	kill := f.begins("run", "--note", "use tabs")
	f.until("the auto-save of step 1", func() bool { return f.saved("step1") })
	kill()
	if err := os.RemoveAll(filepath.Join(f.dir, ".git/wfs")); err != nil {
		f.t.Fatal(err)
	}
}

// givenBack checks that the events of the interrupted attempt are in the ledger, in their order, once each.
func (f *fixture) givenBack() {
	f.t.Helper()
	want := []string{"noted", "driving", "attempt_started", "interrupted"}
	var kinds []string
	for _, line := range strings.Split(f.ok("wfs", "log", "--events", "one", "--json"), "\n") {
		var e struct{ Kind string }
		if json.Unmarshal([]byte(line), &e) == nil && e.Kind != "" {
			kinds = append(kinds, e.Kind)
		}
	}
	for _, kind := range want {
		if n := strings.Count(" "+strings.Join(kinds, " ")+" ", " "+kind+" "); n != 1 {
			f.t.Errorf("%s %d times in %q", kind, n, kinds)
		}
	}
	if all := strings.Join(kinds, " "); !strings.Contains(all, strings.Join(want, " ")) {
		f.t.Errorf("%q", all)
	}
	testkit.Holds(f.t, f.ok("wfs", "log", "--events", "one"), "use tabs")
}

// TestBar18JournalFromAutoSave: what happened since the ledger's newest commit is not lost with .git/wfs. Readers see it,
// and the next command that uses the session takes it back.
func TestBar18JournalFromAutoSave(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the processes of a dead run are found on Linux only")
	}
	t.Parallel()
	for name, how := range map[string]struct {
		typed []string
		says  string
	}{
		"the next command":       {[]string{"wfs", "checkpoint"}, "the journal of one was gone: "},
		"the repair of a doctor": {[]string{"wfs", "doctor", "--repair"}, "events are restored"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := plainTemplate.fixture(t)
			loseJournal(f)
			testkit.Holds(t, f.ok("wfs", "status"), "interrupted")
			if f.exists(".git/wfs") {
				t.Error("a reader wrote something")
			}
			testkit.Holds(t, f.ok("wfs", "doctor"), "is missing; the latest backup holds 3 events of it", "Type: wfs doctor --repair")
			testkit.Holds(t, f.ok(how.typed...), how.says)
			f.ok("wfs", "checkpoint")
			f.givenBack()
			f.branchHolds("wfs/one", "step1")
			f.sound()
			testkit.Holds(t, f.ok("wfs", "doctor"), "no problems found")
			// With another ledger commit the auto-save is of the past, and gives back nothing.
			if err := os.RemoveAll(filepath.Join(f.dir, ".git/wfs")); err != nil {
				t.Fatal(err)
			}
			f.write("later.txt", "later\n")
			if out := f.ok("wfs", "checkpoint"); strings.Contains(out, "back, from") {
				t.Error(out)
			}
			f.givenBack()
		})
	}
}
