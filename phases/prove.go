package phases

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/internal/proc"
	"github.com/wfs-dev/wfs/internal/safetext"
	"github.com/wfs-dev/wfs/internal/testpaths"
	"github.com/wfs-dev/wfs/phases/gate"
	"github.com/wfs-dev/wfs/phases/process"
	"github.com/wfs-dev/wfs/phases/verdict"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
)

// Prove runs gates that passed once more, in a clean checkout without files that earlier runs of gates left. A gate
// that had passed in a clean checkout and fails now depends on such files. For a gate that had passed in the work tree
// and fails now, its result on the base in a clean checkout decides: if it passes there, the tree is at fault.
// Otherwise the gate's result depends on the place where it runs, and the proof says that nothing is known about the
// tree. An error means that ctx has ended.
func (j *Judge) Prove(ctx context.Context, r session.JudgeRequest) (session.Proof, error) {
	p := session.Proof{Tree: r.Tree, Verdict: session.Pass, Class: session.ClassGreen,
		Reason: "also passes in a clean checkout"}
	j, done, err := j.cold(r.RunDir)
	if err != nil {
		cannotProve(&p, "", process.Reason(err))
		return p, nil
	}
	defer done()
	if err := j.ChoosePlaces(ctx, &r); err != nil {
		return p, err
	}
	for _, g := range r.Phase.Gates {
		if !g.Runs() || g.MayChangeTree {
			continue
		}
		if err := j.proveGate(ctx, r, g, &p); err != nil || p.Verdict != session.Pass {
			return p, err
		}
	}
	return p, nil
}

func (j *Judge) proveGate(ctx context.Context, r session.JudgeRequest, g workflows.Gate, p *session.Proof) error {
	ranClean := g.Where == workflows.Clean
	g.Where, g.Expect = workflows.Clean, workflows.ExpectPass
	j.Say("gate " + g.Name + " again in a clean checkout, without caches …")
	res, run, err := j.JudgeGate(ctx, g, gate.On{Tree: r.Tree, Dir: r.RunDir, Anew: true}, r, j.Files(ctx, r))
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, session.ErrOtherPackages) && ranClean: // a person decides which packages to use
		p.Verdict, p.Class, p.Reason = session.Fail, session.ClassAsked, otherPackages(g.Name, noCopy)
		return nil
	case err != nil:
		cannotProve(p, g.Name, process.Reason(err))
		return nil
	}
	p.Gates = append(p.Gates, res)
	why := verdict.CouldNot(run, res)
	switch {
	case res.Verdict == session.Pass:
		return nil
	case why != "" && (!ranClean || run.Ended == proc.Timeout):
		cannotProve(p, g.Name, why)
		return nil
	}
	return j.blame(ctx, r, g, ranClean, res, run, p)
}

// blame decides whether the tree is at fault if a gate that passed before fails in a clean checkout. It records the
// decision in p.
func (j *Judge) blame(ctx context.Context, r session.JudgeRequest, g workflows.Gate, ranClean bool,
	res session.GateResult, run *gate.Run, p *session.Proof) error {
	missed := j.missed(ctx, r.Tree, run, res.Class)
	class, why := session.ClassNotClean, ""
	switch {
	case missed.packages:
		class, why = session.ClassAsked, otherPackages(g.Name, res.Reason+
			". There it ran with the packages from the start of the work; the work tree has others now")
	case ranClean:
		why = fmt.Sprintf("gate %s passes only with files left from an earlier run in its clean checkout: %s", g.Name,
			res.Reason)
	default:
		if why, err := j.dependsOnPlace(ctx, r, g); err != nil || why != "" {
			cannotProve(p, g.Name, why)
			return err
		}
		why = fmt.Sprintf("gate %s passes on the base and fails in a clean checkout: %s%s", g.Name, res.Reason, missed.text)
		p.Lacks = missed.files
	}
	p.Verdict, p.Class, p.Reason = session.Fail, class, why
	j.keepFailures(r.RunDir, verdict.Failures(res, run))
	return nil
}

