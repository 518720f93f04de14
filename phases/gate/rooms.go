package gate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/internal/durable"
	"github.com/wfs-dev/wfs/internal/proc"
	"github.com/wfs-dev/wfs/phases/process"
	"github.com/wfs-dev/wfs/phases/report"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
)

// Rooms are the two kinds of places in which gates run: the work tree and clean checkouts. A gate runs in a clean
// checkout only if its result on the base is the same there.
type Rooms struct {
	Runner
	// RoomNote caches the results of NoRoom. May be nil.
	RoomNote RoomNote
	// Runs caches runs of gates on the base. May be nil.
	Runs BaseRuns
	// Mend is a setting for the configuration that may give gates the same result in a clean checkout; "" if none is
	// known.
	Mend string
}

// RoomNote caches, for a session and each of its gates, whether the gate gives the same result on the base in a clean
// checkout as in the work tree. `why` is the first difference; "" if there is none.
type RoomNote interface {
	Read(gate string) (why string, known bool)
	Write(gate, why string) error
}

// Compare finds out which gates give the same result on the base in a clean checkout as in the work tree. It runs
// before the agent works, because an agent could change the places so that the results differ.
func (j *Rooms) Compare(ctx context.Context, r session.JudgeRequest) error {
	for _, g := range r.Plan.Baseline {
		tried := g.Where == workflows.Auto || g.Format.PerTest()
		if !g.Runs() || g.MayChangeTree || g.When == workflows.WhenFinish || !tried || r.Plan.Unproven {
			continue
		}
		if _, err := j.NoRoom(ctx, r, g); err != nil {
			return err
		}
	}
	return nil
}

// ChoosePlaces decides where each gate runs that may run in either place.
func (j *Rooms) ChoosePlaces(ctx context.Context, r *session.JudgeRequest) error {
	r.Phase.Gates = slices.Clone(r.Phase.Gates)
	for i, g := range r.Phase.Gates {
		if g.Where != workflows.Auto {
			continue
		}
		r.Phase.Gates[i].Where = workflows.InPlace
		if !g.Runs() || g.MayChangeTree || r.Plan.Unproven || len(r.Baseline.Gates[g.Name]) == 0 {
			continue
		}
		why, err := j.NoRoom(ctx, *r, g)
		if err != nil {
			return err
		}
		if why == "" {
			r.Phase.Gates[i].Where = workflows.Clean
		}
	}
	return nil
}

// NoRoom returns the reason why a gate's result in a clean checkout proves nothing. It returns "" if every test has
// the same result on the base there as in the work tree. The answer is cached for the session. An error means that ctx
// has ended.
func (j *Rooms) NoRoom(ctx context.Context, r session.JudgeRequest, g workflows.Gate) (why string, err error) {
	if j.Clean == nil {
		return "there is no room for a clean checkout", nil
	}
	at := slices.IndexFunc(r.Plan.Baseline, func(b workflows.Gate) bool { return b.Name == g.Name })
	if at < 0 || len(r.Baseline.Gates[g.Name]) == 0 || r.Plan.Baseline[at].Where == workflows.Clean {
		return "", nil
	}
	if j.RoomNote != nil {
		if why, known := j.RoomNote.Read(g.Name); known {
			return why, nil
		}
	}
	why, err = j.differs(ctx, r.Plan.Baseline[at], r, r.Baseline.Gates[g.Name])
	switch {
	case ctx.Err() != nil || errors.Is(err, session.ErrOtherPackages):
		return "", ctx.Err()
	case err != nil: // do not cache this: the next try may succeed
		why = "gate " + g.Name + " cannot run in a clean checkout of the base: " + process.Reason(err)
		j.Say(why)
		return why, nil
	}
	return j.NoteRoom(g.Name, why), nil
}

// NoteRoom caches the difference between a gate's results in a clean checkout of the base and in the work tree, and
// returns it as a sentence. `why` is the difference; if it is "", so is the result.
func (j *Rooms) NoteRoom(gate, why string) string {
	if why != "" {
		why = "gate " + gate + " has another result on the base in a clean checkout than in the work tree: " + why
		j.Say(why)
	}
	if j.RoomNote == nil {
		return why
	}
	if err := j.RoomNote.Write(gate, why); err != nil {
		j.Say("could not cache a gate's result in a clean checkout: " + err.Error())
	}
	return why
}

// differs runs a gate in a clean checkout of the base, and returns the first difference from its results in the work
// tree; "" if there is none.
func (j *Rooms) differs(ctx context.Context, g workflows.Gate, r session.JudgeRequest,
	was session.Tests) (string, error) {
	g.Where, g.Expect = workflows.Clean, workflows.ExpectPass
	if run := j.Recall(ctx, g, r.Baseline.Tree); run != nil {
		return j.Difference(run, g, was, r.Known), nil
	}
	j.Say("gate " + g.Name + " in a clean checkout of the base …")
	dir := filepath.Join(r.RunDir, "base")
	if err := durable.MkdirAll(dir); err != nil {
		return "", err
	}
	run, err := j.Run(ctx, g, On{Tree: r.Baseline.Tree, Dir: dir})
	if err != nil {
		return "", err
	}
	if run.Astray() == "" {
		j.Remember(ctx, r.Baseline.Tree, run)
	}
	return j.Difference(run, g, was, r.Known), nil
}

// Difference returns the first difference between a run in a clean checkout and was, the results in the work tree; ""
// if there is none. It ignores known tests.
func (j *Rooms) Difference(run *Run, g workflows.Gate, was session.Tests, known []session.TestID) string {
	switch {
	case run.Astray() != "":
		return run.Astray()
	case run.Ended == proc.Timeout:
		return fmt.Sprintf("it does not finish within %s", g.Timeout)
	case !run.Ran():
		return cmp.Or(run.started, fmt.Sprintf("it cannot run (exit code %d)", run.Exit)) + j.mended(run.Quoted()...)
	case g.Format.PerTest() && run.NotInstalled() != "": // no test could run
		return run.NotInstalled()
	}
	now := run.Report.Tests
	for _, id := range slices.Compact(slices.Sorted(slices.Values(append(report.SortedKeys(was),
		report.SortedKeys(now)...)))) {
		if slices.Contains(known, id) || was[id] == now[id] {
			continue
		}
		return fmt.Sprintf("%s is %s there, and %s here%s", id, cmp.Or(now[id], "not run"), cmp.Or(was[id], "not run"),
			j.mended(run.Report.Messages[id]))
	}
	return ""
}

// mended returns the end of a sentence that names a setting which may remove the difference, given the output of the
// run. It returns "" if it knows none.
func (j *Rooms) mended(said ...string) string {
	what := report.Lacking(strings.Join(said, "\n"))
	switch {
	case j.Setup != "" && what != "":
		return "; " + notInstalled(j.Setup, what)
	case j.Setup != "":
		return "; the set-up may have to install more: " + lineOf(j.Setup)
	case j.Mend != "":
		return mendText(j.Mend)
	}
	return ""
}

// mendText returns the end of a sentence that names a setting of the configuration.
func mendText(setting string) string {
	return "; to fix it, in .wfs/config.yaml: " + setting + ", then wfs trust"
}
