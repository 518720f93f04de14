//go:build failpoints

package cmd

import (
	"strings"
	"sync"
	"testing"

	"github.com/wfs-dev/wfs/internal/durable"
)

// deed is a command that is killed at every step that it passes, and what the repository must be like once the same
// command, typed again, has succeeded.
type deed struct {
	name string
	args []string
	// before brings the fixture to where the command makes sense.
	before func(f *fixture)
	// done checks the end. It must hold whether the first, killed try had come through or not.
	done func(f *fixture)
}

var deeds = []deed{
	{
		name: "checkpoint", args: []string{"checkpoint", "-m", "x"},
		before: func(f *fixture) { f.dirty() },
		done:   func(f *fixture) { f.branchHolds("wfs/one", "edited.txt", "untracked.txt") },
	},
	{
		name: "new", args: []string{"new", "three", "--workflow", "plain", "--agent", "true", "--leave"},
		before: func(f *fixture) { f.ok("wfs", "switch", "main"); f.dirty() },
		done: func(f *fixture) {
			if h := f.head(); !strings.HasPrefix(h, "refs/heads/wfs/three") {
				f.t.Errorf("HEAD is on %s", h)
			}
		},
	},
	{
		name: "switch", args: []string{"switch", "two"},
		before: func(f *fixture) { f.dirty() },
		done: func(f *fixture) {
			f.on("wfs/two")
			f.branchHolds("wfs/one", "edited.txt", "untracked.txt")
		},
	},
	{
		name: "leave", args: []string{"switch", "main"},
		before: func(f *fixture) { f.dirty() },
		done:   func(f *fixture) { f.on("main") },
	},
	{
		name: "resume", args: []string{"resume", "--at", "1"},
		before: func(f *fixture) { f.dirty() },
		done: func(f *fixture) {
			f.on("wfs/one")
			if f.exists("second.txt") || !f.exists("first.txt") {
				f.t.Error("the work tree is not checkpoint 1's")
			}
		},
	},
	{
		name: "undo", args: []string{"undo"},
		before: func(f *fixture) { f.dirty(); f.ok("wfs", "resume", "--at", "1") },
		done:   nil, // typed again it may be a redo: only what always holds is checked
	},
	{
		name: "finish", args: []string{"finish", "--branch", "handed"},
		before: func(f *fixture) { f.ok("wfs", "run") },
		done: func(f *fixture) {
			f.on("handed")
			f.branchHolds("handed", "work.txt")
		},
	},
	{
		name: "run", args: []string{"run"},
		done: func(f *fixture) { f.branchHolds("wfs/one", "work.txt") },
	},
}

// TestKillAtEveryStep kills wfs at every named step of every deed. Whatever was in the work tree, in the index or in a
// ref before is still there afterwards; git finds nothing wrong; and the same command, typed again, succeeds.
func TestKillAtEveryStep(t *testing.T) {
	var mu sync.Mutex
	hit := map[durable.Point]bool{}
	t.Run("points", func(t *testing.T) {
		for _, d := range deeds {
			for _, p := range durable.Points {
				t.Run(d.name+"/"+string(p), func(t *testing.T) {
					t.Parallel()
					if killAt(t, d, p) {
						mu.Lock()
						hit[p] = true
						mu.Unlock()
					}
				})
			}
		}
	})
	for _, p := range durable.Points {
		if !hit[p] {
			t.Errorf("no deed passes %s: a durable step without a test", p)
		}
	}
	t.Logf("%d of %d named steps were killed at", len(hit), len(durable.Points))
}

func killAt(t *testing.T, d deed, p durable.Point) (killed bool) {
	f := plainTemplate.fixture(t)
	if d.before != nil {
		d.before(f)
	}
	before := f.blobs()
	theirs := f.userThings()
	out, exit := f.try([]string{"WFS_FAILPOINT=" + string(p)}, append([]string{"wfs"}, d.args...)...)
	if exit != -1 {
		if exit != 0 {
			t.Fatalf("exit %d without being killed: %s", exit, out)
		}
		return false
	}
	f.nothingLost(before)
	f.sound()
	f.ok("wfs", "status", "one")
	f.ok("wfs", "list")
	again, exit := f.try(nil, append([]string{"wfs"}, d.args...)...)
	if exit != 0 && !f.doneAlready(d, again) {
		t.Fatalf("typed again it fails with exit %d: %s", exit, again)
	}
	f.nothingLost(before)
	f.sound()
	if d.done != nil {
		d.done(f)
	}
	if now := f.userThings(); now != theirs {
		t.Errorf("what is the user's was changed from\n%s\nto\n%s", theirs, now)
	}
	if status := f.ok("git", "status", "--porcelain"); d.name != "undo" && status != "" && !strings.HasPrefix(d.name, "leave") {
		t.Errorf("git status is not clean: %s", status)
	}
	return true
}

// doneAlready reports whether a command refuses the second time because the first, killed one had come through.
func (f *fixture) doneAlready(d deed, out string) bool {
	return d.name == "finish" && strings.Contains(out, "no session is current") && f.head() == "refs/heads/handed"
}
