package steering

import (
	"context"
	"fmt"
	"slices"

	"github.com/wfs-dev/wfs/internal/safetext"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/session/items"
	"github.com/wfs-dev/wfs/workflows"
)

// Rename changes the session's title. It returns the operation's number, 0 if the title is unchanged.
func (h *Steering) Rename(ctx context.Context, title string) (int64, error) {
	title = safetext.OneLine(title, 200)
	if title == h.S.Headline() {
		return 0, nil
	}
	return h.RecordOp(ctx, func(t session.Turn) session.Body {
		return session.Renamed{Title: title, Turn: t}
	})
}

// Wish is the new goal and spec of a session.
type Wish struct {
	Goal       string // "": unchanged
	Spec       []byte // nil: unchanged, and the fields below are ignored
	SpecPath   string
	SpecDigest string
	Open       []string // open items of the spec's checklist
}

// Edit changes the goal or the spec. Items that are done stay done. The current lap continues, unless the new spec
// drops its item and the lap may end. Edit returns its event and the operation's number, or nil and 0 if nothing
// changes.
func (h *Steering) Edit(ctx context.Context, w Wish) (*session.Edited, int64, error) {
	if err := h.mayChange(); err != nil {
		return nil, 0, err
	}
	e := edited(&h.S, w, h.mayLeave())
	if len(e.Changes) == 0 {
		return nil, 0, nil
	}
	if w.Spec != nil {
		h.KeepDoc(session.FileSpec, w.Spec)
	}
	n, err := h.RecordOp(ctx, func(t session.Turn) session.Body {
		e.Turn = t
		return e
	})
	return &e, n, err
}

// mayLeave reports whether a lap that has begun may end before its item is done. In a workflow that writes tests first,
// that is only possible while the lap has changed no file. Otherwise the tests that it wrote would be taken for tests
// of the next item.
func (h *Steering) mayLeave() bool {
	c := h.S.At(h.S.Current)
	return h.S.Open == nil && c != nil && (h.Plan.Workflow.Red() == nil || c.Tree == h.S.LapTree)
}

// Unwanted returns the item of a lap that has begun, if the item is not among `open`, the open items of a new spec; ""
// otherwise. `at` is the number of the checkpoint at which the lap began, -1 if there is none. After the user goes back
// to this checkpoint, the new spec can drop the item.
func (h *Steering) Unwanted(open []string) (item string, at int) {
	s := &h.S
	item = s.Item()
	switch {
	case s.Status.Final(), s.Phase == workflows.Done, !begun(s), s.Lap <= passed(s), slices.Contains(open, item):
		return "", -1
	}
	for _, c := range s.Way() {
		if c.Next != s.Start || c.NextLap != s.Lap {
			continue
		}
		// otherwise, in a fork, the checkpoint belongs to the parent session
		if own := s.At(c.Number); own != nil && own.Code == c.Code {
			return item, c.Number
		}
	}
	return item, -1
}

// mayChange refuses to change a session that is over.
func (h *Steering) mayChange() error {
	if !h.S.Status.Final() {
		return nil
	}
	hint := "wfs resume " + string(h.ID)
	if h.S.Status == session.StatusFinished {
		hint = fmt.Sprintf("wfs resume %s@%d", h.ID, h.S.Current)
	}
	return session.Refuse(session.RefuseFinal, hint, "%s is %s", h.ID, h.S.Status)
}

// edited returns the event of an edit. Its Changes are empty if nothing changes. `leave` allows a lap that has begun to
// end before its item is done.
func edited(s *session.Session, w Wish, leave bool) session.Edited {
	var e session.Edited
	if w.Goal != "" && w.Goal != s.Goal {
		e.Goal = w.Goal
		e.Changes = append(e.Changes, fmt.Sprintf("goal: %s → %s", safetext.OneLine(s.Goal, 200),
			safetext.OneLine(w.Goal, 200)))
	}
	if w.Spec == nil {
		return e
	}
	items, lap, phase, left := checklist(s, w.Open, leave)
	same := w.SpecDigest == s.SpecDigest && w.SpecPath == s.SpecPath
	if same && slices.Equal(items, s.Items) {
		return e
	}
	e.Spec, e.SpecPath, e.SpecDigest = true, w.SpecPath, w.SpecDigest
	e.Items, e.Lap, e.Phase, e.Left = items, lap, phase, left
	if !same { // with the same spec, only an unwanted item is dropped, after the user went back
		from, to := specName(s.SpecPath, s.SpecDigest), specName(w.SpecPath, w.SpecDigest)
		e.Changes = append(e.Changes, fmt.Sprintf("spec: %s → %s", from, to))
	}
	done := passed(s)
	was, is := todo(s.Items, done), todo(e.Items, done)
	for _, item := range missing(is, was) {
		e.Changes = append(e.Changes, "item added: "+safetext.OneLine(item, 200))
	}
	for _, item := range missing(was, is) {
		e.Changes = append(e.Changes, "item removed: "+safetext.OneLine(item, 200))
	}
	switch {
	case left == "":
	case phase == workflows.Done:
		e.Changes = append(e.Changes, "that item was in progress, and nothing else is left to do")
	default:
		e.Changes = append(e.Changes, "that item was in progress: the session continues with "+
			safetext.OneLine(items[lap-1], 200))
	}
	return e
}

