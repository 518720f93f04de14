package trial

import (
	"cmp"
	"context"

	"github.com/wfs-dev/wfs/phases/gate"
	"github.com/wfs-dev/wfs/phases/verdict"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
)

// Bench has what is needed to judge attempts: places in which gates run, and the trees that they run on.
type Bench struct {
	gate.Rooms
	Trees
}

// Trees reads trees and makes changed copies of them.
type Trees struct {
	// Show returns the contents of a file in a tree; nil if there is no such file.
	Show func(ctx context.Context, tree session.Tree, path string) ([]byte, error)
	// Paths returns the paths of all files of a tree.
	Paths func(ctx context.Context, tree session.Tree) ([]string, error)
	// Changes lists the differences between two trees.
	Changes func(ctx context.Context, from, to session.Tree) ([]session.Change, error)
	// Overlay returns a copy of base in which the given paths are as in another tree.
	Overlay func(ctx context.Context, base, from session.Tree, paths []string) (session.Tree, error)
	// WithTexts returns a copy of a tree in which some files have new contents.
	WithTexts func(ctx context.Context, tree session.Tree, texts map[string][]byte) (session.Tree, error)
}

// JudgeGate runs one gate and judges its results. It runs the gate again on the same tree if that may show that a test
// is flaky.
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

// StartOf returns a gate's results at the lap's start; if there are none, its results on the base.
func StartOf(r session.JudgeRequest, gate string) session.Tests {
	if tests := r.LapStart.Gates[gate]; tests != nil {
		return tests
	}
	return r.Baseline.Gates[gate]
}

// targetGate returns the name of the gate whose tests the lap is about. Other gates with per-test results do not run
// these tests.
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

// Files returns the files that the lap of the request has changed, without wfs's own.
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
