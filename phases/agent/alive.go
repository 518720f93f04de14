package agent

import (
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/wfs-dev/wfs/internal/durable"
	"github.com/wfs-dev/wfs/internal/proc"
	"github.com/wfs-dev/wfs/phases/brief"
	"github.com/wfs-dev/wfs/phases/process"
	"github.com/wfs-dev/wfs/session"
)

// LockFile is the file in a run's directory whose lock all processes of the run inherit. While the lock is held, one
// of them is alive. If it is free, some may still be alive, because some programs close inherited files.
const LockFile = "lock"

// Alive returns the living processes of a run and of its gates. It finds processes that have the run's id in their
// environment, and processes that hold the run's lock. If it is unknown which process holds the lock, as on macOS, the
// list has one empty entry.
func (r *Runner) Alive(id session.ID, runDir, runID string) []session.Process {
	ids, held := r.living(runDir, runID)
	const looks = 100
	for n := 0; held && len(ids) == 0 && n < looks; n++ {
		time.Sleep(maxExit / looks)
		ids, held = r.living(runDir, runID)
	}
	if held && len(ids) == 0 {
		return []session.Process{{}}
	}
	slices.Sort(ids)
	var all []session.Process
	own := r.own(id, runDir, runID)
	for _, pid := range slices.Compact(ids) {
		p := proc.Named(pid)
		all = append(all, session.Process{PID: p.PID, Command: p.Command, Own: own.Holds(pid)})
	}
	return all
}

// maxExit is how long Alive waits for a process that is exiting. A large process with several threads shows neither
// its environment nor its files while it exits, but still holds the lock.
const maxExit = time.Second

// living returns the ids of those living processes of a run that it can find, and whether any process holds the run's
// lock.
func (r *Runner) living(runDir, runID string) (ids []int, held bool) {
	ids = proc.Marked(runMarker(runID), process.GateMarker+runDir+string(filepath.Separator))
	lock := filepath.Join(runDir, LockFile)
	held, _, err := durable.Probe(lock)
	if held = held && err == nil && runDir != ""; held {
		holders, _ := proc.Holding(lock)
		for _, p := range holders {
			ids = append(ids, p.PID)
		}
	}
	return ids, held
}

// End ends the living processes of a run whose wfs died, and those of its gates. It ends only processes that are
// proven to belong to the run, and returns the ids of processes that got a signal.
func (r *Runner) End(id session.ID, runDir, runID string) []int {
	find := func() []int {
		return proc.Marked(runMarker(runID), process.GateMarker+runDir+string(filepath.Separator))
	}
	grace := r.Grace
	if grace <= 0 {
		grace = proc.DefaultGrace
	}
	return proc.End(find, r.own(id, runDir, runID), grace, r.Hurry)
}

// own returns the conditions that prove that a process belongs to a run: it has the environment entries of this run,
// session, clone and work tree, and it did not begin before the run. If this wfs is itself a process of the run, they
// hold for no process. Otherwise an agent that calls wfs after its own wfs died would end itself.
func (r *Runner) own(id session.ID, runDir, runID string) proc.Proof {
	since, _ := durable.ReadFile(filepath.Join(runDir, process.BeganFile), process.MaxBegan)
	marks := r.marks(id, runDir, runID)
	return proc.Proof{Since: string(since), Environ: func(entries []string) bool {
		for _, e := range entries {
			if strings.HasPrefix(e, process.GateMarker+runDir+string(filepath.Separator)) {
				return !slices.Contains(r.Environ, e)
			}
		}
		missing := func(mark string) bool { return !slices.Contains(entries, mark) }
		return !slices.ContainsFunc(marks, missing) && !slices.Contains(r.Environ, runMarker(runID))
	}}
}

// marks returns the environment entries that only the processes of this run have.
func (r *Runner) marks(id session.ID, runDir, runID string) []string {
	return []string{
		"WFS_BRIEF=" + filepath.Join(runDir, BriefFile),
		"WFS_SESSION=" + string(id),
		"WFS_DOCUMENTS=" + filepath.Join(r.Root, filepath.FromSlash(brief.DocumentsDir(id))),
		runMarker(runID),
	}
}

func runMarker(runID string) string { return "WFS_RUN_ID=" + runID }
