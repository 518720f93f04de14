package session

import (
	"fmt"
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/workflows"
)

// ItemState says what is known of an item of the checklist.
type ItemState string

const (
	ItemOpen      ItemState = "open"      // nothing has judged it yet
	ItemDelivered ItemState = "delivered" // gates, a person or a reviewer judged the tree that it was done in
	ItemShown     ItemState = "shown"     // an existing test shows it, the agent says; that test passes
	ItemSkipped   ItemState = "skipped"   // on somebody's word alone
	ItemAgreed    ItemState = "agreed"    // a person said that it is done
)

// Item is an item of the checklist, and what became of it on the present line of checkpoints.
type Item struct {
	Number     int       `json:"number"` // from 1
	Text       string    `json:"text"`
	State      ItemState `json:"state"`
	Checkpoint int       `json:"checkpoint,omitempty"` // where that was so first
	Test       TestID    `json:"test,omitempty"`       // the existing test that shows it
	By         string    `json:"by,omitempty"`         // of a skipped one: "agent" or "person"
}

// Settled reports whether the item needs no further word.
func (i Item) Settled() bool {
	return i.State == ItemDelivered || i.State == ItemShown || i.State == ItemAgreed
}

// Says is the item's state in words.
func (i Item) Says() string {
	switch i.State {
	case ItemDelivered:
		return fmt.Sprintf("delivered at checkpoint %d", i.Checkpoint)
	case ItemShown:
		return fmt.Sprintf("shown by the existing test %s", i.Test)
	case ItemSkipped:
		if i.By == "agent" {
			return "skipped: the agent said that nothing is left"
		}
		return "skipped by a person"
	case ItemAgreed:
		return "approved by a person"
	}
	return "open"
}

// Settlement is the end of an item, or of a lap, that no judgement brought.
type Settlement struct {
	Item int `json:"item"` // of the item or lap, from 1; 0: the work as a whole
	// `shown` (an existing test passes that the agent named as evidence), `skipped` (without evidence), `agreed` (a
	// person said that it is done), `delivered` (its last phase was skipped, and its tests had passed)
	State      ItemState `json:"state"`
	Checkpoint int       `json:"checkpoint"`     // the current checkpoint then
	Test       TestID    `json:"test,omitempty"` // the existing test that the agent named
	By         string    `json:"by,omitempty"`   // who said so: `agent`, `person`, `auto`
}

// on reports whether it holds on a line of checkpoints.
func (e Settlement) on(way []Checkpoint) bool {
	return slices.ContainsFunc(way, func(c Checkpoint) bool { return c.Number == e.Checkpoint })
}

// ItemStates says of every item what became of it, as far as the present checkpoint knows.
func (s *Session) ItemStates() []Item {
	way := s.Way()
	items := make([]Item, 0, len(s.Items))
	for i, text := range s.Items {
		item := s.lapState(i+1, way)
		item.Text = text
		items = append(items, item)
	}
	return items
}

// OpenItems are those that are neither delivered, shown nor agreed to.
func (s *Session) OpenItems() []Item {
	return slices.DeleteFunc(s.ItemStates(), Item.Settled)
}

// lapState says what became of a lap, or of the item of that number in a workflow without laps.
func (s *Session) lapState(n int, way []Checkpoint) Item {
	item := Item{Number: n, State: ItemOpen}
	over := s.Phase == workflows.Done
	if !over && (n == s.Lap || !s.Laps) {
		return item // it is being worked on
	}
	for i, c := range way {
		if s.Laps && s.endsLap(n, way[:i+1]) || !s.Laps && c.Next == workflows.Done && deliversAll(n, c, way[:i+1]) {
			item.State, item.Checkpoint = ItemDelivered, c.Number
		}
	}
	for _, e := range s.Settlements {
		if e.Item == n && e.Checkpoint >= item.Checkpoint && e.on(way) {
			item.State, item.Checkpoint, item.Test, item.By = e.State, e.Checkpoint, e.Test, e.By
		}
	}
	return item
}

