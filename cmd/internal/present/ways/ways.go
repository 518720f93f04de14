// Package ways has the facts about an interruption that wfs shows: what was cut off, and the user's options.
package ways

import (
	"slices"
	"time"

	"github.com/wfs-dev/wfs/session"
)

// Recovery says what an interruption cut off, and how the user can continue.
type Recovery struct {
	// Attempt is the attempt that was cut off. It is 0 if no attempt was, or if its files are a checkpoint already.
	Attempt int `json:"attempt,omitempty"`
	// Step is the last operation: attempt (the agent was working), gates (its run had ended), verdict (it was judged),
	// or checkpoint. Only a checkpoint is complete.
	Step     string    `json:"step"`
	Complete bool      `json:"complete"`
	LastSign time.Time `json:"last_sign"` // last sign of life of the run: an event, a backup or output of the agent
	Options  []Option  `json:"options"`
}

// Option is one way to continue after an interruption.
type Option struct {
	// Type is complete (keep the files), backup, checkpoint, phase, lap (go back to where it began) or fresh.
	Type        string `json:"type"`
	What        string `json:"what"` // for people
	Command     string `json:"command"`
	Checkpoint  int    `json:"checkpoint"` // where the session will be
	Keeps       Amount `json:"keeps"`
	Loses       Amount `json:"loses"` // what the work tree lacks afterwards; it is saved first
	Recommended bool   `json:"recommended,omitempty"`
}

// Amount measures work that is kept or lost.
type Amount struct {
	Checkpoints int   `json:"checkpoints,omitempty"`
	Files       int   `json:"files,omitempty"` // files that differ
	Added       int   `json:"added,omitempty"` // lines
	Removed     int   `json:"removed,omitempty"`
	Millis      int64 `json:"millis,omitempty"` // time that agents and gates worked
}

// AmountOf counts files and lines.
func AmountOf(files []session.FileLines) (m Amount) {
	m.Files = len(files)
	for _, f := range files {
		m.Added, m.Removed = m.Added+f.Added, m.Removed+f.Removed
	}
	return m
}

// BeforeInterruption returns the number of the newest checkpoint that does not hold the changes of an interrupted
// attempt. The user can go back to it to discard those changes.
func BeforeInterruption(s *session.Session) int {
	n := s.Current
	for n > 0 && s.At(n).Trigger == session.TriggerInterrupted {
		n = s.At(n).On
	}
	return n
}

// Begins returns the checkpoints, at or before checkpoint n, with which the current phase and the current lap began.
func Begins(s *session.Session, n int) (phase, lap int) {
	way := slices.DeleteFunc(slices.Clone(s.Way()), func(c session.Checkpoint) bool { return c.Number > n })
	back := func(i int, in func(session.Checkpoint) bool) int {
		for i > 0 && in(way[i]) {
			i--
		}
		return i
	}
	i := back(len(way)-1, func(c session.Checkpoint) bool { return c.Lap == s.Lap && c.Phase == s.Phase })
	j := back(i, func(c session.Checkpoint) bool { return c.Lap == s.Lap })
	return way[i].Number, way[j].Number
}
