package session

import "slices"

// Op is one operation of the repository's operation log: what `wfs undo` can take back.
type Op struct {
	Number int64 `json:"number"` // from 1, by work tree
	At     int64 `json:"at"`     // when (Unix time)
	// `new`, `resume`, `switch`, `leave`, `undo`, `finish`, `checkpoint`, `abandon`, `revive`, `delete`, `restore`,
	// `rename`, `edit`, `repin`, `phase`, `approve`, `reject`, `note`, `allow`, `budget`. `rename`, `repin` and
	// `budget` are made by `wfs edit`, `phase` by `wfs reject --to` and `wfs approve --anyway`
	Kind    string `json:"kind"`
	Session ID     `json:"session"` // the session's id
	Summary string `json:"summary"` // one line
	Ledger  Commit `json:"ledger"`  // the ledger commit that made it true
	// operation that it undoes; if that is an undo, this is a redo
	Undoes int64 `json:"undoes,omitempty"`
	// operation that the same command made right before: undo and redo treat both as one
	With int64 `json:"with,omitempty"`
	// what moved: HEAD, refs, files and index, before and after
	Turn Turn `json:"turn"`
}

// Standing sorts operations, given newest first, by what can be done about them: those that can be taken back and those
// that can be done again, in both cases the next one last. What is done after an undo makes what was undone history.
// Undos of operations that are not in the log any more are in neither list.
func Standing(ops []Op) (undo, redo []Op) {
	for _, op := range slices.Backward(ops) {
		if op.Undoes == 0 {
			undo, redo = append(undo, op), nil
			continue
		}
		is := func(o Op) bool { return o.Number == op.Undoes }
		if i := slices.IndexFunc(undo, is); i >= 0 {
			undo, redo = slices.Delete(undo, i, i+1), append(redo, op)
		} else if i := slices.IndexFunc(redo, is); i >= 0 {
			undo, redo = append(undo, op), slices.Delete(redo, i, i+1)
		}
	}
	return undo, redo
}

// Together is the next operation of a list of Standing, followed by those that the same command made before it.
func Together(standing []Op) []Op {
	n := len(standing)
	if n == 0 {
		return nil
	}
	next := []Op{standing[n-1]}
	for i := n - 2; i >= 0 && next[len(next)-1].With == standing[i].Number && standing[i].Number > 0; i-- {
		next = append(next, standing[i])
	}
	return next
}
