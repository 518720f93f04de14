package trial

import (
	"cmp"
	"context"

	"github.com/wfs-dev/wfs/phases/gate"
	"github.com/wfs-dev/wfs/phases/verdict"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
)

// Bench is what attempts are judged and tried with: the places where gates run, and the trees that they run on.
type Bench struct {
	gate.Rooms
	Trees
}

// Trees reads trees, and makes others of them.
type Trees struct {
	// Show returns a file of a tree, nil when the tree has none of that name.
	Show func(ctx context.Context, tree session.Tree, path string) ([]byte, error)
	// Paths are the paths of a tree's files.
	Paths func(ctx context.Context, tree session.Tree) ([]string, error)
	// Changes lists the differences between two trees.
	Changes func(ctx context.Context, from, to session.Tree) ([]session.Change, error)
	// Overlay is a tree with some paths as another one has them.
	Overlay func(ctx context.Context, base, from session.Tree, paths []string) (session.Tree, error)
	// WithTexts is a tree in which some files have other texts.
	WithTexts func(ctx context.Context, tree session.Tree, texts map[string][]byte) (session.Tree, error)
}

// JudgeGate runs one gate and judges its results. What is flaky is found out by further runs on the same tree.
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

// StartOf are a gate's results at the lap's start, else on the base.
func StartOf(r session.JudgeRequest, gate string) session.Tests {
	if tests := r.LapStart.Gates[gate]; tests != nil {
		return tests
	}
	return r.Baseline.Gates[gate]
}

// targetGate names the gate whose tests a lap is about; others with results by test know nothing of them.
func targetGate(r session.JudgeRequest) string { return cmp.Or(r.TargetsOf, redGate(r.Plan.Workflow)) }

// redGate names the first gate that expects red.
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

// Files are the files that a request's lap has changed.
func (t Trees) Files(ctx context.Context, r session.JudgeRequest) *verdict.Files {
	l := &verdict.Files{Now: t.shown(ctx, r.Tree), Before: t.shown(ctx, lapStart(r))}
	for _, c := range r.Changed {
		if !verdict.OwnFile(c.Path) {
			l.Changes = append(l.Changes, c)
		}
	}
	return l
}

// lapStart is the tree with which the lap began.
func lapStart(r session.JudgeRequest) session.Tree {
	return cmp.Or(r.LapStart.Tree, r.Baseline.Tree)
}

// shown reads files of a tree, as far as they are read.
func (t Trees) shown(ctx context.Context, tree session.Tree) func(path string) []byte {
	return func(path string) []byte {
		text, _ := t.Show(ctx, tree, path)
		return text[:min(len(text), gate.MaxRead)]
	}
}
