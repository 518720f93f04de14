package present

import (
	"fmt"
	"strings"
	"time"

	"github.com/wfs-dev/wfs/engine"
	"github.com/wfs-dev/wfs/session"
)

// Plural is the word for one or for many.
func Plural(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

func unix(sec int64) time.Time { return time.Unix(sec, 0) }

// Cost says what was used up, "" for nothing: "$0.25, 12,000 tokens".
func Cost(u session.Usage) string {
	var parts []string
	if u.USD > 0 {
		text := USD(u)
		if text == "$0.00" {
			text = "less than a cent"
		}
		parts = append(parts, text)
	}
	if u.Tokens.Sum() > 0 {
		parts = append(parts, Tokens(u.Tokens))
	}
	return strings.Join(parts, ", ")
}

// USD is an amount of dollars: "$0.25", or "~$0.25" when some of it is estimated.
func USD(u session.Usage) string {
	text := fmt.Sprintf("$%.2f", u.USD.USD())
	if u.Estimated > 0 {
		text = "~" + text
	}
	return text
}

// Tokens is "12k tokens", or "12k new and 40k cached tokens".
func Tokens(t session.Tokens) string {
	if t.CacheRead > 0 {
		return Count(t.New()) + " new and " + Count(t.CacheRead) + " cached tokens"
	}
	return Count(t.Sum()) + " tokens"
}

// runCost is costText of one run, to stand behind what else is said of it.
func runCost(r session.RunResult) string {
	if text := Cost(r.Usage()); text != "" {
		return ", " + text
	}
	return ""
}

// Budget says how near a cap is.
func Budget(l session.BudgetLine) string {
	return fmt.Sprintf("%s: %s of %s used up", l.Scope, engine.Amount(l.What, l.Spent), engine.Amount(l.What, l.Cap))
}

// inWords says how long something takes or took, roughly.
func inWords(d time.Duration) string {
	switch {
	case d < time.Second:
		return "now"
	case d < time.Minute:
		return fmt.Sprintf("%d s", int(d.Seconds()))
	case d < 2*time.Hour:
		return fmt.Sprintf("%d min", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h", int(d.Hours()))
	}
	return fmt.Sprintf("%d days", int(d.Hours()/24))
}

// Ago says when something was, roughly.
func Ago(t, now time.Time) string {
	d := now.Sub(t)
	if d < time.Second {
		return "just now"
	}
	return inWords(d) + " ago"
}

func Millis(ms int64) string {
	return (time.Duration(ms) * time.Millisecond).Round(10 * time.Millisecond).String()
}

func Bytes(n int64) string {
	for _, unit := range []struct {
		name string
		size int64
	}{{"GB", 1 << 30}, {"MB", 1 << 20}, {"KB", 1 << 10}} {
		if n >= unit.size {
			return fmt.Sprintf("%.1f %s", float64(n)/float64(unit.size), unit.name)
		}
	}
	return fmt.Sprintf("%d bytes", n)
}

// seconds is a time as it stands behind a row, "" for less than a second.
func seconds(ms int64) string {
	if ms < 1000 {
		return ""
	}
	return Clock(time.Duration(ms) * time.Millisecond)
}

// More counts what a list leaves out.
func More(n int) string {
	if n <= 0 {
		return ""
	}
	return fmt.Sprintf(" and %d more", n)
}

// took says how long something took, if it took a while.
func took(ms int64) string {
	if ms < 1000 {
		return ""
	}
	return " after " + Millis(ms)
}

// Lasting says how long something took, to the minute where it took long.
func Lasting(d time.Duration) string {
	switch d = d.Round(time.Second); {
	case d < time.Minute:
		return fmt.Sprintf("%d s", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%d min", int(d.Minutes()))
	}
	h, m := int(d.Hours()), int(d.Minutes())%60
	if m == 0 {
		return fmt.Sprintf("%d h", h)
	}
	return fmt.Sprintf("%d h %d min", h, m)
}

// Clock is a duration as clocks show it: 0:04, 1:02:03.
func Clock(d time.Duration) string {
	n := max(0, int64(d/time.Second))
	if n < 3600 {
		return fmt.Sprintf("%d:%02d", n/60, n%60)
	}
	return fmt.Sprintf("%d:%02d:%02d", n/3600, n/60%60, n%60)
}

// Count is a number in three figures or so: 950, 41k, 1.2M.
func Count(n int64) string {
	switch {
	case n < 1000:
		return fmt.Sprint(n)
	case n < 10_000:
		return fmt.Sprintf("%.1fk", float64(n)/1e3)
	case n < 1_000_000:
		return fmt.Sprintf("%dk", n/1000)
	}
	return fmt.Sprintf("%.1fM", float64(n)/1e6)
}

func ms(n int64) time.Duration { return time.Duration(n) * time.Millisecond }

// Some are the first of a list, and how many more there are.
func Some[T ~string](list []T, most int, sep string) string {
	var names []string
	for _, x := range list[:min(len(list), most)] {
		names = append(names, string(x))
	}
	return strings.Join(names, sep) + More(len(list)-most)
}
