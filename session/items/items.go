// Package items determines which items of a checklist are done, and which work was not judged.
package items

import (
	"fmt"
	"slices"

	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
)

// Item is an item of the checklist, with its state on the current line of checkpoints.
type Item struct {
	Number int               `json:"number"` // from 1
	Text   string            `json:"text"`
	State  session.ItemState `json:"state"`
	// number of the first checkpoint at which it has this state
	Checkpoint int            `json:"checkpoint,omitempty"`
	Test       session.TestID `json:"test,omitempty"` // the existing test that is the evidence
	By         string         `json:"by,omitempty"`   // "agent" or "person", if it is skipped
}

// Settled reports whether the item is done, by a judgement, an existing test, or a person's approval.
func (i Item) Settled() bool {
	return i.State == session.ItemDelivered || i.State == session.ItemShown || i.State == session.ItemAgreed
}

// Says returns a description of the item's state, for people.
func (i Item) Says() string {
	switch i.State {
	case session.ItemDelivered:
		return fmt.Sprintf("delivered at checkpoint %d", i.Checkpoint)
	case session.ItemShown:
		return fmt.Sprintf("shown by the existing test %s", i.Test)
	case session.ItemSkipped:
		if i.By == "agent" {
			return "skipped: the agent said that nothing is left"
		}
		return "skipped by a person"
	case session.ItemAgreed:
		return "approved by a person"
	}
	return "open"
}

// on reports whether a settlement (the end of an item or lap without a judgement) is valid on a line of checkpoints:
// its checkpoint is on the line.
func on(e session.Settlement, way []session.Checkpoint) bool {
	return slices.ContainsFunc(way, func(c session.Checkpoint) bool { return c.Number == e.Checkpoint })
}

// States returns all items with their states at the current checkpoint.
func States(s *session.Session) []Item {
	way := s.Way()
	items := make([]Item, 0, len(s.Items))
	for i, text := range s.Items {
		item := State(s, i+1, way)
		item.Text = text
		items = append(items, item)
	}
	return items
}

// Open returns the items that are not delivered, shown or approved.
func Open(s *session.Session) []Item {
	return slices.DeleteFunc(States(s), Item.Settled)
}

// Next returns the number of the first item after the current lap that is not done, 0 for none.
func Next(s *session.Session) int {
	for _, item := range States(s) {
		if item.Number > s.Lap && !item.Settled() {
			return item.Number
		}
	}
	return 0
}

// Less reports whether less was done than was agreed: items are open, or a person skipped phases.
func Less(s *session.Session) bool { return len(Open(s))+len(s.SkippedPhases) > 0 }

// State returns the state of lap n on a line of checkpoints, or of item n in a workflow without laps.
func State(s *session.Session, n int, way []session.Checkpoint) Item {
	item := Item{Number: n, State: session.ItemOpen}
	if s.Phase != workflows.Done && (n == s.Lap || !s.Laps) {
		return item // the item is in progress
	}
	for i := range way { // not by value: a checkpoint is large, and each item asks about all of them
		if (way[i].Lap == n || !s.Laps) && delivers(s, n, way[:i+1]) {
			item.State, item.Checkpoint = session.ItemDelivered, way[i].Number
		}
	}
	for _, e := range s.Settlements {
		if e.Item == n && e.Checkpoint >= item.Checkpoint && on(e, way) {
			item.State, item.Checkpoint, item.Test, item.By = e.State, e.Checkpoint, e.Test, e.By
		}
	}
	return item
}

// delivers reports whether the last of these checkpoints delivers item n.
func delivers(s *session.Session, n int, way []session.Checkpoint) bool {
	if s.Laps {
		return endsLap(s, n, way)
	}
	c := &way[len(way)-1]
	return c.Next == workflows.Done && deliversAll(n, c, way)
}

// endsLap reports whether the last of these checkpoints ended lap n with a judgement. If the lap's tests were not
// written in it, because that phase was skipped, a person must have approved the end. Laps that follow the last one have
// no item, and an item that is added later takes their number; so such a lap must have begun at its first phase.
func endsLap(s *session.Session, n int, way []session.Checkpoint) bool {
	c := &way[len(way)-1]
	stays := c.Next != workflows.Done && c.NextLap == n
	if n < 1 || c.Trigger != session.TriggerAttempt || c.Verdict != session.Pass || c.Lap != n || stays ||
		len(way) > 1 && over(way[len(way)-2], n) { // the lap had ended before: this checkpoint is a later edit
		return false
	}
	skipped := slices.ContainsFunc(c.SkippedPhases,
		func(p session.SkippedPhase) bool { return p.Lap == n && p.Phase == s.Start })
	begun := false
	for i := len(way) - 1; i >= 0 && !begun; i-- { // a lap begins shortly before it ends
		b := &way[i]
		begun = b.Lap == n && b.Phase == s.Start && b.Verdict == session.Pass && b.Next != b.Phase
	}
	return begun || !skipped && s.Then == "" || skipped && c.Class == session.ClassApproved
}

// over reports whether the work was complete at a checkpoint, after a lap.
func over(c session.Checkpoint, lap int) bool { return c.Next == workflows.Done && c.NextLap == lap }

// deliversAll reports whether work without laps that ends with checkpoint c delivers item n: either a person or a
// reviewer approved the same tree, or a document in the tree ticks the item, and the gates passed.
func deliversAll(n int, c *session.Checkpoint, way []session.Checkpoint) bool {
	if c.Trigger != session.TriggerAttempt || c.Verdict != session.Pass {
		return false
	}
	return slices.Contains(c.Ticked, n) || slices.ContainsFunc(way, func(b session.Checkpoint) bool {
		return b.Tree == c.Tree && b.Verdict == session.Pass &&
			(b.Class == session.ClassApproved || b.Class == session.ClassReviewed)
	})
}
