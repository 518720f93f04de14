//go:build linux && amd64

package safety

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"testing"

	"github.com/wfs-dev/wfs/internal/faults"
	"github.com/wfs-dev/wfs/internal/testkit"
)

// testbed is a bed with a tracer, which makes calls of its command go wrong.
type testbed struct {
	*bed
	tracer *testkit.Tracer
}

func newTestbed(t *testing.T, d deed) *testbed {
	t.Helper()
	p := &testbed{bed: newBed(t, d)}
	var err error
	if p.tracer, err = testkit.StartTracer(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.tracer.Close() })
	return p
}

// traced runs a deed's command in the bed, with a fault. It counts the calls that change anything below top: the
// repository, and work trees next to it.
func (p *testbed) traced(t *testing.T, d deed, fault faults.Fault) faults.Outcome {
	t.Helper()
	argv := d.command()
	program, err := exec.LookPath(argv[0])
	if err != nil {
		t.Fatal(err)
	}
	as := exec.Cmd{Env: p.f.env} // the last of two equal variables counts, as everywhere
	a, err := p.tracer.Run(faults.Command{Argv: append([]string{program}, argv[1:]...), Dir: p.f.dir, Env: as.Environ(), Root: p.top}, fault)
	if err != nil { // the tracer is gone, with the traced processes
		_ = p.tracer.Close()
		next, failed := testkit.StartTracer()
		if failed == nil {
			p.tracer = next
		}
		t.Fatal(errors.Join(err, failed))
	}
	return testkit.MayTrace(t, a)
}

// density sets how many of the points of a command are tried.
type density struct {
	every int // one in so many; 0 for few
	few   int // so many, spread over all
}

// sweepDensity reads WFS_SWEEP: "all", a number n for one point in n, "few" for two of each kind, or "end" for none
// except the end, where a power cut after the last call is checked.
func sweepDensity(t *testing.T) density {
	t.Helper()
	switch s := os.Getenv("WFS_SWEEP"); s {
	case "":
		t.Skip("WFS_SWEEP is not set: all, a number for one point in so many, or few")
	case "all":
		return density{every: 1}
	case "few":
		return density{few: 2}
	case "end":
		return density{}
	default:
		var n int
		if _, err := fmt.Sscan(s, &n); err != nil || n < 1 {
			t.Fatalf("WFS_SWEEP=%s", s)
		}
		return density{every: n}
	}
	return density{}
}

// points returns the chosen numbers from 1 to n. The first one depends only on seed.
func (d density) points(n int, seed uint32) []int {
	var list []int
	switch {
	case n == 0:
	case d.every == 0:
		for i := range min(d.few, n) {
			list = append(list, 1+(int(seed%uint32(n))+i*n/d.few)%n)
		}
	default:
		first := 1 + int(seed%uint32(d.every))
		if first > n {
			first = 1 + int(seed%uint32(n))
		}
		for at := first; at <= n; at += d.every {
			list = append(list, at)
		}
	}
	return list
}

// sampleDeed skips most deeds, as testkit.Sample does, unless WFS_SWEEP_DEED is set.
func sampleDeed(t *testing.T) {
	t.Helper()
	if os.Getenv("WFS_SWEEP_DEED") == "" {
		testkit.Sample(t)
	}
}

// sweptDeeds returns the deeds that WFS_SWEEP_DEED names, separated by commas, or all.
func sweptDeeds(t *testing.T) []deed {
	t.Helper()
	var list []deed
	all := slices.Concat(deeds, undoDeeds, leaveDeeds, repairDeeds, savingDeeds, cleanDeeds)
	if os.Getenv("WFS_SWEEP") != "few" { // they change little
		all = append(all, hookDeeds...)
	}
	for _, d := range all {
		if chosen("WFS_SWEEP_DEED", d.name) {
			list = append(list, d)
		}
	}
	if len(list) == 0 {
		t.Fatal("WFS_SWEEP_DEED names no deed")
	}
	return list
}

// logRow logs a line for the table of .ci/faults: how many points of a command were tried in a way, how many were not
// reached, how many tries failed, and the counts.
func logRow(t *testing.T, d deed, what string, points, unreached, failed int, n foundSum) {
	t.Helper()
	t.Logf("ROW\t%s\t%s\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d", d.name, what, points, unreached, failed,
		n.lost, n.complaints, n.Changed, n.Retries, n.Succeeded)
}

// foundSum adds up the counts of fixtures.
type foundSum struct {
	counts
}

func (n *foundSum) add(m *fixture) {
	n.lost += m.lost
	n.complaints += m.complaints
	n.Changed += m.Changed
	n.Retries += m.Retries
	n.Succeeded += m.Succeeded
}
