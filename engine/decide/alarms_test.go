package decide

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/wfs-dev/wfs/session"
)

// mixed returns a random history: each attempt of the agent is drawn, so that bad luck can look like being stuck, and
// being stuck like bad luck. No breaker is always right here.
func mixed(r *rand.Rand) history {
	var n trees
	fails := func(passing int, print string, failing ...string) try {
		return try{Tree: n.next(), Class: session.ClassTargetFailing, Failing: failing, Targets: passing, Print: print, Done: r.IntN(2) == 0}
	}
	chance := func(p float64) bool { return r.Float64() < p }
	switch r.IntN(5) {
	case 0, 1: // honest: four tests to go
		// Half of the attempts make one pass, a third change the failure, and every seventh shows no effect.
		h := history{Name: "drifts", Limits: atGreen}
		all := []string{"a", "b", "c", "d"}
		for done, print := 0, 0; ; {
			switch {
			case chance(0.5):
				if done++; done == len(all) {
					h.Tries = append(h.Tries, pass)
					return h
				}
			case chance(0.7):
				print++
			}
			h.Tries = append(h.Tries, fails(done, fmt.Sprint(print), all[done:]...))
		}
	case 2: // changes mostly nothing, or nothing that matters
		h := history{Name: "mostly nothing", Limits: atGreen, StopBy: 8}
		for range 14 {
			a := fails(0, fmt.Sprint(r.IntN(2)), "a")
			if chance(0.6) {
				a.Tree = ""
			}
			h.Tries = append(h.Tries, a)
		}
		return h
	case 3: // back and forth, with something new now and then
		h := history{Name: "wanders", Limits: anywhere, StopBy: 9}
		for range 14 {
			a := fails(0, fmt.Sprint(r.IntN(9)), "a")
			if chance(0.6) {
				a.Tree = fmt.Sprint("place ", r.IntN(3))
			}
			h.Tries = append(h.Tries, a)
		}
		return h
	default: // in a lap without tests of its own: adds passing tests, while one keeps failing in new ways
		h := history{Name: "pads", Limits: anywhere, StopBy: 8}
		moves := chance(0.3)
		for i := range 14 {
			a := try{Tree: n.next(), Class: session.ClassBrokeGreen, Failing: []string{"a"}, Tests: 10 + i}
			if moves {
				a.Print = fmt.Sprint(i)
			}
			h.Tries = append(h.Tries, a)
		}
		return h
	}
}

// TestBreakerAlarmsByChance measures both error rates, and fails if they get worse than when it was written.
func TestBreakerAlarmsByChance(t *testing.T) {
	t.Parallel()
	const mostFalse, mostMissed = 0.135, 0.085 // shares of honest and of stuck histories
	r := rand.New(rand.NewPCG(1, 2))
	all, naive, kinds := alarms{}, alarms{}, map[string]*alarms{}
	for range 5000 {
		h := mixed(r)
		if kinds[h.Name] == nil {
			kinds[h.Name] = &alarms{}
		}
		at := h.opened(t)
		kinds[h.Name].hear(h, at)
		all.hear(h, at)
		naive.hear(h, h.counting())
	}
	for name, c := range kinds {
		t.Logf("%s: %s", name, c)
	}
	t.Logf("by chance: %s", &all)
	t.Logf("a breaker that counts passing tests and compares messages, on the same: %s", &naive)
	if f, m := float64(all.falsely)/float64(all.honest), float64(all.missed)/float64(all.stuck); f > mostFalse || m > mostMissed {
		t.Errorf("%.1f%% false and %.1f%% missed alarms, and it was %.1f%% and %.1f%% at most", 100*f, 100*m, 100*mostFalse, 100*mostMissed)
	}
}
