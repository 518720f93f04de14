package cmd

import (
	"cmp"
	"context"
	"slices"

	"github.com/spf13/pflag"

	"github.com/wfs-dev/wfs/cmd/internal/present"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/session/oplog"
	"github.com/wfs-dev/wfs/workspace"
)

// opJSON is one operation of the operation log, and whether it can be undone or redone.
type opJSON struct {
	session.Op
	Worktree string `json:"worktree"` // id of the work tree
	// State is "undo" or "redo" if the next wfs undo or wfs redo concerns this operation. It is "taken_back" if the
	// operation was undone, and "done" otherwise.
	State string `json:"state"`
}

type opsJSON struct {
	Version    int               `json:"version"`
	Operations []opJSON          `json:"operations"` // newest first
	Damaged    map[string]string `json:"damaged,omitempty"`
}

// opsFlags are the flags of wfs undo --list.
type opsFlags struct{ list, all, moves bool }

func (o *opsFlags) flags(f *pflag.FlagSet) {
	f.BoolVar(&o.list, "list", false, "list the operations, newest first, and undo nothing")
	f.BoolVar(&o.all, "all", false, "with --list: of all work trees, those that are gone included")
	f.BoolVar(&o.moves, "moves", false, "with --list: what each operation moved")
}

// listOps prints the operations of this work tree, or those of one session.
func (a *undoVerb) listOps(ctx context.Context, name string, o opsFlags) error {
	if err := a.Open(ctx); err != nil {
		return err
	}
	var of session.ID
	if name != "" {
		id, err := a.Resolve(ctx, name)
		if err != nil {
			return err
		}
		of, o.all = id, true
	}
	j, err := a.operations(ctx, o.all)
	if err != nil {
		return err
	}
	if of != "" {
		j.Operations = slices.DeleteFunc(j.Operations, func(op opJSON) bool { return op.Session != of })
	}
	if a.json {
		return a.answer(j)
	}
	a.page(ctx)
	for _, op := range j.Operations {
		a.sayOp(op, o.all, o.moves)
	}
	if len(j.Operations) == 0 {
		a.out("no operations yet")
	}
	for _, tree := range sortedKeys(j.Damaged) {
		a.out("what is older in the log of the work tree %s cannot be read: %s", tree, j.Damaged[tree])
	}
	return nil
}

// operations returns the operations of this work tree, newest first. With `all` it returns those of all work trees.
func (a *undoVerb) operations(ctx context.Context, all bool) (opsJSON, error) {
	j := opsJSON{Version: jsonVersion, Operations: []opJSON{}, Damaged: map[string]string{}}
	trees := []string{a.Repo.Worktree()}
	if all {
		names, err := a.Repo.OpLogs(ctx)
		if err != nil {
			return j, err
		}
		trees = names
	}
	for _, tree := range trees {
		ops, damage, err := a.Repo.OpLog(ctx, tree)
		if err != nil {
			return j, err
		}
		if damage != nil {
			j.Damaged[tree] = damage.Error()
		}
		j.Operations = append(j.Operations, statesOf(tree, ops)...)
	}
	slices.SortStableFunc(j.Operations, func(x, y opJSON) int { // within a work tree, sort by number
		if x.Worktree == y.Worktree {
			return cmp.Compare(y.Number, x.Number)
		}
		return cmp.Compare(y.At, x.At)
	})
	return j, nil
}

// statesOf determines the state of each operation in the log of one work tree.
func statesOf(tree string, ops []session.Op) []opJSON {
	undo, redo := oplog.Standing(ops)
	state := map[int64]string{}
	for _, op := range undo {
		state[op.Number] = "done"
	}
	for _, op := range oplog.Together(undo) {
		state[op.Number] = "undo"
	}
	for _, op := range oplog.Together(redo) {
		state[op.Number] = "redo"
	}
	var list []opJSON
	for _, op := range ops {
		s := state[op.Number]
		if s == "" && op.Undoes == 0 {
			s = "taken_back"
		}
		list = append(list, opJSON{op, tree, cmp.Or(s, "done")})
	}
	return list
}

var stateMarks = map[string]string{"undo": "<", "redo": ">", "taken_back": "x"}

func (a *undoVerb) sayOp(op opJSON, all, moves bool) {
	where := ""
	if all {
		where = op.Worktree + "  "
	}
	a.out("%s %3d  %s%-14s  %s  %s", cmp.Or(stateMarks[op.State], " "), op.Number, where,
		present.Ago(unix(op.At), a.env.Now()), op.Session, op.Summary)
	if !moves {
		return
	}
	t := op.Turn
	if t.HeadOld != "" {
		a.out("         HEAD  %s → %s", present.ShortRef(t.HeadOld), present.ShortRef(t.HeadNew))
	}
	for _, m := range t.Refs {
		a.out("         %s  %s → %s", present.ShortRef(m.Ref), cmp.Or(m.Old.Short(), "nothing"),
			cmp.Or(m.New.Short(), "nothing"))
	}
	if t.TreeOld != t.Tree && t.Tree != "" {
		a.out("         files  %s → %s", t.TreeOld.Short(), t.Tree.Short())
	}
	for _, ref := range t.Rescues() {
		a.out("         kept in %s", ref)
		workspace.SayRescue(context.Background(), a.Repo, ref,
			func(line string, args ...any) { a.out("       "+line, args...) })
	}
}
