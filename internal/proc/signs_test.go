package proc

import (
	"testing"
	"time"
)

// The watchdog counts beats of a second: its result after each beat would end the run.
func TestWatchdog(t *testing.T) {
	t.Parallel()
	const beat, idle = time.Second, 8 * time.Second
	type beats struct {
		n    int
		says string // output, work, last, more, enough, moved; "": nothing
		late time.Duration
	}
	for name, c := range map[string]struct {
		idle   time.Duration
		settle time.Duration
		beats  []beats
		want   Ended
		at     int // the beat of the result, counted from 1; 0: never
	}{
		"nothing at all":                              {idle: idle, beats: []beats{{n: 9}}, want: Idle, at: 8},
		"without a limit":                             {beats: []beats{{n: 1000}}},
		"output without work":                         {idle: idle, beats: []beats{{n: 9, says: "output"}}, want: Hung, at: 8},
		"work each beat":                              {idle: idle, beats: []beats{{n: 100, says: "work"}}},
		"work, and then nothing":                      {idle: idle, beats: []beats{{n: 3, says: "work"}, {n: 9}}, want: Idle, at: 3 + 8},
		"work and output, and then nothing":           {idle: idle, beats: []beats{{n: 3, says: "work"}, {n: 1, says: "output"}, {n: 9}}, want: Idle, at: 3 + 8},
		"a first word, and then nothing":              {idle: idle, beats: []beats{{n: 1}, {n: 1, says: "output"}, {n: 9}}, want: Idle, at: 8},
		"output for longer than silence":              {idle: idle, beats: []beats{{n: 5, says: "output"}, {n: 9}}, want: Hung, at: 8},
		"files that change":                           {idle: idle, beats: []beats{{n: 100, says: "moved"}}},
		"files that change, and then no more":         {idle: idle, beats: []beats{{n: 20, says: "moved"}, {n: 20}}, want: Idle, at: 20 + 8},
		"a last word, and silence":                    {idle: time.Hour, settle: 3 * time.Second, beats: []beats{{n: 1, says: "last"}, {n: 9}}, want: Settled, at: 3},
		"a last word that was not":                    {idle: time.Hour, settle: 3 * time.Second, beats: []beats{{n: 1, says: "last"}, {n: 1, says: "more"}, {n: 50}}},
		"a last word, and more output":                {idle: time.Hour, settle: 3 * time.Second, beats: []beats{{n: 1, says: "last"}, {n: 20, says: "output"}}},
		"no use":                                      {idle: idle, beats: []beats{{n: 2, says: "work"}, {n: 1, says: "enough"}}, want: Stopped, at: 3},
		"a machine that slept counts two beats":       {idle: idle, beats: []beats{{n: 1, late: 9 * time.Hour}, {n: 3}}},
		"and is idle as much later":                   {idle: idle, beats: []beats{{n: 1, late: 9 * time.Hour}, {n: 9}}, want: Idle, at: 7},
		"a clock that goes back counts nothing at it": {idle: idle, beats: []beats{{n: 1, late: -9 * time.Hour}, {n: 9}}, want: Idle, at: 9},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			signs, files := &Signs{Settle: c.settle}, ""
			signs.Moved = func() string { return files }
			w := &watchdog{signs: signs, idle: c.idle, beat: beat}
			nobody := &leader{pid: 1 << 30} // no process has that pid, or the marker
			var output int64
			n := 0
			for _, b := range c.beats {
				for range b.n {
					n++
					switch b.says {
					case "output":
						output++
					case "work":
						signs.Work()
					case "last", "more":
						signs.Said(b.says == "last")
					case "enough":
						signs.Enough()
					case "moved":
						files += "x"
					}
					got := w.count(beat+b.late, output, nobody, "no such marker")
					if want := c.want; n == c.at && got != want || n != c.at && got != "" {
						t.Fatalf("after beat %d: %q; want %q after beat %d", n, got, c.want, c.at)
					}
					if n == c.at {
						return
					}
				}
			}
			if c.at > 0 {
				t.Errorf("nothing was said in %d beats", n)
			}
		})
	}
}

// TestBusy: a working process is not idle on a machine that gives it hardly any time, and a hanging process does not
// work just because it waits for a processor each time that it looks at the clock.
func TestBusy(t *testing.T) {
	t.Parallel()
	const ms = time.Millisecond
	before := map[int]effort{1: {used: 900 * ms, queued: 400 * ms}, 2: {used: 100 * ms, ready: true}, 3: {used: 5000 * ms}}
	for name, c := range map[string]struct {
		now  map[int]effort
		want bool
	}{
		"nothing":                               {map[int]effort{1: before[1]}, false},
		"is not let, all the time":              {map[int]effort{1: before[1], 2: before[2]}, true},
		"runs when it is looked at":             {map[int]effort{1: {used: 901 * ms, queued: 400 * ms, ready: true}}, false},
		"a process that has ended":              {map[int]effort{1: {used: 910 * ms, queued: 400 * ms}}, false},
		"looks at the clock":                    {map[int]effort{1: {used: 940 * ms, queued: 400 * ms}}, false},
		"works":                                 {map[int]effort{1: {used: 960 * ms, queued: 400 * ms}}, true},
		"several work a little":                 {map[int]effort{1: {used: 930 * ms, queued: 400 * ms}, 2: {used: 130 * ms}}, true},
		"a new one works":                       {map[int]effort{1: before[1], 4: {used: 60 * ms}}, true},
		"works when it is let":                  {map[int]effort{1: {used: 930 * ms, queued: 1370 * ms}}, true},
		"is always kept waiting":                {map[int]effort{1: {used: 910 * ms, queued: 1500 * ms}}, true},
		"hangs, and is kept waiting half of it": {map[int]effort{1: {used: 920 * ms, queued: 900 * ms}}, false},
	} {
		if got := busy(before, c.now, 1000*ms); got != c.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}
