package workflows

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
)

// Budget has caps on the usage of one session, of one phase in one lap, and of all sessions of a clone in one day.
type Budget struct {
	Session Cap `json:"session,omitzero" is:""`
	Phase   Cap `json:"phase,omitzero" is:""`
	Day     Cap `json:"day,omitzero" is:""`
	// CallsPerHour is the maximum number of agent starts per hour in a clone; 0 means DefaultCallsPerHour.
	CallsPerHour int64 `json:"calls_per_hour,omitempty"`
}

// Cap limits usage. For each field 0 means that no cap is set here. NoCap, which is never in a file, removes the cap of
// the plan.
type Cap struct {
	USD      float64 `json:"usd,omitempty" is:"lowers"`
	Tokens   int64   `json:"tokens,omitempty" is:"1..2000000000 lowers"`
	Turns    int64   `json:"turns,omitempty" is:"1..2000000000 lowers"`
	Attempts int64   `json:"attempts,omitempty" is:"1..2000000000 lowers"` // judged attempts
	// Seconds of runs and gates; waiting does not count.
	Seconds int64 `json:"seconds,omitempty" key:"time" is:"duration lowers"`
}

// NoCap is the value that removes a cap.
const NoCap = -1

// DefaultCallsPerHour is the default maximum of agent starts per hour in a clone. A user who works within the limits of
// a subscription stays far below it. An agent that fails at once, and is restarted all night, reaches it.
const DefaultCallsPerHour = 100

// Over returns the budget b that a person typed, with the caps of `plan` for all caps that b does not set.
func (b Budget) Over(plan Budget) Budget {
	return Budget{Session: b.Session.over(plan.Session), Phase: b.Phase.over(plan.Phase), Day: b.Day.over(plan.Day),
		CallsPerHour: cmp.Or(b.CallsPerHour, plan.CallsPerHour)}
}

func (c Cap) over(low Cap) Cap {
	return Cap{USD: cmp.Or(c.USD, low.USD), Tokens: cmp.Or(c.Tokens, low.Tokens), Turns: cmp.Or(c.Turns, low.Turns),
		Attempts: cmp.Or(c.Attempts, low.Attempts), Seconds: cmp.Or(c.Seconds, low.Seconds)}
}

const maxUSD = 1_000_000 // no real budget is larger

// ParseUSD parses a positive amount of dollars: "20", "2.50", "$2.50".
func ParseUSD(text string) (float64, error) {
	usd, err := strconv.ParseFloat(strings.TrimPrefix(text, "$"), 64)
	if err != nil || !(usd > 0 && usd <= maxUSD) {
		return 0, fmt.Errorf("%q is no amount of dollars", text)
	}
	return usd, nil
}
