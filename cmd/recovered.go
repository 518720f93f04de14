package cmd

import (
	"bytes"
	"encoding/json"

	"github.com/wfs-dev/wfs/engine/transition"
	"github.com/wfs-dev/wfs/session"
)

// recoveredJSON describes what became of an operation that a killed command had begun.
type recoveredJSON struct {
	Session   session.ID        `json:"session"`
	Did       string            `json:"did"` // summary of the operation
	Became    transition.Became `json:"became"`
	Why       string            `json:"why,omitempty"`
	Operation int64             `json:"operation,omitempty"`
	keptJSON
	Note string `json:"note,omitempty"`
}

// sayRecovered prints whether an operation of a killed command was completed or dropped, and where files were saved.
// This matters because the user has not seen that command's output, and because edits made since then may exist only in
// a saved copy.
func (a *app) sayRecovered(r transition.Recovered) {
	refs := r.Found
	if r.Rescued != "" {
		refs = append([]string{r.Rescued}, refs...)
	}
	if a.json {
		a.done = append(a.done, recoveredJSON{r.Session, r.Did, r.Became, r.Why, r.Op, keptIn(refs), r.Note})
		return
	}
	switch r.Became {
	case transition.Completed:
		a.note("%s was interrupted, and is completed now: operation %d of wfs undo --list", r.Did, r.Op)
		if r.Why != "" {
			a.note("%s", r.Why)
		}
	case transition.GivenUp:
		a.note("%s was interrupted, and is given up: %s; the files are as they lie there", r.Did, r.Why)
	case transition.Dropped:
		a.note("%s was interrupted, and did not happen", r.Did)
	}
	if r.Note != "" {
		a.note("%s", r.Note)
	}
	sayKept(a.Repo, wasThere, refs[:len(refs)-len(r.Found)], a.note)
	sayKept(a.Repo, "what lay there half-way, edits made meanwhile among it,", r.Found, a.note)
}

// withRecovered adds the recovered operations to the first JSON answer of this command.
func (a *app) withRecovered(answer []byte) ([]byte, error) {
	body, ok := bytes.CutSuffix(answer, []byte("}"))
	if !ok || len(body) < 2 {
		return answer, nil // not an object, or an empty one
	}
	data, err := json.Marshal(a.done)
	a.done = nil
	return append(append(append(body, `,"recovered":`...), data...), '}'), err
}
