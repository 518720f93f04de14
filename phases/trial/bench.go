package trial

import (
	"cmp"
	"context"

	"github.com/wfs-dev/wfs/phases/gate"
	"github.com/wfs-dev/wfs/phases/verdict"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
)

// Bench has what judging an attempt needs: places where gates run, and trees that they run on.
type Bench struct {
	gate.Rooms
	Trees
}

// Trees reads trees, and makes changed ones.
type Trees struct {
	// Show returns the contents of a file in a tree; nil if there is no such file.
	Show func(ctx context.Context, tree session.Tree, path string) ([]byte, error)
	// Paths returns the paths of a tree's files.
	Paths func(ctx context.Context, tree session.Tree) ([]string, error)
	// Changes lists the differences between two trees.
	Changes func(ctx context.Context, from, to session.Tree) ([]session.Change, error)
	// Overlay returns base with some paths taken from another tree.
	Overlay func(ctx context.Context, base, from session.Tree, paths []string) (session.Tree, error)
	// WithTexts returns a tree with new contents for some files.
	WithTexts func(ctx context.Context, tree session.Tree, texts map[string][]byte) (session.Tree, error)
}

// JudgeGate runs one gate and judges its results. Further runs on the same tree find flaky tests.
func (b *Bench) JudgeGate(ctx context.Context, g workflows.Gate, on gate.On, r session.JudgeRequest,
	files *verdict.Files) (session.GateResult, *gate.Run, error) {
	run, err := b.Run(ctx, g, on)
	if err != nil {
		return session.GateResult{}, nil, err
	}
	l := verdict.New(run, StartOf(r, g.Name), r.Known, files)
	l.Gone = r.Gone
	if owner := targetGate(r); owner == "" || owner == g.Name {
		l.Targets, l.Expected = r.Targets, r.Expected
	}
	on.Anew = true
	f, err := doubts{b, g, on, r, l, run}.settled(ctx)
	if err != nil {
		return session.GateResult{}, nil, err
	}
	return f.Result(run), run, nil
}

// StartOf returns a gate's results at the lap's start or, without any, on the base.
func StartOf(r session.JudgeRequest, gate string) session.Tests {
	if tests := r.LapStart.Gates[gate]; tests != nil {
		return tests
	}
	return r.Baseline.Gates[gate]
}

// targetGate names the gate whose tests a lap is about. Other gates with per-test results do not know these tests.
func targetGate(r session.JudgeRequest) string { return cmp.Or(r.TargetsOf, redGate(r.Plan.Workflow)) }

func redGate(w workflows.Workflow) string {
	for _, p := range w.Phases {
		for _, g := range p.Gates {
			if g.Expect == workflows.ExpectRed {
				return g.Name
			}
		}
	}
	return ""
}

// Files returns the files that the request's lap has changed.
func (t Trees) Files(ctx context.Context, r session.JudgeRequest) *verdict.Files {
	l := &verdict.Files{Now: t.shown(ctx, r.Tree), Before: t.shown(ctx, lapStart(r))}
	for _, c := range r.Changed {
		if !verdict.OwnFile(c.Path) {
			l.Changes = append(l.Changes, c)
		}
	}
	return l
}

func lapStart(r session.JudgeRequest) session.Tree {
	return cmp.Or(r.LapStart.Tree, r.Baseline.Tree)
}

// shown returns a function that reads files of a tree, each up to gate.MaxRead bytes.
func (t Trees) shown(ctx context.Context, tree session.Tree) func(path string) []byte {
	return func(path string) []byte {
		text, _ := t.Show(ctx, tree, path)
		return text[:min(len(text), gate.MaxRead)]
	}
}
