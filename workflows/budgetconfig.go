package workflows

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// What a configuration says of budgets and limits: keys, reading, and how layers are merged.

var budgetObject = &object{
	name: "budget", about: "Cost limits. A repository may lower a user's limits, not raise them.",
	keys: []key{
		{name: "session", about: "Limits per session.", value: isA(capObject)},
		{name: "phase", about: "Limits per phase in one lap of a session.", value: isA(capObject)},
		{name: "day", about: "Limits per day, for all sessions of a clone together.", value: isA(capObject)},
	},
}

var capObject = &object{
	name: "cap", about: "The limits at which a session stops and asks.",
	keys: []key{
		{name: "usd", about: "Dollars, as agents report them.", value: shape{kind: aMoney}, lowers: true},
		{name: "tokens", about: "Tokens of all kinds.", value: number(1, maxTokens), lowers: true},
		{name: "turns", about: "Turns of agents.", value: number(1, maxTokens), lowers: true},
		{name: "attempts", about: "Attempts that were judged.", value: number(1, maxTokens), lowers: true},
		{name: "time", about: "Time of agents, commands and gates, without waits.", value: shape{kind: aDuration}, lowers: true},
	},
}

var callsObject = &object{
	name: "limits", about: "Rate limits.",
	keys: []key{
		{name: "calls-per-hour", about: "How many agents may start within an hour, in all sessions of a clone together.",
			value: number(1, maxCount), fallback: strconv.Itoa(DefaultCallsPerHour), lowers: true},
	},
}

// maxUSD and maxTokens are more than anybody means.
const (
	maxUSD    = 1_000_000
	maxTokens = 2_000_000_000
)

func (r *reader) budget(n, calls *node) Budget {
	f, _ := r.fields(n, "budget", budgetObject)
	b := Budget{Session: r.cap(f["session"], "budget: session"), Phase: r.cap(f["phase"], "budget: phase"), Day: r.cap(f["day"], "budget: day")}
	f, _ = r.fields(calls, "limits", callsObject)
	b.CallsPerHour = int64(r.number(f["calls-per-hour"], "limits: calls-per-hour", 1, maxCount))
	return b
}

func (r *reader) cap(n *node, what string) Cap {
	f, _ := r.fields(n, what, capObject)
	number := func(key string) int64 { return int64(r.number(f[key], what+": "+key, 1, maxTokens)) }
	return Cap{
		USD: r.money(f["usd"], what+": usd"), Tokens: number("tokens"), Turns: number("turns"), Attempts: number("attempts"),
		Seconds: int64((r.duration(f["time"], what+": time", 0) + time.Second - 1) / time.Second),
	}
}

// money returns an amount of dollars.
func (r *reader) money(n *node, what string) float64 {
	if n == nil {
		return 0
	}
	if n.kind != scalar || n.tag != "!!int" && n.tag != "!!float" {
		r.wrong(n, what, "an amount of dollars (20, 2.50)")
		return 0
	}
	usd, err := ParseUSD(n.text)
	if err != nil {
		r.fail(n.line, "%s must be an amount of dollars above nothing and at most %d, not %s", what, maxUSD, clip(n.text))
	}
	return usd
}

// ParseUSD reads an amount of dollars above nothing: "20", "2.50", "$2.50".
func ParseUSD(text string) (float64, error) {
	usd, err := strconv.ParseFloat(strings.TrimPrefix(text, "$"), 64)
	if err != nil || !(usd > 0 && usd <= maxUSD) {
		return 0, fmt.Errorf("%q is no amount of dollars", text)
	}
	return usd, nil
}

// raises reports whether a repository's value of a key that it may only lower is above that of the person's own file.
func raises(low, high *node, k *key) bool {
	if !k.lowers || low.from == nil || high.from == nil || low.from.Source != FromUser || high.from.Source != FromRepository {
		return false
	}
	return amount(high) > amount(low)
}

func amount(n *node) float64 {
	if d, err := time.ParseDuration(n.text); err == nil {
		return d.Seconds()
	}
	f, _ := strconv.ParseFloat(n.text, 64)
	return f
}

// text lists the caps that there are, for people.
func (b Budget) text() string {
	var parts []string
	for _, c := range []struct {
		scope string
		Cap
	}{{"session", b.Session}, {"phase", b.Phase}, {"day", b.Day}} {
		for _, x := range []struct {
			set  bool
			text string
		}{
			{c.USD > 0, fmt.Sprintf("$%.2f", c.USD)}, {c.Tokens > 0, fmt.Sprintf("%d tokens", c.Tokens)}, {c.Turns > 0, fmt.Sprintf("%d turns", c.Turns)},
			{c.Attempts > 0, fmt.Sprintf("%d attempts", c.Attempts)}, {c.Seconds > 0, (time.Duration(c.Seconds) * time.Second).String()},
		} {
			if x.set {
				parts = append(parts, c.scope+" "+x.text)
			}
		}
	}
	if b.CallsPerHour > 0 {
		parts = append(parts, fmt.Sprintf("%d calls per hour", b.CallsPerHour))
	}
	return strings.Join(parts, ", ")
}
