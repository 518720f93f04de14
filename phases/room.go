package phases

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/wfs-dev/wfs/internal/durable"
	"github.com/wfs-dev/wfs/internal/proc"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
)

// RoomNote remembers for a session whether gates say the same of its base in a clean tree as in the work tree. Why is
// the first difference, "" for none.
type RoomNote interface {
	Read() (why string, known bool)
	Write(why string) error
}

// noRoom says why nothing can be found out in a clean tree, "" when it can: gates say the same of the base there as
// they said in the work tree, test by test. It is asked once for a session, and its answer is remembered. Only ctx
// makes an error.
func (j *Judge) noRoom(ctx context.Context, r session.JudgeRequest) (why string, err error) {
	if j.Clean == nil {
		return "there is no place for a clean tree", nil
	}
	if j.RoomNote != nil {
		if why, known := j.RoomNote.Read(); known {
			return why, nil
		}
	}
	for _, g := range r.Plan.Baseline {
		was := r.Baseline.Gates[g.Name]
		if g.Where == workflows.Clean || !g.Runs() || g.MayChangeTree || len(was) == 0 {
			continue
		}
		if why, err = j.differs(ctx, g, r, was); err != nil {
			return "", ctx.Err() // it may be otherwise the next time
		}
		if why != "" {
			why = "gate " + g.Name + " says of the base in a clean tree what it does not say in the work tree: " + why
			break
		}
	}
	if j.RoomNote != nil {
		if err := j.RoomNote.Write(why); err != nil {
			j.say("what gates say in a clean tree could not be remembered: " + err.Error())
		}
	}
	return why, nil
}

// differs runs a gate in the clean tree of the base, and says what is not as it was in the work tree, "" for nothing.
func (j *Judge) differs(ctx context.Context, g workflows.Gate, r session.JudgeRequest,
	was session.Tests) (string, error) {
	j.say("gate " + g.Name + " in a clean tree of the base …")
	at := *j
	at.judged, g.Where, g.Expect = r.Baseline.Tree, workflows.Clean, workflows.ExpectPass
	dir := filepath.Join(r.RunDir, "base")
	if err := durable.MkdirAll(dir); err != nil {
		return "", err
	}
	run, key, err := at.measure(ctx, g, dir)
	switch {
	case err != nil:
		return "", err
	case run.leads != nil:
		return leadsBack(run.leads, g.Name).reason, nil
	case run.changed != "":
		return changedRoom(run.changed, g.Name).reason, nil
	case run.ended == proc.Timeout:
		return fmt.Sprintf("it does not end within %s", g.Timeout), nil
	case !run.ran():
		return cmp.Or(run.started, fmt.Sprintf("it cannot run (exit code %d)", run.exit)) + j.mended(), nil
	}
	at.keep(key, run, finding{})
	now := run.report.tests
	for _, id := range slices.Compact(slices.Sorted(slices.Values(append(sortedKeys(was), sortedKeys(now)...)))) {
		if slices.Contains(r.Known, id) || was[id] == now[id] {
			continue
		}
		return fmt.Sprintf("%s is %s there, and %s here%s", id, cmp.Or(now[id], "not run"), cmp.Or(was[id], "not run"),
			j.mended()), nil
	}
	return "", nil
}

// mended names the setting that may make it the same.
func (j *Judge) mended() string {
	if j.Mend == "" {
		return ""
	}
	return "; what may mend it, in .wfs/config.yaml: " + j.Mend
}
