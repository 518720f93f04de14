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

// Prove runs gates that passed once more, in the clean tree of the tree that was judged, without anything that gates
// have made there before. One that passed there needs that if it fails now. Of one that passed in the work tree, and
// fails now, the base is asked there: where that passes, the tree is at fault; where it does not, the gate depends on
// the place where it runs, nothing is known about the tree, and the proof says so. Only ctx makes an error.
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

// proveGate runs one gate for a proof.
func (j *Judge) proveGate(ctx context.Context, r session.JudgeRequest, g workflows.Gate, p *session.Proof) error {
	ranClean := g.Where == workflows.Clean
	g.Where, g.Expect = workflows.Clean, workflows.ExpectPass
	j.Say("gate " + g.Name + " again in a clean checkout, without caches …")
	res, run, err := j.JudgeGate(ctx, g, gate.On{Tree: r.Tree, Dir: r.RunDir, Anew: true}, r, j.Files(ctx, r))
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, session.ErrOtherPackages) && ranClean: // a person decides which are to be used
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

// blame says whether the tree is at fault where a gate fails in a clean tree that passed before, there or in place.
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

// cold is the judge with nothing that gates made before: what they built, runners' caches, what Python has compiled.
func (j *Judge) cold(runDir string) (cold *Judge, done func(), err error) {
	empty, err := os.MkdirTemp(runDir, "compiled-")
	at := *j
	at.Env = append(slices.Clone(j.Env), "PYTHONPYCACHEPREFIX="+empty)
	if j.Cold != nil {
		began := false // gates may need what those before them have built
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

// dependsOnPlace says why a gate that fails in a clean tree says nothing about the tree, "" when it does: it is not
// known to say the same of the base there as in the work tree.
func (j *Judge) dependsOnPlace(ctx context.Context, r session.JudgeRequest, g workflows.Gate) (string, error) {
	if len(r.Baseline.Gates[g.Name]) == 0 {
		return "it fails there, and its result on the base there is unknown", nil
	}
	return j.NoRoom(ctx, r, g)
}

// spokenOf are those of some files and directories that a failing gate has spoken of, by their names.
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

// noCopy is why a gate cannot run in a clean tree.
const noCopy = "the installed packages changed since the work began, and there is no copy of the former ones"

// missing is what a gate that failed in a clean tree may have missed there.
type missing struct {
	text     string   // as the end of a sentence
	files    []string // that no checkpoint has, at most MaxNamed
	packages bool     // others are installed by now
}

// missed finds out what a gate that failed in the clean tree of a tree may have missed there.
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

// cannotProve makes a proof one that could not be made.
func cannotProve(p *session.Proof, gate, why string) {
	p.Verdict, p.Class = session.Blocked, session.ClassInfraError
	p.Reason = "gate " + gate + ": " + why
}
