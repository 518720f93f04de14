package session

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
