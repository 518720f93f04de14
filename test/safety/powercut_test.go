//go:build linux && amd64

package safety

import (
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wfs-dev/wfs/internal/faults"
)

// TestBar13PowerCut records how every deed changes the disk, and checks the states that a power cut after each call
// would leave: without the content that was not synced, and without the names as well. WFS_SWEEP sets how many of
// these states are checked, and WFS_SWEEP_DEED of which deeds.
func TestBar13PowerCut(t *testing.T) {
	density := sweepDensity(t)
	for _, d := range sweptDeeds(t) {
		t.Run(d.name, func(t *testing.T) {
			t.Parallel()
			sampleDeed(t)
			powerCuts(t, d, density)
		})
	}
}

func powerCuts(t *testing.T, d deed, density density) {
	p := newTestbed(t, d)
	p.fixture(t)
	disk, err := faults.ReadDisk(p.top)
	if err != nil {
		t.Fatal(err)
	}
	out := p.traced(t, d, faults.Fault{Mode: faults.Run})
	if out.Exit != 0 {
		t.Fatalf("exit %d: %s", out.Exit, out.Output)
	}
	end := len(out.Calls)
	h := fnv.New32()
	h.Write([]byte(d.name))
	looked := map[int]bool{end: true}
	for _, n := range density.points(end, h.Sum32()) {
		looked[n] = true
	}
	states, bad, total := 0, 0, foundSum{}
	// A state is checked again only after a call that changes it: due is set by such a call, for each model.
	due := map[faults.Model]bool{}
	for n, c := range out.Calls {
		if err := disk.Apply(c); err != nil {
			t.Fatalf("call %d: %v", n+1, err)
		}
		if c.Kind == faults.Rename && lasting(c.To) && !disk.Synced(c.To) {
			t.Errorf("call %d renames a file that was not synced: %s", n+1, c)
		}
		for _, m := range []faults.Model{faults.ContentLost, faults.NamesLost} {
			due[m] = due[m] || c.Matters(m)
			if !looked[n+1] || !due[m] && n+1 != end {
				continue
			}
			due[m] = false
			states++
			ok := t.Run(fmt.Sprintf("%s_%d", m, n+1), func(t *testing.T) {
				f := p.afterPowerCut(t, disk, m)
				defer func() {
					total.add(f)
					if t.Failed() {
						t.Logf("power cut after %s", c)
					}
				}()
				f.Unsynced, f.Dark = m == faults.NamesLost, true
				if n+1 == end { // the command reported success, so its effect must last
					f.nothingLost(p.before)
					f.ok("wfs", "status", "one")
					f.asDone(d, p.theirs)
					return
				}
				f.Cut = true
				f.afterwards(d, p.before, p.theirs)
			})
			if !ok {
				bad++
			}
		}
	}
	logRow(t, d, "power cut", states, 0, bad, total)
}

// lasting reports whether a path is of git's own data, such as an index or a ref, so that its content must be synced
// before the file gets that name. Files of wfs may be caches; marks, which only have to exist, need no content.
func lasting(path string) bool {
	return strings.HasPrefix(path, "repo/.git/") && !strings.HasPrefix(path, "repo/.git/wfs/") &&
		path != "repo/.git/gc.pid" && filepath.Ext(path) != ".keep"
}

// afterPowerCut replaces the fixture by the state of the disk after a power cut.
func (p *testbed) afterPowerCut(t *testing.T, disk *faults.Disk, m faults.Model) *fixture {
	t.Helper()
	p.used = true
	if err := os.RemoveAll(p.top); err != nil {
		t.Fatal(err)
	}
	if err := disk.Cut(m, p.top); err != nil {
		t.Fatal(err)
	}
	return &fixture{t: t, dir: p.f.dir, env: p.f.env}
}
