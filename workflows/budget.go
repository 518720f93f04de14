package workflows

// Budget is what work may cost, as caps on one session, on one phase in one lap of it, and on one day of all sessions of a
// clone together.
type Budget struct {
	Session Cap `json:"session,omitzero"`
	Phase   Cap `json:"phase,omitzero"`
	Day     Cap `json:"day,omitzero"`
	// CallsPerHour bounds how often agents are started in a clone; 0 is DefaultCallsPerHour.
	CallsPerHour int64 `json:"calls_per_hour,omitempty"`
}

// Cap bounds what is used up. 0 is no word about it; NoCap, which is never in a file, takes a cap away.
type Cap struct {
	USD      float64 `json:"usd,omitempty"`
	Tokens   int64   `json:"tokens,omitempty"`
	Turns    int64   `json:"turns,omitempty"`
	Attempts int64   `json:"attempts,omitempty"` // judged
	Seconds  int64   `json:"seconds,omitempty"`  // that runs and gates took; waits do not count
}

// NoCap says that there is to be none.
const NoCap = -1

// DefaultCallsPerHour bounds how often agents are started in a clone. Somebody who works along a subscription's limits stays
// far below it; an agent that fails at once, all night, does not.
const DefaultCallsPerHour = 100

// Over lays caps that were typed over those of a plan.
func (b Budget) Over(plan Budget) Budget {
	return Budget{Session: b.Session.over(plan.Session), Phase: b.Phase.over(plan.Phase), Day: b.Day.over(plan.Day),
		CallsPerHour: over(b.CallsPerHour, plan.CallsPerHour)}
}

func (c Cap) over(low Cap) Cap {
	return Cap{USD: over(c.USD, low.USD), Tokens: over(c.Tokens, low.Tokens), Turns: over(c.Turns, low.Turns),
		Attempts: over(c.Attempts, low.Attempts), Seconds: over(c.Seconds, low.Seconds)}
}

func over[N int64 | float64](high, low N) N {
	if high == 0 {
		return low
	}
	return high
}
