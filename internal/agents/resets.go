package agents

import (
	"strconv"
	"strings"
	"time"
)

// How far ahead a moment may be that a text tells: the longest limit that is known is a month.
const farthest = 35 * 24 * 3600

// resetIn finds the moment, in Unix seconds, at which a limit that is told in words ends: 0 when there is none.
func resetIn(said string, now int64) int64 { return resetAt(said, now, time.Local) }

// resetAt reads "limit reached|1760000000", "try again in 3h 20m", "retry-after: 30", "resets 6:13pm (UTC)", "resets Nov 24,
// 3:13pm (Europe/Berlin)", "try again at Nov 24th, 2026 3:13 PM", "resets at 2026-11-24T15:13:00Z". A time of day is the
// next such moment, in the zone that is told, or else in the given one.
func resetAt(said string, now int64, local *time.Location) int64 {
	if now == 0 {
		return 0
	}
	low := strings.ToLower(said)
	at := int64(0)
	for _, read := range []func(string, int64, *time.Location) int64{epoch, after, clock} {
		if at = read(low, now, local); at != 0 {
			break
		}
	}
	if at > now+farthest || at < now-farthest {
		return 0
	}
	return at
}

// epoch reads "…limit reached|1760000000".
func epoch(low string, _ int64, _ *time.Location) int64 {
	_, rest, ok := strings.Cut(low, "|")
	digits := rest[:len(rest)-len(strings.TrimLeft(rest, "0123456789"))]
	if !ok || len(digits) != 10 {
		return 0
	}
	n, _ := strconv.ParseInt(digits, 10, 64)
	return n
}

// after reads spans: "try again in 2 days 3 hours", "retry in 34.07s", "retry-after: 120", "reset after 3h20m12s".
func after(low string, now int64, _ *time.Location) int64 {
	for _, word := range []string{"again in ", "retry in ", "resets in ", "reset in ", "reset after ", "retry after ", "retry-after"} {
		for rest := low; ; {
			_, found, ok := strings.Cut(rest, word)
			if !ok {
				break
			}
			rest = found
			text := strings.TrimLeft(found, " :=\"'")
			if s, ok := span(text); ok {
				return now + s
			}
			if word == "retry-after" {
				if t, err := time.Parse(time.RFC1123, field(strings.ToUpper(text), 29)); err == nil {
					return t.Unix()
				}
			}
		}
	}
	return 0
}

// quotaDay is when Google's daily quotas are new again, in Unix seconds: at midnight in California
// (https://ai.google.dev/gemini-api/docs/rate-limits). Without the table of zones it is taken to be eight hours behind UTC.
func quotaDay(now int64) int64 {
	if now == 0 {
		return 0
	}
	zone, err := time.LoadLocation("America/Los_Angeles")
	if err != nil {
		zone = time.FixedZone("PST", -8*3600)
	}
	t := time.Unix(now, 0).In(zone)
	return time.Date(t.Year(), t.Month(), t.Day()+1, 0, 0, 0, 0, zone).Unix()
}

func field(s string, n int) string { return s[:min(n, len(s))] }

// span reads a duration in seconds, rounded up: a number with a unit, several of them, or a number of seconds alone.
func span(s string) (int64, bool) {
	total, found := 0.0, false
	for {
		s = strings.TrimLeft(strings.TrimPrefix(strings.TrimLeft(s, " ,"), "and "), " ")
		n := 0
		for n < len(s) && (digit(s[n]) || s[n] == '.' && n+1 < len(s) && digit(s[n+1])) {
			n++
		}
		if n == 0 || n > 12 {
			break
		}
		value, err := strconv.ParseFloat(s[:n], 64)
		if err != nil {
			break
		}
		rest := strings.TrimLeft(s[n:], " ")
		letters := rest[:len(rest)-len(strings.TrimLeft(rest, "abcdefghijklmnopqrstuvwxyz"))]
		unit, known := map[string]float64{
			"ms": 0.001, "s": 1, "sec": 1, "secs": 1, "second": 1, "seconds": 1, "m": 60, "min": 60, "mins": 60, "minute": 60,
			"minutes": 60, "h": 3600, "hr": 3600, "hrs": 3600, "hour": 3600, "hours": 3600, "d": 86400, "day": 86400, "days": 86400,
			"week": 604800, "weeks": 604800,
		}[letters]
		if !known {
			if !found && (letters == "" || len(rest) < len(s[n:])) { // a number alone
				return int64(value), true
			}
			break
		}
		total, found, s = total+value*unit, true, rest[len(letters):]
	}
	if total > 10*farthest {
		return 0, false
	}
	return int64(total + 0.999), found
}

// clock reads moments: after "reset", "resets", "try again at" and the like, a day, if any, a time of day and a zone, if any.
func clock(low string, now int64, local *time.Location) int64 {
	for _, word := range []string{"resets at ", "resets on ", "resets ", "reset at ", "again at ", "again on ", "available at ", "until "} {
		_, rest, ok := strings.Cut(low, word)
		if !ok {
			continue
		}
		rest = field(rest, 80)
		if t, ok := stamp(rest, local); ok {
			return t
		}
		if at := moment(rest, now, local); at != 0 {
			return at
		}
	}
	return 0
}

