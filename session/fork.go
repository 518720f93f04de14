package session

// Fork is how another session came to the checkpoint that a session goes on from.
type Fork struct {
	// Line is that session's line of checkpoints; the last one is where it was forked. Their numbers are 0, since they are
	// none of this session's.
	Line        []Checkpoint `json:"line"`
	Settlements []Settlement `json:"settlements,omitempty"`
	Gates       []GateResult `json:"gates,omitempty"` // what the gates said about that tree, if it is green
}

// ForkAt is what a fork has to know of the session at one of its checkpoints.
func (s *Session) ForkAt(number int) (*Fork, error) {
	then := *s
	if err := then.moved(Moved{MoveStarted{To: number}}); err != nil {
		return nil, err
	}
	var f Fork
	f.Line = then.Way()
	for _, e := range then.Settlements {
		now := then.lapState(e.Item, f.Line)
		if e.Item == 0 && e.Checkpoint == number || e.Item > 0 && now.State == e.State && now.Checkpoint == e.Checkpoint {
			e.Checkpoint = 0
			f.Settlements = append(f.Settlements, e)
		}
	}
	for i := range f.Line {
		c := &f.Line[i]
		c.Number, c.Used = 0, Usage{}
		if i < len(f.Line)-1 {
			c.Targets, c.Expected, c.Skipped, c.HeldOut = nil, nil, nil, nil
		}
	}
	return &f, nil
}

func (f *Fork) at() *Checkpoint { return &f.Line[len(f.Line)-1] }