func specName(path, digest string) string {
	switch {
	case digest == "":
		return "none"
	case path == "":
		return digest[:min(10, len(digest))]
	}
	return path + " (" + digest[:min(10, len(digest))] + ")"
}

func todo(items []string, done int) []string { return items[min(done, len(items)):] }

// missing lists the elements of a that are not in b, counting repetitions.
func missing(a, b []string) []string {
	left := slices.Clone(b)
	var list []string
	for _, x := range a {
		if i := slices.Index(left, x); i >= 0 {
			left = slices.Delete(left, i, i+1)
		} else {
			list = append(list, x)
		}
	}
	return list
}

// checklist combines the items that are done, the current item, and the open items of the new spec. A lap that has
// begun keeps its item, unless the new spec drops the item and `leave` allows that. In that case `left` is the dropped
// item, and a new lap begins. A lap that has not begun takes the first open item.
func checklist(s *session.Session, open []string, leave bool) (list []string, lap int, phase session.PhaseName,
	left string) {
	lap, phase = s.Lap, s.Phase
	over := s.Phase == workflows.Done || items.After(s, s.Lap)
	done := passed(s)
	for n := range done {
		list = append(list, itemOf(s, n+1))
	}
	green := s.At(s.Current) != nil && s.At(s.Current).Green
	if s.Laps && begun(s) && !over && lap > done {
		item := itemOf(s, lap)
		// there is another item to continue with, or the work ends
		other := len(missing(open, list)) > 0 || done > 0 && green
		if leave && other && lap <= len(s.Items) && !slices.Contains(open, item) {
			left, phase = item, s.Start
		} else {
			list = append(list, item)
		}
	}
	list = append(list, missing(open, list)...)
	switch {
	case len(open) == 0 && len(s.Items) == 0:
		return nil, lap, phase, "" // there was no checklist, and there still is none
	case over && len(list) > done: // there is more to do
		if s.Laps {
			lap = done + 1
		}
		return list, lap, s.Start, ""
	case !s.Laps, !over && lap <= done: // all list are worked on at once, or the session came back to an item
	case !over && len(list) == done && done > 0 && green: // the remaining list were dropped
		phase, lap = items.AfterLaps(s, list)
		if phase == workflows.Done {
			lap = done
		}
		return list, lap, phase, left
	case !over && len(list) == done && done > 0:
		return append(list, itemOf(s, lap)), lap, phase, ""
	}
	return list, lap, phase, left
}

// passed returns how many items at the start of the checklist keep their positions, because work has moved past them:
// they are done or were skipped.
func passed(s *session.Session) int {
	n, then := 0, *s
	if s.Laps {
		if n = items.LapsDone(s); s.Then != "" { // laps that follow the last one have no item
			n = min(n, len(s.Items))
		}
	} else {
		then.Phase = workflows.Done // count all items that were delivered once, whatever the current phase
	}
	for _, item := range items.States(&then) {
		if item.State != session.ItemOpen {
			n = max(n, item.Number)
		}
	}
	return n
}

// begun reports whether work has begun in the current lap.
func begun(s *session.Session) bool {
	return s.Phase != s.Start || s.Visit.Attempts > 0 || s.Open != nil || len(s.Targets) > 0
}

// itemOf returns the item of a lap. For a lap from before the checklist existed, it returns a name in place of the
// item.
func itemOf(s *session.Session, lap int) string {
	if lap <= len(s.Items) {
		return s.Items[lap-1]
	}
	return fmt.Sprintf("lap %d, before the checklist existed", lap)
}
