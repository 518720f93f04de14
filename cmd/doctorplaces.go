package cmd

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/gitstate"
	"github.com/wfs-dev/wfs/session"
)

// places looks for what git would wait for, or walk through without end, where refs are kept. Refs of ours are looked at
// one by one afterwards, unless it takes git to read them: then nothing more can be looked at until these are away.
func (e *examination) places() error {
	for _, o := range e.a.repo.Obstacles() {
		f := finding{Level: findBlocks, About: "ref", Where: o.Path, What: "is " + o.What, Follows: "git would hang on it"}
		switch ours := strings.HasPrefix(o.Ref, "refs/wfs") || strings.HasPrefix(o.Ref+"/", session.BranchPrefix); {
		case o.Ref == "":
			f.Next, f.mend, e.cut = repairCommand, e.packedAside(o.Path), true
		case ours && e.a.repo.ReadsDirectly():
			continue // said of the ref
		case ours:
			e.cut = true
			e.brokenRef(gitstate.BrokenRef{Ref: o.Ref, File: o.Path, Err: fmt.Errorf("%w: there is %s in its place", gitstate.ErrBrokenRef, o.What)}, nil)
			continue
		default:
			f.Next = fmt.Sprintf("mv %s %s", shellWord(o.Path), shellWord(filepath.Join(e.a.repo.CommonDir(), filepath.Base(o.Path)+".aside")))
		}
		e.add(f)
	}
	return nil
}

// packedAside mends by taking away what is in the place of packed-refs. What was packed there is brought back as far as
// anything else tells of it, see lostRefs and lostLedgers.
func (e *examination) packedAside(path string) func(context.Context) (string, string, error) {
	return func(context.Context) (string, string, error) {
		kept, err := e.a.repo.SetPackedAside(filepath.Join(e.a.clone.Dir(), "refs"))
		if err != nil {
			return "", "", err
		}
		e.a.cleared = append(e.a.cleared, "")
		return "it is kept as " + kept + "; packed refs are restored from reflogs and histories; look for others before the next git gc: git fsck --lost-found",
			fmt.Sprintf("mv %s %s", shellWord(kept), shellWord(path)), nil
	}
}

// lostRefs looks for refs that have a reflog and are not there. They are brought back when the file that they were packed
// in has just been found gone; else somebody may have removed them by hand.
func (e *examination) lostRefs() error {
	gone := e.a.repo.LoggedRefs(e.ctx)
	for _, name := range slices.Sorted(maps.Keys(gone)) {
		to := gone[name]
		id := sessionOf(name)
		was := e.a.wasIn(name)
		if id != "" && !was {
			continue // see branch
		}
		f := finding{Level: findWarns, About: "ref", Session: id, Where: name, What: "is missing, but its reflog exists", Follows: "commits that only it refers to are lost at the next git gc",
			Next: fmt.Sprintf("git update-ref %s %s", name, to)}
		if was {
			f.Level, f.Next, f.lock = findBlocks, repairCommand, id
			f.mend = func(ctx context.Context) (string, string, error) {
				if _, err := e.a.repo.Replant(ctx, gitstate.BrokenRef{Ref: name}, to, ""); err != nil {
					return "", "", err
				}
				return fmt.Sprintf("it is at %s again, as its reflog says", to.Short()), "git update-ref -d " + name, nil
			}
		}
		e.add(f)
	}
	return nil
}

// wasIn reports whether a ref was kept in what the doctor has just taken out of the way, or in one of some broken refs.
func (a *app) wasIn(ref string, broken ...gitstate.BrokenRef) bool {
	return slices.ContainsFunc(a.cleared, func(dir string) bool { return dir == "" || strings.HasPrefix(ref, dir+"/") }) ||
		slices.ContainsFunc(broken, func(b gitstate.BrokenRef) bool { return strings.HasPrefix(ref, b.Ref+"/") })
}

// inTheWay is the hint for an error about a ref that is not there, while something is in the place of refs; else what it
// was.
func (a *app) inTheWay(hint string) string {
	if a.repo != nil && len(a.repo.Obstacles()) > 0 {
		return repairCommand
	}
	return hint
}
