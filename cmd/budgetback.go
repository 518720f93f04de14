package cmd

import (
	"strconv"
	"strings"
	"time"

	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
)

// budgetBack is the command that gives those caps their former values which were set now. What is spent stays spent, so
// that this is no operation that wfs undo takes back.
func budgetBack(id session.ID, set, former workflows.Budget) string {
	words := []string{"wfs edit", string(id)}
	add := func(flag string, set, former float64, text func(float64) string) {
		switch {
		case set == 0:
		case former <= 0:
			words = append(words, "--budget-"+flag, none)
		default:
			words = append(words, "--budget-"+flag, text(former))
		}
	}
	number := func(n float64) string { return strconv.FormatFloat(n, 'f', -1, 64) }
	for _, c := range []struct {
		prefix      string
		set, former workflows.Cap
	}{{"", set.Session, former.Session}, {"phase-", set.Phase, former.Phase}, {"day-", set.Day, former.Day}} {
		add(c.prefix+"usd", c.set.USD, c.former.USD, number)
		add(c.prefix+"tokens", float64(c.set.Tokens), float64(c.former.Tokens), number)
		add(c.prefix+"turns", float64(c.set.Turns), float64(c.former.Turns), number)
		add(c.prefix+"attempts", float64(c.set.Attempts), float64(c.former.Attempts), number)
		add(c.prefix+"time", float64(c.set.Seconds), float64(c.former.Seconds), func(n float64) string { return (time.Duration(n) * time.Second).String() })
	}
	calls := former.CallsPerHour
	if calls == 0 {
		calls = workflows.DefaultCallsPerHour
	}
	add("calls-per-hour", float64(set.CallsPerHour), float64(calls), number)
	return strings.Join(words, " ")
}
