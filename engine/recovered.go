package engine

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/session"
)

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

func (h *Hand) tellRecovered(r Recovered) {
	if h.e.Recovered != nil {
		r.Session = h.ID
		h.e.Recovered(r)
	}
}

// recoverMove brings a move to an end that a dead process began.
func (h *Hand) recoverMove(ctx context.Context, m session.MoveStarted) error {
	gone, err := h.elsewhere(ctx, m.Turn, m.Summary)
	if err != nil {
		return err
	}
	var r *Relocated
	why := "the work tree is gone"
	if gone {
		err = h.append(session.Dropped{Why: why, Move: true})
	} else {
		why = "HEAD was moved since"
		if r, err = h.completeMove(ctx, m); err != nil {
			r, err = h.lookAgain(ctx, m, err)
		}
	}
	if err != nil {
		return err
	}
	out := Recovered{Did: m.Summary, Became: GivenUp, Why: why, Rescued: m.Turn.Rescue, Found: h.halfway}
	if r != nil {
		out.Became, out.Why, out.Op = Completed, "", r.Op
		out.Note = h.e.noteOf(ctx, m.How, m.Turn, r.Op)
	}
	h.tellRecovered(out)
	return nil
}

// halfWay begins the reason of a rescue that is made in the middle of a move.
const halfWay = "interrupted half-way: "

// rescueHalfWay keeps what lies there in the middle of a move.
func (h *Hand) rescueHalfWay(ctx context.Context, m session.MoveStarted, snap session.Snapshot) error {
	ref, err := h.rescue(ctx, halfWay+m.Summary, snap, true)
	if err == nil {
		h.keptAt(ref)
	}
	return err
}

// keptAt remembers a rescue that is to be named at the end.
func (h *Hand) keptAt(ref string) {
	if !slices.Contains(h.halfway, ref) {
		h.halfway = append(h.halfway, ref)
	}
}

// keptHalfWay ends a message about a move that failed.
func keptHalfWay(refs []string) string {
	if len(refs) == 0 {
		return ""
	}
	return "; the files found there are saved in " + strings.Join(refs, ", ")
}

func summaryOfFinish(id session.ID, branch string) string {
	return "finish " + string(id) + " on " + short(branch)
}

// behind says that HEAD is at a commit that a branch was moved away from meanwhile, "" for nil.
func behind(m *session.RefMove) string {
	if m == nil {
		return ""
	}
	if m.New == "" {
		return fmt.Sprintf("%s is gone, so HEAD is detached at %s", short(m.Ref), m.Old.Short())
	}
	return fmt.Sprintf("%s is in another work tree or now at %s, so HEAD is detached at %s", short(m.Ref),
		m.New.Short(), m.Old.Short())
}
