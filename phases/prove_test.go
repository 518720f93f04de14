package phases

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/wfs-dev/wfs/phases/report"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
)

// TestProve has gates that pass in the work tree and behave differently in a clean checkout: proven, failing, or
// without a conclusion about the tree.
func TestProve(t *testing.T) {
	t.Parallel()
	gate := func(command string) workflows.Gate { return shGate(command) }
	known := map[string]session.Tests{"lint": {report.GateID("lint"): session.TestPass}}
	for _, c := range []struct {
		name    string
		gates   []workflows.Gate
		clean   error              // error of making the clean checkout
		leads   *session.LeadsBack // of the clean checkout
		base    map[string]session.Tests
		verdict session.Verdict
		class   session.Class
		lacks   []string
		says    string
		ran     int // gates with a result
	}{
		{name: "passes", gates: []workflows.Gate{gate("test -f a.txt && test ! -e ignored/b.txt || test -e live")}, verdict: session.Pass, class: session.ClassGreen, says: "also passes in a clean checkout", ran: 1},
		{name: "nothing to run", gates: []workflows.Gate{{Name: "changed", Changes: []string{"**"}}}, verdict: session.Pass, class: session.ClassGreen},
		{name: "one that may change the tree", gates: []workflows.Gate{{Name: "format", Run: workflows.Command{Shell: "exit 1"}, MayChangeTree: true}}, verdict: session.Pass, class: session.ClassGreen},
		{name: "needs what git ignores", gates: []workflows.Gate{gate("cat ignored/b.txt")}, verdict: session.Fail, class: session.ClassNotClean, lacks: []string{"ignored/b.txt"}, says: "passes on the base and fails in a clean checkout: the command exited with code 1; missing there, because no checkpoint contains it: ignored/b.txt", ran: 1, base: known},
		{name: "needs it and does not say what", gates: []workflows.Gate{gate("test -f ignored/b.txt")}, verdict: session.Fail, class: session.ClassNotClean, says: "passes on the base and fails in a clean checkout", ran: 1, base: known},
		{name: "the second of two", gates: []workflows.Gate{gate("true"), gate("cat ignored/b.txt")}, verdict: session.Fail, class: session.ClassNotClean, lacks: []string{"ignored/b.txt"}, ran: 2, base: known},
		{name: "depends on the place", gates: []workflows.Gate{gate("test -e live")}, verdict: session.Blocked, class: session.ClassInfraError, says: "has another result on the base in a clean checkout than in the work tree", ran: 1, base: known},
		{name: "the base is not known", gates: []workflows.Gate{gate("cat ignored/b.txt")}, verdict: session.Blocked, class: session.ClassInfraError, says: "its result on the base there is unknown", ran: 1},
		{name: "cannot run there", gates: []workflows.Gate{gate("ignored/tool")}, verdict: session.Blocked, class: session.ClassInfraError, says: "gate lint: ", ran: 1},
		{name: "leads back", gates: []workflows.Gate{gate("true")}, leads: &session.LeadsBack{Path: "node_modules/a", To: "/elsewhere"}, verdict: session.Blocked, class: session.ClassInfraError, says: "gate lint: a module of the project resolves outside the clean checkout: node_modules/a leads to /elsewhere", ran: 1},
		{name: "no clean tree", gates: []workflows.Gate{gate("true")}, clean: errors.New("no space is left"), verdict: session.Blocked, class: session.ClassInfraError, says: "no space is left"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t, map[string]string{"a.txt": "a", "live": "marks the work tree"})
			tree, err := l.snapshot(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			l.write(map[string]string{"ignored/b.txt": "b", "ignored/other.txt": "1", "ignored/tool": "#!/bin/sh\nexit 0\n"})
			dir := t.TempDir()
			l.judge.Clean = func(_ context.Context, asked session.Tree) (session.CleanTree, error) {
				_ = os.WriteFile(filepath.Join(dir, "a.txt"), []byte("a"), 0o644)
				if asked == "base" && !strings.Contains(c.says, "of the base") {
					err := errors.Join(os.MkdirAll(filepath.Join(dir, "ignored"), 0o755),
						os.WriteFile(filepath.Join(dir, "ignored/b.txt"), nil, 0o644))
					if err != nil {
						t.Fatal(err)
					}
				}
				return session.CleanTree{Root: dir, Tree: asked, Live: []string{l.judge.Root}, LeadsBack: c.leads,
					Absent: func() []string { return []string{"ignored/b.txt", "ignored/other.txt"} }}, c.clean
			}
			plan := workflows.Plan{}
			for i := range c.gates {
				c.gates[i].Timeout = time.Minute
				plan.Baseline = append(plan.Baseline, c.gates[i])
			}
			p, err := l.judge.Prove(t.Context(), session.JudgeRequest{Tree: tree, Phase: workflows.Phase{Name: "GREEN", Gates: c.gates},
				RunDir: t.TempDir(), Plan: plan, Baseline: session.Evidence{Tree: "base", Gates: c.base}})
			if err != nil {
				t.Fatal(err)
			}
			if p.Tree != tree || p.Verdict != c.verdict || p.Class != c.class || !slices.Equal(p.Lacks, c.lacks) || !strings.Contains(p.Reason, c.says) || len(p.Gates) != c.ran {
				t.Errorf("%s %s, lacks %q, %d gates: %s", p.Verdict, p.Class, p.Lacks, len(p.Gates), p.Reason)
			}
		})
	}
}

func TestProveStops(t *testing.T) {
	t.Parallel()
	l := newLab(t, map[string]string{"a.txt": "a"})
	tree, _ := l.snapshot(t.Context())
	ctx, cancel := context.WithCancel(t.Context())
	l.judge.Clean = func(context.Context, session.Tree) (session.CleanTree, error) {
		cancel()
		return session.CleanTree{}, ctx.Err()
	}
	if p, err := l.judge.Prove(ctx, session.JudgeRequest{Tree: tree, Phase: workflows.Phase{Gates: []workflows.Gate{shGate("true")}}, RunDir: t.TempDir()}); !errors.Is(err, context.Canceled) {
		t.Errorf("%+v, %v", p, err)
	}
}
