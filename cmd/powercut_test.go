//go:build failpoints && linux && amd64

package cmd

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wfs-dev/wfs/internal/faults"
)

// TestPowerCut records what every deed does to the disk, and looks at what a power cut after each call would leave: by
// content that was not synced, and by names as well. WFS_SWEEP says how many of these states are looked at.
func TestPowerCut(t *testing.T) {
	every := sweepEvery(t)
	only := os.Getenv("WFS_SWEEP_DEED")
	for _, d := range deeds {
		if only != "" && d.name != only {
			continue
		}
		t.Run(d.name, func(t *testing.T) {
			t.Parallel()
			powerCuts(t, d, every)
		})
	}
}

func powerCuts(t *testing.T, d deed, every int) {
	f := d.fixture(t)
	before, theirs := f.blobs(), f.userThings()
	disk, err := faults.ReadDisk(f.dir)
	if err != nil {
		t.Fatal(err)
	}
	wfs, err := exec.LookPath("wfs")
	if err != nil {
		t.Fatal(err)
	}
	out := traced(t, faults.Command{Argv: append([]string{wfs}, strings.Fields(d.args)...), Dir: f.dir, Env: f.env, Root: f.dir}, faults.Fault{Mode: faults.Run})
	states := 0
	for n := 0; n <= len(out.Calls); n++ {
		if n > 0 {
			if err := disk.Apply(out.Calls[n-1]); err != nil {
				t.Fatalf("call %d: %v", n, err)
			}
		}
		if n%every != 0 && n != len(out.Calls) {
			continue
		}
		for _, m := range []faults.Model{faults.ContentLost, faults.NamesLost} {
			states++
			t.Run(fmt.Sprintf("%s/%d", m, n), func(t *testing.T) {
				after := f.afterPowerCut(t, disk, m)
				defer func() {
					if t.Failed() && n > 0 {
						t.Logf("power cut after %s", out.Calls[n-1])
					}
				}()
				if n == len(out.Calls) && out.Exit == 0 && d.done != nil { // what was said to be done is done
					d.done(after)
				}
				after.afterwards(d, before, theirs)
			})
		}
	}
	t.Logf("%d calls, %d states", len(out.Calls), states)
}

// afterPowerCut is the fixture with what is left of its repository.
func (f *fixture) afterPowerCut(t *testing.T, disk *faults.Disk, m faults.Model) *fixture {
	t.Helper()
	top := filepath.Join(t.TempDir(), "all")
	old := filepath.Dir(f.dir)
	if err := os.MkdirAll(filepath.Join(top, "repo"), 0o755); err != nil {
		t.Fatal(err)
	}
	files, err := os.ReadDir(old)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range files {
		if e.Name() != "repo" {
			if out, err := exec.Command("cp", "-a", filepath.Join(old, e.Name()), top).CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
		}
	}
	if err := disk.Cut(m, filepath.Join(top, "repo")); err != nil {
		t.Fatal(err)
	}
	after := &fixture{t: t, dir: filepath.Join(top, "repo"), env: fixtureEnv(top)}
	after.ok("wfs", "trust", "--yes")
	for _, id := range []string{"one", "two"} {
		after.ok("wfs", "trust", id, "--yes")
	}
	return after
}