// cold returns a judge whose gates find nothing that earlier runs left: no build results, no caches of test runners,
// no compiled Python. `done` removes its temporary files.
func (j *Judge) cold(runDir string) (cold *Judge, done func(), err error) {
	empty, err := os.MkdirTemp(runDir, "compiled-")
	at := *j
	at.Env = append(slices.Clone(j.Env), "PYTHONPYCACHEPREFIX="+empty)
	if j.Cold != nil {
		// Only the first checkout is cold: later gates may need what earlier ones built.
		began := false
		at.Clean = func(ctx context.Context, tree session.Tree) (session.CleanTree, error) {
			if began {
				return j.Clean(ctx, tree)
			}
			began = true
			return j.Cold(ctx, tree)
		}
	}
	return &at, func() { _ = os.RemoveAll(empty) }, err
}

// dependsOnPlace returns the reason why a failure in a clean checkout proves nothing about the tree: the gate is not
// known to give the same result on the base there and in the work tree. It returns "" if it is known.
func (j *Judge) dependsOnPlace(ctx context.Context, r session.JudgeRequest, g workflows.Gate) (string, error) {
	if len(r.Baseline.Gates[g.Name]) == 0 {
		return "it fails there, and its result on the base there is unknown", nil
	}
	return j.NoRoom(ctx, r, g)
}

// spokenOf returns those of the files and directories whose names occur in the output of a failing gate.
func spokenOf(files []string, failed *gate.Run) []string {
	var text strings.Builder
	for _, line := range failed.Quoted() {
		text.WriteString(line + "\n")
	}
	for _, m := range failed.Report.Messages {
		text.WriteString(m + "\n")
	}
	said := text.String()
	return slices.DeleteFunc(slices.Clone(files), func(f string) bool {
		base := path.Base(f)
		stem := strings.TrimSuffix(base, path.Ext(base))
		return !strings.Contains(said, base) && (len(stem) < 4 || !strings.Contains(said, stem))
	})
}

func otherPackages(gate, why string) string {
	return fmt.Sprintf("gate %s in a clean checkout: %s", gate, why)
}

// noCopy is the reason why a gate cannot run in a clean checkout after the installed packages changed.
const noCopy = "the installed packages changed since the work began, and there is no copy of the former ones"

// missing describes files and packages that were absent from a clean checkout, and may be the reason why a gate failed
// there.
type missing struct {
	text     string   // to append to the reason of the failure
	files    []string // files of the work tree that are in no checkpoint, at most session.MaxNamed
	packages bool     // the installed packages changed since the work began
}

// missed finds files and packages that were absent from the clean checkout of a tree, and may be the reason why a gate
// failed there.
func (j *Judge) missed(ctx context.Context, tree session.Tree, failed *gate.Run, class session.Class) (m missing) {
	c, err := j.Clean(ctx, tree)
	if err != nil {
		return m
	}
	if m.packages = c.Stale != nil && c.Stale(); m.packages {
		m.text = "; packages installed since the work began were missing there: list them in a manifest"
	}
	if c.Absent == nil {
		return m
	}
	files := c.Absent()
	if class != session.ClassNothingAdded {
		files = spokenOf(files, failed)
	} else {
		files = slices.DeleteFunc(files, func(f string) bool { return !testpaths.HoldsTests(f) })
	}
	if len(files) > 0 {
		m.text += "; missing there, because no checkpoint contains it: " + safetext.Some(files)
	}
	m.files = files[:min(len(files), session.MaxNamed)]
	return m
}

// cannotProve records in the proof that nothing is known about the tree, and why.
func cannotProve(p *session.Proof, gate, why string) {
	p.Verdict, p.Class = session.Blocked, session.ClassInfraError
	p.Reason = "gate " + gate + ": " + why
}
