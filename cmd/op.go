package cmd

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/wfs-dev/wfs/session"
)

// opJSON is one operation, and what can be done about it.
type opJSON struct {
	session.Op
	Worktree string `json:"worktree"` // its id
	// State is "done"; "undo" and "redo" for what the next wfs undo and wfs redo take back; "taken_back".
	State string `json:"state"`
}

type opsJSON struct {
	Version    int               `json:"version"`
	Operations []opJSON          `json:"operations"` // newest first
	Damaged    map[string]string `json:"damaged,omitempty"`
}

func (a *app) opCmd() *cobra.Command {
	c := &cobra.Command{
		Use: "op", Short: "what wfs did here, operation by operation",
		Long: `Every operation that moves branches, HEAD or files, or that changes what is said of a session, is in the operation log
of the work tree where it was done. wfs undo and wfs redo go back and forth in it.`,
		Example: "  wfs op log",
		Args:    noArgs,
		RunE:    func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(a.opLogCmd())
	return c
}

func (a *app) opLogCmd() *cobra.Command {
	var all, moves bool
	c := &cobra.Command{
		Use: "log", Short: "the operations of this work tree, newest first",
		Long: `Log lists the operations of this work tree, newest first: its number, when it was done, of which session, and what. What
the next wfs undo takes back is marked with <, what wfs redo does again with >, what was taken back with x. With --moves
it says what each moved: HEAD and branches before and after. The log is in refs/wfs-ops, which no other command needs;
it keeps the newest few hundred operations. It writes nothing and takes no lock.`,
		Example: "  wfs op log\n  wfs op log --moves\n  wfs op log --all --json | jq '.operations[0].turn'",
		Args:    noArgs,
		RunE:    func(c *cobra.Command, _ []string) error { return a.opLog(c.Context(), all, moves) },
	}
	c.Flags().BoolVar(&all, "all", false, "of all work trees, those that are gone included")
	c.Flags().BoolVar(&moves, "moves", false, "say what each operation moved")
	return c
}

func (a *app) opLog(ctx context.Context, all, moves bool) error {
	if err := a.open(ctx); err != nil {
		return err
	}
	trees := []string{a.repo.Worktree()}
	if all {
		names, err := a.repo.OpLogs(ctx)
		if err != nil {
			return err
		}
		trees = names
	}
	j := opsJSON{Version: jsonVersion, Operations: []opJSON{}, Damaged: map[string]string{}}
	for _, tree := range trees {
		ops, damage, err := a.repo.OpLog(ctx, tree)
		if err != nil {
			return err
		}
		if damage != nil {
			j.Damaged[tree] = damage.Error()
		}
		j.Operations = append(j.Operations, statesOf(tree, ops)...)
	}
	slices.SortStableFunc(j.Operations, func(x, y opJSON) int { // within a work tree the number says it
		if x.Worktree == y.Worktree {
			return cmp.Compare(y.Number, x.Number)
		}
		return cmp.Compare(y.At, x.At)
	})
	if a.json {
		return a.answer(j)
	}
	a.page(ctx)
	for _, op := range j.Operations {
		a.sayOp(op, all, moves)
	}
	if len(j.Operations) == 0 {
		a.out("nothing was done in this work tree yet")
	}
	for _, tree := range sortedKeys(j.Damaged) {
		a.out("what is older in the log of the work tree %s cannot be read: %s", tree, j.Damaged[tree])
	}
	return nil
}

// statesOf says of each operation of a work tree's log what can be done about it.
func statesOf(tree string, ops []session.Op) []opJSON {
	undo, redo := session.Standing(ops)
	state := map[int64]string{}
	for _, op := range undo {
		state[op.Number] = "done"
	}
	for _, op := range session.Together(undo) {
		state[op.Number] = "undo"
	}
	for _, op := range session.Together(redo) {
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

func (a *app) sayOp(op opJSON, all, moves bool) {
	where := ""
	if all {
		where = op.Worktree + "  "
	}
	a.out("%s %3d  %s%-14s  %s  %s", cmp.Or(stateMarks[op.State], " "), op.Number, where, ago(unix(op.At), a.env.Now()), op.Session, op.Summary)
	if !moves {
		return
	}
	t := op.Turn
	if t.HeadOld != "" {
		a.out("         HEAD  %s → %s", shortRef(t.HeadOld), shortRef(t.HeadNew))
	}
	for _, m := range t.Refs {
		a.out("         %s  %s → %s", shortRef(m.Ref), cmp.Or(m.Old.Short(), "nothing"), cmp.Or(m.New.Short(), "nothing"))
	}
	if t.TreeOld != t.Tree && t.Tree != "" {
		a.out("         files  %s → %s", t.TreeOld.Short(), t.Tree.Short())
	}
	for _, ref := range t.Rescues() {
		a.out("         kept in %s", ref)
		sayRescue(context.Background(), a.repo, ref, func(line string, args ...any) { a.out("       "+line, args...) })
	}
}

func shortRef(ref string) string {
	if !strings.HasPrefix(ref, "refs/") {
		return session.Commit(ref).Short()
	}
	return strings.TrimPrefix(ref, "refs/heads/")
}