// stamp reads "2026-11-24T15:13:00Z" and "2026-11-24 15:13:00 UTC".
func stamp(s string, local *time.Location) (int64, bool) {
	s = strings.ToUpper(s)
	if end := strings.IndexAny(s, ",;)\""); end >= 0 {
		s = s[:end]
	}
	words := strings.Fields(strings.TrimRight(s, ". "))
	for n := min(3, len(words)); n > 0; n-- {
		text := strings.TrimRight(strings.Join(words[:n], " "), ".")
		for _, layout := range []string{time.RFC3339, "2006-01-02 15:04:05 MST", "2006-01-02 15:04 MST", "2006-01-02 15:04:05", "2006-01-02 15:04"} {
			if t, err := time.ParseInLocation(layout, text, local); err == nil {
				return t.Unix(), true
			}
		}
	}
	return 0, false
}

// moment reads "nov 24, 3:13pm (utc)", "6pm (europe/berlin)", "nov 24th, 2026 3:13 pm", "18:13".
func moment(s string, now int64, local *time.Location) int64 {
	zone := zoneIn(s, local)
	if i := strings.IndexByte(s, '('); i >= 0 {
		s = s[:i]
	}
	today := time.Unix(now, 0).In(zone)
	year, month, day := 0, time.Month(0), 0
	hour, minute := -1, 0
	words := strings.FieldsFunc(s, func(r rune) bool { return r == ' ' || r == ',' || r == '.' || r == '\n' || r == ';' })
	for i := 0; i < len(words) && hour < 0; i++ {
		w := words[i]
		next := ""
		if i+1 < len(words) {
			next = words[i+1]
		}
		switch n := leading(w); {
		case monthOf(w) != 0:
			month = monthOf(w)
		case n == "":
		case month != 0 && day == 0:
			day = number(n)
		case len(n) == 4 && len(w) == 4 && day != 0:
			year = number(n)
		default:
			hour, minute = timeOfDay(w, next)
			if hour < 0 {
				return 0
			}
		}
	}
	if hour < 0 || day > 31 {
		return 0
	}
	y := max(year, today.Year())
	if month == 0 {
		t := onClock(y, today.Month(), today.Day(), hour, minute, zone)
		if t.Unix()+59 < now { // the minute is told, not the second
			t = onClock(y, today.Month(), today.Day()+1, hour, minute, zone)
		}
		return t.Unix()
	}
	t := onClock(y, month, max(day, 1), hour, minute, zone)
	if year == 0 && t.Before(today.AddDate(0, -6, 0)) { // told in December, of January
		t = onClock(y+1, month, max(day, 1), hour, minute, zone)
	}
	return t.Unix()
}

// onClock is when clocks show this. In the hour that is left out in spring it is the later of the two readings.
func onClock(year int, month time.Month, day, hour, minute int, zone *time.Location) time.Time {
	t := time.Date(year, month, day, hour, minute, 0, 0, zone)
	if t.Hour() == hour-1 {
		return t.Add(time.Hour)
	}
	return t
}

// leading are the digits that a word begins with.
func leading(w string) string { return w[:len(w)-len(strings.TrimLeft(w, "0123456789"))] }

func monthOf(w string) time.Month {
	if len(w) < 3 {
		return 0
	}
	for m := time.January; m <= time.December; m++ {
		if name := strings.ToLower(m.String()); strings.HasPrefix(name, w) {
			return m
		}
	}
	return 0
}

// timeOfDay reads "6:13pm", "6pm", "3:13" before "pm", "18:13". Its hour is -1 when it is none.
func timeOfDay(w, next string) (hour, minute int) {
	h := leading(w)
	rest := w[len(h):]
	if len(h) == 0 || len(h) > 2 {
		return -1, 0
	}
	hour = number(h)
	colon := strings.HasPrefix(rest, ":")
	if colon {
		m := leading(rest[1:])
		if len(m) != 2 {
			return -1, 0
		}
		minute, rest = number(m), rest[1+len(m):]
	}
	if rest == "" && (next == "am" || next == "pm") {
		rest = next
	}
	switch {
	case hour > 23 || minute > 59 || rest == "" && !colon:
		return -1, 0
	case rest == "am" && hour == 12:
		hour = 0
	case rest == "pm" && hour < 12:
		hour += 12
	}
	return hour, minute
}

// zoneIn finds the zone of a text in lower case: in parentheses, or UTC.
func zoneIn(s string, local *time.Location) *time.Location {
	_, rest, _ := strings.Cut(s, "(")
	name, _, ok := strings.Cut(rest, ")")
	if !ok {
		for _, w := range strings.Fields(s) {
			if w := strings.Trim(w, ".,;"); w == "utc" || w == "gmt" {
				return time.UTC
			}
		}
		return local
	}
	name = strings.TrimSpace(name)
	if name == "utc" || name == "gmt" || name == "z" {
		return time.UTC
	}
	if strings.Contains(name, "..") || len(name) > 60 {
		return local
	}
	if z, err := time.LoadLocation(proper(name)); err == nil {
		return z
	}
	if z, err := time.LoadLocation(strings.ToUpper(name)); err == nil { // "CET"
		return z
	}
	return local
}

// proper writes the name of a zone as its file is called: "america/new_york" is America/New_York.
func proper(name string) string {
	b := []byte(name)
	for i := range b {
		if (i == 0 || b[i-1] == '/' || b[i-1] == '_' || b[i-1] == '-') && b[i] >= 'a' && b[i] <= 'z' {
			b[i] -= 'a' - 'A'
		}
	}
	return string(b)
}
