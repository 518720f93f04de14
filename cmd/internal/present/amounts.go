package present

import (
	"fmt"
	"strings"
	"time"

	"github.com/wfs-dev/wfs/engine/decide"
	"github.com/wfs-dev/wfs/internal/safetext"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/session/cost"
)

// N returns a count with its noun, in the singular or plural: "1 file", "3 files".
func N(n int, thing string) string {
	return fmt.Sprintf("%d %s", n, safetext.Word(n, thing, thing+"s"))
}

func unix(sec int64) time.Time { return time.Unix(sec, 0) }

// Cost returns the money and tokens used, such as "$0.25, 12k tokens". It returns "" if nothing was used.
func Cost(u cost.Usage) string {
	var p Parts
	if usd := USD(u); usd != "$0.00" {
		p.Add(u.USD > 0, "%s", usd)
	} else {
		p.Add(u.USD > 0, "less than a cent")
	}
	p.Add(u.Tokens.Sum() > 0, "%s", Tokens(u.Tokens))
	return strings.Join(p, ", ")
}

// USD returns an amount of dollars: "$0.25", or "~$0.25" if part of the amount is an estimate.
func USD(u cost.Usage) string {
	text := fmt.Sprintf("$%.2f", u.USD.USD())
	if u.Estimated > 0 {
		text = "~" + text
	}
	return text
}

// Tokens returns a number of tokens: "12k tokens", or "12k new and 40k cached tokens" if some came from a cache.
func Tokens(t cost.Tokens) string {
	if t.CacheRead > 0 {
		return Count(t.New()) + " new and " + Count(t.CacheRead) + " cached tokens"
	}
	return Count(t.Sum()) + " tokens"
}

// Budget says how much of a cap is used: "session: $1.00 of $5.00 used up".
func Budget(l session.BudgetLine) string {
	return fmt.Sprintf("%s: %s of %s used up", l.Scope, decide.Amount(l.What, l.Spent), decide.Amount(l.What, l.Cap))
}

// Ago says how long ago t was, seen from now: "5 min ago". The zero time is unknown.
func Ago(t, now time.Time) string {
	d := now.Sub(t)
	switch {
	case t.IsZero():
		return "unknown"
	case d < time.Second:
		return "just now"
	}
	return Lasting(d) + " ago"
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

// Seconds formats a duration for the end of a table row. It returns "" for less than a second.
func Seconds(millis int64) string {
	if millis < 1000 {
		return ""
	}
	return Clock(ms(millis))
}

// More returns " and 3 more" for n entries that a list leaves out, "" for none.
func More(n int) string {
	if n <= 0 {
		return ""
	}
	return fmt.Sprintf(" and %d more", n)
}

// Lasting formats a duration in words: in seconds below a minute, in days from 48 hours on, and otherwise to the
// minute.
func Lasting(d time.Duration) string {
	d = d.Round(time.Second)
	h, m := int(d.Hours()), int(d.Minutes())%60
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%d s", int(d.Seconds()))
	case h == 0:
		return fmt.Sprintf("%d min", m)
	case h >= 48:
		return fmt.Sprintf("%d days", h/24)
	case m == 0:
		return fmt.Sprintf("%d h", h)
	}
	return fmt.Sprintf("%d h %d min", h, m)
}

// Clock formats a duration like a stopwatch: 0:04, 1:02:03.
func Clock(d time.Duration) string {
	n := max(0, int64(d/time.Second))
	if h := n / 3600; h > 0 {
		return fmt.Sprintf("%d:%02d:%02d", h, n/60%60, n%60)
	}
	return fmt.Sprintf("%d:%02d", n/60, n%60)
}

// Count shortens a number to about three digits: 950, 41k, 1.2M.
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

// Parts are the pieces of a line that callers join with a separator.
type Parts []string

func (p *Parts) Add(is bool, format string, args ...any) {
	if is {
		*p = append(*p, fmt.Sprintf(format, args...))
	}
}

func ms(n int64) time.Duration { return time.Duration(n) * time.Millisecond }
