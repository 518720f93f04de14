package running

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// TestLongHistory: all events of a session of twenty laps are read, each once and in order.
func TestLongHistory(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write(".wfs/config.yaml", "version: 1\nclean-proof: off\nauto-save: off\ngates:\n  tests: {run: \"true\"}\n")
	p.write(".wfs/workflows/many.yaml", "version: 1\nname: many\nstart: WORK\nlaps: {agree: auto, max: 20}\nphases:\n"+
		"  WORK: {run: {command: 'echo $WFS_RUN_ID > a.txt'}, gates: [{use: tests}], on: {pass: next-lap}}\n")
	items := ""
	for i := range 20 {
		items += fmt.Sprintf("- [ ] item %d\n", i)
	}
	p.write("items.md", items)
	p.ok("git", "add", "-A")
	p.ok("git", "commit", "-q", "-m", "many")
	p.ok("wfs", "trust", "--yes")
	p.ok("wfs", "new", "many", "--workflow", "many", "--spec", "items.md")
	p.ok("wfs", "run")
	laps := 0
	for n, line := range strings.Split(p.ok("wfs", "log", "many", "--events", "--json"), "\n") {
		var e struct {
			Seq  int
			Kind string
		}
		if err := json.Unmarshal([]byte(line), &e); err != nil || e.Seq != n+1 {
			t.Fatalf("event %d: %v: %s", n+1, err, line)
		}
		if e.Kind == "judged" {
			laps++
		}
	}
	if laps != 20 {
		t.Errorf("%d laps", laps)
	}
}
