package safety

import (
	"maps"
	"path/filepath"
	"strings"
	"testing"
)

// picky gives files a filter that refuses to write them. `when` is shell: refusesOnce refuses only the first file,
// refuses refuses while the file .git/refuse exists.
func (f *fixture) picky(files, when string) {
	f.write(".git/smudge", "#!/bin/sh\n"+when+"\nexec cat\n")
	f.ok("chmod", "755", ".git/smudge")
	f.write(".git/refuse", "")
	f.ok("git", "config", "filter.picky.clean", "cat")
	f.ok("git", "config", "filter.picky.smudge", filepath.Join(f.dir, ".git/smudge"))
	f.ok("git", "config", "filter.picky.required", "true")
	f.write(".git/info/attributes", files+" filter=picky\n")
}

const (
	refusesOnce = "rm .git/refuse 2>/dev/null && exit 1"
	refuses     = "test -e .git/refuse && exit 1"
)

// backDeeds fail half-way, and are killed on the way back.
var backDeeds = []deed{
	{
		name: "switch that fails and goes back", args: "switch two", fails: true,
		before: func(f *fixture) { f.dirty(); f.picky("of-two.txt", refusesOnce) },
		done: func(f *fixture) {
			onTwo(f)
			f.branchHolds("wfs/one", "edited.txt", "untracked.txt")
		},
	},
}

// TestKillOnTheWayBack has a move that fails for a lasting reason, and kills it at every step there and back. Typed
// again it fails again, and everything is as before; once the reason is removed it succeeds.
func TestKillOnTheWayBack(t *testing.T) {
	d := deed{args: "resume @1", fails: true, before: func(f *fixture) {
		f.lineEnds()
		f.dirty()
		f.picky("*.txt", refuses)
	}}
	b := newBed(t, d)
	for _, at := range b.passes(t, d) {
		t.Run(at, func(t *testing.T) {
			f := b.fixture(t)
			before, theirs, files := f.blobs(), f.userThings(), f.onDisk()
			if out, exit := f.try([]string{"WFS_FAILPOINT=" + at}, d.command()...); exit != -1 {
				t.Fatalf("not killed, but exit %d: %s", exit, out)
			}
			f.nothingLost(before)
			out, exit := f.try(nil, d.command()...)
			if exit != exitError || !strings.Contains(out, "all files are as they were before") {
				t.Fatalf("exit %d: %s", exit, out)
			}
			f.oneClearLine(out, "smudge filter picky failed")
			f.nothingLost(before)
			f.on("wfs/one")
			if now := f.onDisk(); !maps.Equal(now, files) {
				t.Errorf("the files were\n%v\nand are\n%v", files, now)
			}
			f.ok("rm", ".git/refuse")
			f.ok(d.command()...)
			f.nothingLost(before)
			f.asDone(d, theirs)
			if f.exists("second.txt") || !f.exists("first.txt") {
				t.Error("the work tree is not checkpoint 1's")
			}
		})
	}
}
