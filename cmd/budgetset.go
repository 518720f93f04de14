package cmd

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/spf13/pflag"

	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
	"github.com/wfs-dev/wfs/workspace"
)

// none is the value that removes a cap.
const none = "none"

// capFlag is the command-line flag of one cap.
type capFlag struct {
	what string // unit, as in session.BudgetLine
	set  func(float64)
}

func (f *capFlag) String() string { return "" } // help shows no default value

func (f *capFlag) Type() string {
	switch f.what {
	case "usd":
		return "dollars"
	case "seconds":
		return "duration"
	}
	return "number"
}

func (f *capFlag) Set(text string) error {
	n, err := parseCap(f.what, text)
	if err == nil {
		f.set(n)
	}
	return err
}

// parseCap parses the value of a cap in the unit of `what`. It returns NoCap for "none".
func parseCap(what, text string) (float64, error) {
	if text == none {
		return workflows.NoCap, nil
	}
	switch what {
	case "usd":
		if usd, err := workflows.ParseUSD(text); err == nil {
			return usd, nil
		}
		return 0, errors.New("it is an amount of dollars, such as 20 or 2.50, or none")
	case "seconds":
		if d, err := time.ParseDuration(text); err == nil && d >= time.Second {
			return d.Seconds(), nil
		}
		return 0, errors.New("it is a duration, such as 90m or 8h, or none")
	}
	if n, err := strconv.ParseInt(text, 10, 32); err == nil && n > 0 {
		return float64(n), nil
	}
	return 0, errors.New("it is a whole number above nothing, or none")
}

// capFlags adds the flags of one scope of caps. The prefix distinguishes the scopes: --usd, --phase-usd.
func capFlags(f *pflag.FlagSet, prefix, of string, c *workflows.Cap) {
	for _, x := range []struct {
		name, what, about string
		set               func(float64)
	}{
		{"usd", "usd", "number of `dollars`", func(n float64) { c.USD = n }},
		{"tokens", "tokens", "`number` of tokens", func(n float64) { c.Tokens = int64(n) }},
		{"turns", "turns", "`number` of turns", func(n float64) { c.Turns = int64(n) }},
		{"attempts", "attempts", "`number` of attempts", func(n float64) { c.Attempts = int64(n) }},
		{"time", "seconds", "`duration` of work", func(n float64) { c.Seconds = int64(n) }},
	} {
		f.Var(&capFlag{what: x.what, set: x.set}, prefix+x.name, "cap "+of+" at this "+x.about)
	}
}

func callsFlag(f *pflag.FlagSet, prefix string, b *workflows.Budget) {
	f.Var(&capFlag{what: "calls", set: func(n float64) { b.CallsPerHour = int64(n) }}, prefix+"calls-per-hour",
		"start agents at most this `number` of times an hour")
}

// budgetSetJSON is the JSON output of a command that changed the budget.
type budgetSetJSON struct {
	Version int              `json:"version"`
	Session session.ID       `json:"session"`
	Budget  workflows.Budget `json:"budget"` // all caps that flags have set; -1: no cap
	Taken   bool             `json:"taken"`  // always true
	Back    string           `json:"back"`   // command that undoes the change
	Next    []string         `json:"next"`
}

func (a *editVerb) setBudget(ctx context.Context, name string) error {
	h, err := a.InHand(ctx, workspace.Request{Command: "wfs edit", Session: name, Undriven: true})
	if err != nil {
		return err
	}
	if h.S.Status.Final() {
		return session.Refuse(session.RefuseFinal, "wfs budget "+string(h.ID), "%s is %s: it spends nothing any more",
			h.ID, h.S.Status)
	}
	if err := h.SetBudget(ctx, a.budget); err != nil {
		return err
	}
	d, _, err := a.seen(ctx, &h.S)
	if err != nil {
		return err
	}
	j := budgetSetJSON{Version: jsonVersion, Session: h.ID, Budget: h.S.Budget, Taken: true, Back: a.typed("wfs undo"),
		Next: d.Next}
	if a.json {
		return a.answer(j)
	}
	a.out("the budget of %s is set; wfs budget shows it", h.ID)
	a.out("undo: %s", j.Back)
	a.next(j.Next)
	return nil
}

// budgetFlags adds the budget flags of `wfs new`.
func budgetFlags(f *pflag.FlagSet, b *workflows.Budget) {
	capFlags(f, "budget-", "the session", &b.Session)
}
