//go:build failpoints && linux && amd64

package cmd

import (
	"fmt"
	"hash/fnv"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/wfs-dev/wfs/internal/faults"
)

// sweeps are the ways in which every call that changes a file is made to go wrong.
var sweeps = []struct {
	name  string
	fault faults.Fault
}{
	{"kill all", faults.Fault{Mode: faults.KillAll}},
	{"kill wfs", faults.Fault{Mode: faults.KillFirst}},
	{"tear", faults.Fault{Mode: faults.Tear}},
	{"EIO once", faults.Fault{Mode: faults.Fail, Errno: syscall.EIO}},
	{"ENOSPC from there on", faults.Fault{Mode: faults.FailOn, Errno: syscall.ENOSPC}},
}

// TestSweep lets every deed go wrong at every call that changes a file: of wfs, of git and of whatever runs below them.
// WFS_SWEEP says how much of that is done: all, or one point in so many ("7").
func TestSweep(t *testing.T) {
	every := sweepEvery(t)
	only := os.Getenv("WFS_SWEEP_DEED")
	for _, d := range deeds {
		if only != "" && d.name != only {
			continue
		}
		t.Run(d.name, func(t *testing.T) {
			for _, s := range sweeps {
				t.Run(s.name, func(t *testing.T) { sweep(t, d, s.name, s.fault, every) })
			}
		})
	}
}

func sweepEvery(t *testing.T) int {
	t.Helper()
	every := 1
	switch s := os.Getenv("WFS_SWEEP"); s {
	case "":
		t.Skip("WFS_SWEEP is not set: all, or a number for one point in so many")
	case "all":
	default:
		if _, err := fmt.Sscan(s, &every); err != nil || every < 1 {
			t.Fatalf("WFS_SWEEP=%s", s)
		}
	}
	return every
}

func sweep(t *testing.T, d deed, name string, fault faults.Fault, every int) {
	h := fnv.New32()
	h.Write([]byte(d.name + name))
	var tried, points int
	var mu sync.Mutex
	t.Run("points", func(t *testing.T) {
		const atOnce = 2
		ended := make(chan bool, atOnce)
		for worker := range atOnce {
			go func() {
				defer func() { ended <- true }()
				for at := 1 + int(h.Sum32())%every + worker*every; ; at += atOnce * every {
					hit := false
					t.Run(fmt.Sprint(at), func(t *testing.T) { faultAt(t, d, fault, at, &hit) })
					mu.Lock()
					if hit {
						tried++
						points = max(points, at)
					}
					mu.Unlock()
					if !hit {
						return
					}
				}
			}()
		}
		for range atOnce {
			<-ended
		}
	})
	if tried == 0 { // there are fewer than so many
		hit := false
		t.Run("first", func(t *testing.T) { faultAt(t, d, fault, 1, &hit) })
		if !hit {
			t.Error("no point was reached")
		}
	}
	t.Logf("%d points tried, the last is %d", tried, points)
}

// faultAt lets one call go wrong, and says whether there was such a call.
func faultAt(t *testing.T, d deed, fault faults.Fault, at int, hit *bool) {
	f := d.fixture(t)
	before, theirs := f.blobs(), f.userThings()
	wfs, err := exec.LookPath("wfs")
	if err != nil {
		t.Fatal(err)
	}
	fault.At = at
	out := traced(t, faults.Command{Argv: append([]string{wfs}, strings.Fields(d.args)...), Dir: f.dir, Env: f.env, Root: f.dir}, fault)
	if *hit = out.Hit; !out.Hit {
		return
	}
	defer func() {
		if t.Failed() {
			t.Logf("fault at %s; exit %d: %s", out.Calls[0], out.Exit, out.Output)
		}
	}()
	if out.Exit == 0 { // it got by without that call
		f.intact(before)
		if d.done != nil {
			d.done(f)
		}
		return
	}
	f.afterwards(d, before, theirs)
}