// endsLap reports whether the last of these checkpoints ended a lap that was judged: with a test of its own, unless a
// person said yes.
func (s *Session) endsLap(n int, way []Checkpoint) bool {
	c := way[len(way)-1]
	if c.Trigger != TriggerAttempt || c.Verdict != Pass || c.Lap != n || c.Next != workflows.Done && c.NextLap == n {
		return false
	}
	if len(way) > 1 && way[len(way)-2].Next == workflows.Done && way[len(way)-2].NextLap == n {
		return false // finished work that was edited since
	}
	skipped := slices.ContainsFunc(c.SkippedPhases, func(p SkippedPhase) bool { return p.Lap == n && p.Phase == s.Start })
	return !skipped || c.Class == ClassApproved || slices.ContainsFunc(way, func(b Checkpoint) bool {
		return b.Lap == n && b.Phase == s.Start && b.Verdict == Pass && b.Next != b.Phase
	})
}

// deliversAll reports whether the work without laps that ended with this checkpoint delivers an item: somebody approved
// this very tree, or its documents tick the item and the gates passed.
func deliversAll(n int, c Checkpoint, way []Checkpoint) bool {
	if c.Trigger != TriggerAttempt || c.Verdict != Pass {
		return false
	}
	return slices.Contains(c.Ticked, n) || slices.ContainsFunc(way, func(b Checkpoint) bool {
		return b.Tree == c.Tree && b.Verdict == Pass && (b.Class == ClassApproved || b.Class == ClassReviewed)
	})
}

// Approval is a yes to the work of a phase, on the present line of checkpoints.
type Approval struct {
	Phase      PhaseName `json:"phase"`
	Lap        int       `json:"lap"`
	Checkpoint int       `json:"checkpoint"`
	By         string    `json:"by"` // "person" or "reviewer"
}

// Approvals are the yeses of people and reviewers, the newest of each phase and lap. One does not outlive new
// work in its phase, or in one that leads to it. What a person edits after the end, and the gates pass, is not
// such work.
func (s *Session) Approvals(w *workflows.Workflow) []Approval {
	var all []Approval
	for _, c := range s.Way() {
		by := map[Class]string{ClassApproved: "person", ClassReviewed: "reviewer"}[c.Class]
		if c.Trigger == TriggerAttempt {
			ph := w.Phase(c.Phase)
			edited := by == "" && c.Verdict == Pass && ph != nil && (ph.Run.Human || ph.Review != nil)
			all = slices.DeleteFunc(all, func(a Approval) bool {
				return a.Lap == c.Lap && (a.Phase == c.Phase && !edited || w.LeadsTo(c.Phase, a.Phase))
			})
		}
		if by == "" || c.Verdict != Pass {
			continue
		}
		all = append(all, Approval{Phase: c.Phase, Lap: c.Lap, Checkpoint: c.Number, By: by})
	}
	return all
}

// NextItem is the number of the first item after the present lap that needs work, 0 for none.
func (s *Session) NextItem() int {
	for _, item := range s.ItemStates() {
		if item.Number > s.Lap && !item.Settled() {
			return item.Number
		}
	}
	return 0
}

// settle records the end of a lap that no judgement brought.
func (s *Session) settle(e Settlement) {
	e.Checkpoint = s.Current
	s.Settlements = append(slices.Clip(s.Settlements), e)
}

// complete ends the work. Whatever nothing has judged is a question to a person first.
func (s *Session) complete() {
	s.Phase, s.Status, s.Why, s.Waiting = workflows.Done, StatusCompleted, "", nil
	if ask := s.unjudged(); ask != "" {
		s.Status, s.Waiting = StatusWaiting, &Waiting{Reason: WaitHuman, Ask: ask, Agree: true}
	}
}

