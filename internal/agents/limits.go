package agents

import (
	"cmp"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// farthest is the longest time, in seconds, until the end of a limit that is believed. The longest known limit is a
// month.
const farthest = 35 * 24 * 3600

const (
	amount = `(\d{1,12}(?:\.\d+)?)(?: ?(ms|[smhdw])(?:ecs?|econds?|ins?|inutes?|rs?|ours?|ays?|eeks?)?)`
	from   = `(?i)(?:resets?|again|available|until)(?: at| on)? (?:[a-z]+,? )*?`
)

// resets lists the forms in which agents and providers write when a limit ends. The function of a form gets the groups
// that the pattern matched, and the current time in the local time zone. It returns Unix seconds, or 0 if the text is
// not a time.
var resets = []struct {
	pattern func() *regexp.Regexp
	read    func(found []string, now time.Time) int64
}{
	// "limit reached|1760000000"
	{lazy(`\|(\d{10})(?:\D|$)`), func(found []string, _ time.Time) int64 { return int64(number(found[1])) }},
	// "try again in 2 days 3 hours", "retry in 34.07s", "retry-after: 120", "reset after 3h20m12s"
	{lazy(`(?i)(?:again in|retry in|resets? in|reset after|retry after|retry-after)[ :="']+` +
		`((?:(?:and )?` + amount + `[ ,]*)+(?:[^a-z\d]|$)|` + amount + `?(?:[^a-z\d.]|$))`), spanEnd},
	// "retry-after: Fri, 20 Nov 2026 16:28:00 GMT"
	{lazy(`(?i)retry-after[ :="']+(\w{3}, \d\d \w{3} \d{4} [\d:]{8} GMT)`), func(found []string, _ time.Time) int64 {
		return unix(time.Parse(time.RFC1123, strings.ToUpper(found[1])))
	}},
	// "resets at 2026-11-24T15:13:00Z", "available at 2026-11-24 15:13 UTC"
	{lazy(from + `(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d)(:\d\d)?(?:\.\d+)? ?(?:(Z|UTC|GMT)|([+-]\d\d:\d\d))?`), stamp},
	// "resets 6:13pm (UTC)", "until 18:13", "resets Nov 24, 3:13pm (Europe/Berlin)", "try again at Nov 24th, 2026 3:13 PM"
	{lazy(from + `(?:(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.? (\d{1,2})(?:st|nd|rd|th)?(?:,? (\d{4}))?,?(?: at)? )?` +
		`(\d{1,2})(?::(\d\d))?(?::\d\d)? ?([ap]m)?\b(?:,? \(?([a-z_/+-]+))?`), clock},
}

// resetIn returns when the limit in a text ends, in Unix seconds, or 0 if the text does not say it. A time of day means
// the next such time, in the time zone that the text names; if it names none, in the zone of `now`.
func resetIn(said string, now time.Time) int64 {
	if now.Unix() == 0 {
		return 0
	}
	for _, r := range resets {
		for _, found := range r.pattern().FindAllStringSubmatch(said, -1) {
			if at := r.read(found, now); at != 0 && max(at-now.Unix(), now.Unix()-at) <= farthest {
				return at
			}
		}
	}
	return 0
}

var amounts = lazy(`(?i)` + amount + `?`)

func spanEnd(found []string, now time.Time) int64 {
	units := map[string]float64{"ms": .001, "": 1, "s": 1, "m": 60, "h": 3600, "d": 24 * 3600, "w": 7 * 24 * 3600}
	seconds := 0.0
	for _, part := range amounts().FindAllStringSubmatch(found[1], -1) {
		n, _ := strconv.ParseFloat(part[1], 64)
		seconds += n * units[strings.ToLower(part[2])]
	}
	if seconds > farthest {
		return 0
	}
	return now.Unix() + int64(math.Ceil(seconds))
}

func stamp(found []string, now time.Time) int64 {
	layout, zone := time.DateTime+"Z07:00", found[5]
	switch {
	case found[4] != "":
		zone = "Z"
	case zone == "":
		layout = time.DateTime
	}
	return unix(time.ParseInLocation(layout, found[1]+" "+found[2]+cmp.Or(found[3], ":00")+zone, now.Location()))
}

func unix(t time.Time, err error) int64 {
	if err != nil {
		return 0
	}
	return t.Unix()
}

// timeOfDay reads a time of day, such as "2:58 PM" or "14:58". For a number alone, ok is false.
func timeOfDay(found []string) (hour, minute int, ok bool) {
	hour, minute = number(found[4]), number(found[5])
	half := strings.ToLower(found[6])
	switch {
	case half == "am" && hour == 12:
		return 0, minute, minute <= 59
	case half == "pm" && hour < 12:
		hour += 12
	}
	return hour, minute, hour <= 23 && minute <= 59 && (half != "" || found[5] != "")
}

// clock returns the next moment, in Unix seconds, that has the text's time of day, and its date if there is one.
func clock(found []string, now time.Time) int64 {
	hour, minute, ok := timeOfDay(found)
	if !ok {
		return 0
	}
	for _, name := range []string{found[7], strings.ToUpper(found[7])} {
		if zone, err := time.LoadLocation(name); err == nil && name != "" {
			now = now.In(zone)
		}
	}
	onClock := func(year int, month time.Month, day int) time.Time {
		t := time.Date(year, month, day, hour, minute, 0, 0, now.Location())
		if t.Hour() != hour { // summer time begins and skips this hour: of the two readings take the later
			t = t.Add(time.Hour)
		}
		return t
	}
	year, month, day := now.Date()
	if found[1] == "" {
		t := onClock(year, month, day)
		if t.Unix()+59 < now.Unix() { // 59, because the text has no seconds
			t = onClock(year, month, day+1)
		}
		return t.Unix()
	}
	named, _ := time.Parse("Jan", found[1])
	t := onClock(cmp.Or(number(found[3]), year), named.Month(), number(found[2]))
	if found[3] == "" && t.Before(now.AddDate(0, -6, 0)) { // a date in January, written in December
		t = onClock(year+1, named.Month(), number(found[2]))
	}
	return t.Unix()
}

// quotaDay returns when Google's daily quotas renew next, in Unix seconds: at midnight in California
// (https://ai.google.dev/gemini-api/docs/rate-limits). If the system has no time zone database, it assumes UTC-8.
func quotaDay(now time.Time) int64 {
	zone, err := time.LoadLocation("America/Los_Angeles")
	if err != nil {
		zone = time.FixedZone("PST", -8*3600)
	}
	year, month, day := now.In(zone).Date()
	return time.Date(year, month, day+1, 0, 0, 0, 0, zone).Unix()
}

func number(digits string) int {
	n, _ := strconv.Atoi(digits)
	return n
}
