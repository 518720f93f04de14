//go:build linux && amd64

package safety

import (
	"fmt"
	"hash/fnv"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/wfs-dev/wfs/internal/faults"
)

// way is a way in which a call that changes a file goes wrong.
type way struct {
	name   string
	mode   faults.Mode
	errnos []syscall.Errno // in turn, by the number of the call
}

var ways = []way{
	{name: "kill all", mode: faults.KillAll},
	{name: "kill wfs", mode: faults.KillFirst},
	{name: "tear", mode: faults.Tear},
	{name: "fail once", mode: faults.Fail, errnos: []syscall.Errno{syscall.EIO, syscall.EDQUOT, syscall.EIO, syscall.EROFS,
		syscall.EIO, syscall.EACCES, syscall.EIO, syscall.EMFILE, syscall.ENOSPC}},
	{name: "fail from there on", mode: faults.FailOn, errnos: []syscall.Errno{syscall.ENOSPC, syscall.EDQUOT, syscall.ENOSPC, syscall.EROFS,
		syscall.ENOSPC, syscall.EACCES, syscall.EIO}},
}

func (w way) fault(at int) faults.Fault {
	f := faults.Fault{Mode: w.mode, At: at, Of: os.Getenv("WFS_SWEEP_OF")}
	if len(w.errnos) > 0 {
		f.Errno = w.errnos[at%len(w.errnos)]
	}
	return f
}

// TestBar01Bar03Bar04Bar09Sweep makes every deed go wrong at every call that changes a file: of wfs, of git and of the
// programs that they run. A deed is killed after each call that changes the state of the files, and only writes are
// torn. Nothing may be lost, git must find nothing wrong, the user's own things stay as they were, and the same
// command, typed again, must succeed; a reported success must have happened. WFS_SWEEP sets how many points are tried,
// WFS_SWEEP_DEED the deeds, WFS_SWEEP_WAY the ways, and WFS_SWEEP_OF the end of the paths whose calls go wrong.
func TestBar01Bar03Bar04Bar09Sweep(t *testing.T) {
	density := sweepDensity(t)
	for _, d := range sweptDeeds(t) {
		t.Run(d.name, func(t *testing.T) {
			sampleDeed(t)
			sweep(t, d, density)
		})
	}
}

// point is one fault to try.
type point struct {
	way int
	at  int
}

func sweep(t *testing.T, d deed, density density) {
	const atOnce = 4 // more than a small machine has cores: some of them are waiting
	var beds [atOnce]*testbed
	for i := range beds {
		beds[i] = newTestbed(t, d)
	}
	beds[0].fixture(t)
	all := beds[0].traced(t, d, faults.Fault{Mode: faults.Run, Of: os.Getenv("WFS_SWEEP_OF")})
	if all.Exit != 0 || all.Points == 0 {
		t.Fatalf("without a fault: exit %d, %d points: %s", all.Exit, all.Points, all.Output)
	}
	var points []point
	for i, w := range ways {
		if chosen("WFS_SWEEP_WAY", w.name) && !(d.waits && len(w.errnos) > 0) {
			h := fnv.New32()
			h.Write([]byte(d.name + w.name))
			var of []int
			switch w.mode {
			case faults.KillAll, faults.KillFirst: // a failed call or a sync leaves the same files as the call before
				of = all.States
			case faults.Tear: // for other calls, the state after one is the state before the next
				of = all.Writes
			default:
				of = allOf(all.Points)
			}
			for _, n := range density.points(len(of), h.Sum32()) {
				points = append(points, point{i, of[n-1]})
			}
		}
	}
	queue := make(chan point)
	go func() {
		defer close(queue)
		for _, p := range points {
			queue <- p
		}
	}()
	tried, unreached, failed, sums := make([]int, len(ways)), make([]int, len(ways)), make([]int, len(ways)), make([]foundSum, len(ways))
	var mu sync.Mutex
	var workers sync.WaitGroup
	for _, bed := range beds {
		workers.Go(func() {
			for p := range queue {
				name := strings.ReplaceAll(fmt.Sprint(ways[p.way].name, " ", p.at), " ", "_")
				var f fixture
				hit := false
				ok := t.Run(name, func(t *testing.T) { bed.faultAt(t, d, ways[p.way].fault(p.at), &f, &hit) })
				mu.Lock()
				tried[p.way]++
				if !hit {
					unreached[p.way]++
				}
				if !ok {
					failed[p.way]++
				}
				sums[p.way].add(&f)
				mu.Unlock()
			}
		})
	}
	workers.Wait()
	for i, w := range ways {
		if tried[i] > 0 {
			logRow(t, d, w.name, tried[i], unreached[i], failed[i], sums[i])
		}
	}
}

// allOf returns the numbers from 1 to n.
func allOf(n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = i + 1
	}
	return list
}

// faultAt makes one call go wrong, and sets hit to whether the call was reached. It sets f to the fixture with its
// counts, even if the test ends early.
func (p *testbed) faultAt(t *testing.T, d deed, fault faults.Fault, f *fixture, hit *bool) {
	*f = *p.fixture(t)
	out := p.traced(t, d, fault)
	if *hit = out.Hit; !out.Hit {
		return
	}
	defer func() {
		if t.Failed() {
			t.Logf("%s %s at %s; exit %d: %s", fault.Mode, fault.Errno, out.Calls[0], out.Exit, out.Output)
		}
	}()
	if strings.Contains(out.Output, "goroutine ") {
		t.Error("it panicked")
	}
	if out.Exit == 0 { // it succeeded without that call
		if c := out.Calls[0]; c.Kind == faults.Remove {
			f.Stays = c.Path
		}
		f.nothingLost(p.before)
		f.ok("wfs", "status", "one")
		f.asDone(d, p.theirs)
		return
	}
	f.afterwards(d, p.before, p.theirs)
}