// unjudged asks about what nothing has judged of work that ends, "" when there is nothing of that kind.
func (s *Session) unjudged() string {
	items := s.ItemStates()
	open := slices.DeleteFunc(slices.Clone(items), Item.Settled)
	if n := len(open); n > 0 {
		says := make([]string, 0, n)
		for _, item := range open[:min(n, 5)] {
			says = append(says, fmt.Sprintf("%q (%s)", item.Text, item.Says()))
		}
		if n > 5 {
			says = append(says, fmt.Sprintf("and %d more", n-5))
		}
		was, is := "were not judged", "Are they done anyway?"
		if n == 1 {
			was, is = "was not judged", "Is it done anyway?"
		}
		return fmt.Sprintf("%d of %d items %s: %s. %s", n, len(items), was, strings.Join(says, ", "), is)
	}
	if s.unapproved() {
		return "no gate judges this work: look at it, then approve or reject it"
	}
	way := s.Way()
	said := slices.ContainsFunc(s.Settlements, func(e Settlement) bool { return e.State == ItemAgreed && e.on(way) })
	if said || !s.Laps || slices.ContainsFunc(items, func(i Item) bool { return i.State != ItemShown }) ||
		s.LapsJudged() > 0 {
		return ""
	}
	if len(items) > 0 {
		return "nothing was done in this session: the agent says that existing tests show every item. Is the work done?"
	}
	if n := len(s.SkippedPhases); n > 0 {
		did := "skipped %s"
		if s.SkippedPhases[n-1].Anyway {
			did = "let %s pass"
		}
		return fmt.Sprintf("nothing was judged in this session: a person "+did+". Is the work done?",
			s.SkippedPhases[n-1].Phase)
	}
	return "nothing was done in this session, and the agent says that nothing is left. Is the work done?"
}

// LapsJudged is how many laps ended with a verdict, on the present line of checkpoints.
func (s *Session) LapsJudged() int {
	way, n := s.Way(), 0
	for i, c := range way {
		if s.endsLap(c.Lap, way[:i+1]) {
			n++
		}
	}
	return n
}

// unapproved reports whether no gate judges work on this line of checkpoints, and no person has said yes to it since.
func (s *Session) unapproved() bool {
	way := s.Way()
	for i, c := range slices.Backward(way) {
		switch {
		case c.Class == ClassApproved:
			return false
		case c.Approve:
			return !slices.ContainsFunc(s.Settlements,
				func(e Settlement) bool { return e.Item == 0 && e.State == ItemAgreed && e.on(way[i:]) })
		}
	}
	return false
}

// ApprovedInTheEnd reports whether a person said yes to the work as it ended at a checkpoint.
func (s *Session) ApprovedInTheEnd(checkpoint int) bool {
	return slices.ContainsFunc(s.Settlements, func(e Settlement) bool {
		return e.Item == 0 && e.State == ItemAgreed && e.By == "person" && e.Checkpoint == checkpoint
	})
}

// agreed folds a yes to "nothing is left": the end of this item, or of the work.
func (s *Session) agreed(by string) {
	if s.Phase == workflows.Done {
		s.settle(Settlement{State: ItemAgreed, By: by})
		for _, item := range s.OpenItems() {
			s.settle(Settlement{Item: item.Number, State: ItemAgreed, Test: item.Test, By: by})
		}
		s.complete()
		return
	}
	e := Settlement{Item: s.Lap, State: ItemAgreed, By: by}
	if s.Last != nil {
		e.Test = s.Last.Shown
	}
	switch {
	case by == "person":
	case e.Test != "":
		e.State = ItemShown
	default:
		e.State, e.By = ItemSkipped, "agent"
	}
	s.settle(e)
	s.Waiting, s.Why, s.Visit, s.Targets, s.Expected = nil, "", Visit{}, nil, nil
	s.thaw()
	s.Rounds, s.Review, s.Said = nil, nil, nil
	if c := s.At(s.Current); c != nil {
		s.LapTree = c.Tree
	}
	if n := s.NextItem(); n > 0 {
		s.Lap, s.Phase, s.Status = n, s.Start, StatusPaused
		return
	}
	s.complete()
}

// skippedLap is the end of a lap whose last phase a person skips: its tests may have passed before.
func (s *Session) skippedLap() Settlement {
	c := s.At(s.Current)
	if c != nil && c.Green && c.Lap == s.Lap && len(s.Targets)+len(s.Expected) > 0 {
		return Settlement{Item: s.Lap, State: ItemDelivered}
	}
	return Settlement{Item: s.Lap, State: ItemSkipped, By: "person"}
}
