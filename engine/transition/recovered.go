package transition

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/session"
)

// elsewhere refuses to go on when a move of another work tree died half-way: files, index and HEAD can be
// brought to its end only there. It reports true when that work tree is gone.
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

// Recovered says what became of something that a dead process had begun, for people. They have not read what it
// did, and may have worked on since.
type Recovered struct {
	Session session.ID
	Did     string   // the summary of the operation
	Became  Became   // of it
	Why     string   // it was given up; or what is to be known of one that was completed; or ""
	Op      int64    // number in the operation log of one that was completed
	Rescued string   // ref that keeps what was there before it, "" for none
	Found   []string // refs that keep what lay there half-way, with what was edited since
	// what its own process would have said of uncommitted changes that were left behind where it led, or ""
	Note string
}

// Became is what became of something that was half done.
type Became string

// What can become of it.
const (
	Completed Became = "completed"
	GivenUp   Became = "given_up" // the files are as they were found
	Dropped   Became = "dropped"  // it did not happen
)

func (h *Mover) tellRecovered(r Recovered) {
	if h.Recovered != nil {
		r.Session = h.ID
		h.Recovered(r)
	}
}

// recoverMove brings a move to an end that a dead process began.
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

// halfWay begins the reason of a rescue that is made in the middle of a move.
const halfWay = "interrupted half-way: "

// rescueHalfWay keeps what lies there in the middle of a move.
func (h *Mover) rescueHalfWay(ctx context.Context, m session.MoveStarted, snap session.Snapshot) error {
	ref, err := h.rescue(ctx, halfWay+m.Summary, snap, true)
	if err == nil {
		h.keptAt(ref)
	}
	return err
}

// keptAt remembers a rescue that is to be named at the end.
func (h *Mover) keptAt(ref string) {
	if !slices.Contains(h.Halfway, ref) {
		h.Halfway = append(h.Halfway, ref)
	}
}

// keptHalfWay ends a message about a move that failed.
func keptHalfWay(refs []string) string {
	if len(refs) == 0 {
		return ""
	}
	return "; the files found there are saved in " + strings.Join(refs, ", ")
}
