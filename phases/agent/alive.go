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

// LockFile is the file in a run's directory whose lock the run's processes inherit. While it is held, one of them is
// alive. If it is free, some may be alive too: some programs close inherited files.
const LockFile = "lock"

// Alive lists the living processes of a run and of its gates: those with its id in their environment, and those that
// hold its lock. If a holder is unknown, as on macOS, the list has an empty entry.
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

// maxExit is how long a process may take to exit. A large one with several threads then shows neither its environment
// nor its files, but still holds the lock.
const maxExit = time.Second

// living returns the known process ids of a run, and whether one of its processes holds its lock.
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

// End ends the processes of a run whose wfs died, and of its gates, if they are proven to belong to it.
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

// own proves that a process belongs to a run: it has the marks of the run, session, clone and work tree, and did not
// begin before the run. The proof fails if this wfs runs inside that run: an agent that calls wfs after its own wfs
// died would end itself.
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

// marks returns the environment entries that distinguish a run's processes from all others.
func (r *Runner) marks(id session.ID, runDir, runID string) []string {
	return []string{
		"WFS_BRIEF=" + filepath.Join(runDir, BriefFile),
		"WFS_SESSION=" + string(id),
		"WFS_DOCUMENTS=" + filepath.Join(r.Root, filepath.FromSlash(brief.DocumentsDir(id))),
		runMarker(runID),
	}
}

func runMarker(runID string) string { return "WFS_RUN_ID=" + runID }
