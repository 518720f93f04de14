package session

// Fork is how another session came to the checkpoint that a session goes on from.
type Fork struct {
	// its line of checkpoints; the last is the one that was forked. Their `number` is 0: they are not of this session
	Line []Checkpoint `json:"line"`
	// those that are valid on that line, with `checkpoint` 0
	Settlements []Settlement `json:"settlements,omitempty"`
	// results of the gates on its tree, if it is `green`
	Gates []GateResult `json:"gates,omitempty"`
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
