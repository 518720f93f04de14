package transition

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/session"
)

// elsewhere refuses to continue if the interrupted turn `t` moves the files of another work tree: the files, index and
// HEAD of that work tree can be completed only there. It returns true if that work tree is gone.
func (h *Mover) elsewhere(ctx context.Context, t session.Turn, summary string) (gone bool, err error) {
	if t.Worktree == h.Git.Worktree() {
		return false, nil
	}
	path, err := h.Git.WorktreePath(ctx, t.Worktree)
	if err != nil || path == "" {
		return err == nil, err
	}
	return false, &session.Refusal{Code: session.RefuseWorktree,
		Message: fmt.Sprintf("a command in the work tree %s was interrupted half-way: %s", path, summary),
		Hint:    fmt.Sprintf("cd %s && %s", path, h.Completes(ctx, h.ID, t))}
}

// Recovered reports the outcome of an operation that a dead process began. The user has not seen that process's output,
// and may have worked on since.
type Recovered struct {
	Session session.ID
	Did     string // the summary of the operation
	Became  Became
	Why     string   // why it was given up, or a remark if it was completed, or ""
	Op      int64    // number in the operation log if it was completed
	Rescued string   // ref with the files from before the operation, "" for none
	Found   []string // refs with the files found half-way, including edits made since
	// the note about uncommitted changes on the target branch that the dead process would have printed, or ""
	Note string
}

// Became is the outcome of an interrupted operation.
type Became string

const (
	Completed Became = "completed"
	GivenUp   Became = "given_up" // it will not be completed; the files are as they were found
	Dropped   Became = "dropped"  // it did not happen
)

func (h *Mover) tellRecovered(r Recovered) {
	if h.Recovered != nil {
		r.Session = h.ID
		h.Recovered(r)
	}
}

// recoverMove completes a move that a dead process began, or gives it up.
func (h *Mover) recoverMove(ctx context.Context, m session.MoveStarted) error {
	gone, err := h.elsewhere(ctx, m.Turn, m.Summary)
	if err != nil {
		return err
	}
	var r *Relocated
	why := "the work tree is gone"
	if gone {
		err = h.Append(session.Dropped{Why: why, Move: true})
	} else {
		why = "HEAD was moved since"
		if r, err = h.completeMove(ctx, m); err != nil {
			r, err = h.lookAgain(ctx, m, err)
		}
	}
	if err != nil {
		return err
	}
	out := Recovered{Did: m.Summary, Became: GivenUp, Why: why, Rescued: m.Turn.Rescue, Found: h.Halfway}
	if r != nil {
		out.Became, out.Why, out.Op = Completed, "", r.Op
		out.Note = h.noteOf(ctx, m.How, m.Turn, r.Op)
	}
	h.tellRecovered(out)
	return nil
}

// halfWay begins the reason of a rescue in the middle of a move.
const halfWay = "interrupted half-way: "

// rescueHalfWay saves the files found in the middle of a move.
func (h *Mover) rescueHalfWay(ctx context.Context, m session.MoveStarted, snap session.Snapshot) error {
	ref, err := h.rescue(ctx, halfWay+m.Summary, snap, true)
	if err == nil {
		h.keptAt(ref)
	}
	return err
}

// keptAt remembers the ref of a rescue for the final message and for the turn.
func (h *Mover) keptAt(ref string) {
	if !slices.Contains(h.Halfway, ref) {
		h.Halfway = append(h.Halfway, ref)
	}
}

// keptHalfWay returns the end of a message about a failed move: the refs of its rescues.
func keptHalfWay(refs []string) string {
	if len(refs) == 0 {
		return ""
	}
	return "; the files found there are saved in " + strings.Join(refs, ", ")
}
