package cmd

import (
	"strconv"
	"strings"
	"time"

	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
)

// capNames are the flags of a cap, in the order of capNumbers.
var capNames = []string{"usd", "tokens", "turns", "attempts", "time"}

func capNumbers(c workflows.Cap) []float64 {
	return []float64{c.USD, float64(c.Tokens), float64(c.Turns), float64(c.Attempts), float64(c.Seconds)}
}

// budgetBack is the command that gives those caps their former values which were set now. What is spent stays spent, so
// that this is no operation that wfs undo takes back.
func budgetBack(id session.ID, set, former workflows.Budget) string {
	command := "wfs edit " + string(id)
	add := func(flag string, set, former float64) {
		value := strconv.FormatFloat(former, 'f', -1, 64)
		switch {
		case set == 0:
			return
		case former <= 0:
			value = none
		case strings.HasSuffix(flag, "time"):
			value = (time.Duration(former) * time.Second).String()
		}
		command += " --budget-" + flag + " " + value
	}
	for _, c := range []struct {
		prefix      string
		set, former workflows.Cap
	}{{"", set.Session, former.Session}, {"phase-", set.Phase, former.Phase}, {"day-", set.Day, former.Day}} {
		numbers := capNumbers(c.former)
		for i, n := range capNumbers(c.set) {
			add(c.prefix+capNames[i], n, numbers[i])
		}
	}
	calls := former.CallsPerHour
	if calls == 0 {
		calls = workflows.DefaultCallsPerHour
	}
	add("calls-per-hour", float64(set.CallsPerHour), float64(calls))
	return command
}
