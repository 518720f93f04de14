package phases

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
)

// TestChoosePlaces chooses the place of gates that may run in either: a clean checkout, if the gate is known to give
// the same result on the base there.
func TestChoosePlaces(t *testing.T) {
	t.Parallel()
	same := session.Tests{"a": session.TestPass, "b": session.TestFail}
	other := session.Tests{"a": session.TestPass, "b": session.TestPass}
	for name, c := range map[string]struct {
		where    workflows.Where
		was      session.Tests // on the base in the work tree
		mayEdit  bool
		unproven bool
		looks    bool // the gate looks at the tree, and runs nothing
		noPlace  bool
		want     workflows.Where
		asked    int // how often the base was checked out
	}{
		"the same":              {where: workflows.Auto, was: same, want: workflows.Clean, asked: 1},
		"it differs":            {where: workflows.Auto, was: other, want: workflows.InPlace, asked: 1},
		"it may change files":   {where: workflows.Auto, was: same, mayEdit: true, want: workflows.InPlace},
		"proofs are off":        {where: workflows.Auto, was: same, unproven: true, want: workflows.InPlace},
		"nothing known of base": {where: workflows.Auto, want: workflows.InPlace},
		"no place":              {where: workflows.Auto, was: same, noPlace: true, want: workflows.InPlace},
		"it runs nothing":       {where: workflows.Auto, was: same, looks: true, want: workflows.InPlace},
		"in place":              {where: workflows.InPlace, was: same, want: workflows.InPlace},
		"clean":                 {where: workflows.Clean, was: other, unproven: true, want: workflows.Clean},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t, nil)
			room, asked := t.TempDir(), 0
			if err := os.WriteFile(filepath.Join(room, "out"), []byte("1..2\nok 1 - a\nnot ok 2 - b\n"), 0o644); err != nil {
				t.Fatal(err)
			}
			if !c.noPlace {
				l.judge.Clean = func(_ context.Context, tree session.Tree) (session.CleanTree, error) {
					asked++
					return session.CleanTree{Root: room, Tree: tree, Live: []string{l.judge.Root}}, nil
				}
			}
			g := workflows.Gate{Name: "tests", Format: workflows.FormatTAP, Timeout: time.Minute, Where: c.where,
				Run: workflows.Command{Shell: "cat out"}, MayChangeTree: c.mayEdit}
			if c.looks {
				g.Run, g.Document = workflows.Command{}, "plan.md"
			}
			given := []workflows.Gate{g}
			r := session.JudgeRequest{Plan: workflows.Plan{Baseline: []workflows.Gate{g}, Unproven: c.unproven},
				RunDir: t.TempDir(), Phase: workflows.Phase{Name: "GREEN", Gates: given},
				Baseline: session.Evidence{Tree: "base", Gates: map[string]session.Tests{"tests": maps.Clone(c.was)}}}
			if err := l.judge.ChoosePlaces(t.Context(), &r); err != nil {
				t.Fatal(err)
			}
			if got := r.Phase.Gates[0].Where; got != c.want || asked != c.asked {
				t.Errorf("it runs %s, want %s; asked %d times, want %d; said: %q", got, c.want, asked, c.asked, l.said)
			}
			if given[0].Where != c.where {
				t.Error("the workflow's own gate was changed")
			}
		})
	}
}

// TestNoPlaceWhenStopped: cancelling the comparison of places returns an error, and nothing is cached.
func TestNoPlaceWhenStopped(t *testing.T) {
	t.Parallel()
	l := newLab(t, nil)
	note := &roomNote{}
	ctx, stop := context.WithCancel(t.Context())
	l.judge.RoomNote = note
	l.judge.Clean = func(ctx context.Context, _ session.Tree) (session.CleanTree, error) {
		stop()
		return session.CleanTree{}, ctx.Err()
	}
	g := workflows.Gate{Name: "tests", Format: workflows.FormatTAP, Timeout: time.Minute, Where: workflows.Auto,
		Run: workflows.Command{Shell: "cat out"}}
	r := session.JudgeRequest{Plan: workflows.Plan{Baseline: []workflows.Gate{g}}, RunDir: t.TempDir(),
		Phase:    workflows.Phase{Gates: []workflows.Gate{g}},
		Baseline: session.Evidence{Tree: "base", Gates: map[string]session.Tests{"tests": {"a": session.TestPass}}}}
	if err := l.judge.ChoosePlaces(ctx, &r); err == nil || note.known {
		t.Errorf("%v; remembered: %t", err, note.known)
	}
}
