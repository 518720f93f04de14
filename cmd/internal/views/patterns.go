package views

import (
	"cmp"
	"maps"
	"slices"

	"github.com/wfs-dev/wfs/session"
)

// Pattern is something that repeats in the attempts of a session.
type Pattern struct {
	// `claim` (the agent said that it is done, and the gates disagreed), `run` (runs of an agent failed), `phase`
	// (attempts at a phase did not pass), `failure` (a gate, or a check of wfs, failed in the same way), `test` (a test
	// failed), `flaky` (a test had different results on the same files), `denied` (calls of a tool were denied), `left`
	// (the attempt was given up by going back)
	Kind        string `json:"kind"`
	What        string `json:"what"`                  // the agent, phase, gate, test or tool
	Text        string `json:"text,omitempty"`        // reason of a failure
	Times       int    `json:"times"`                 // number of attempts
	Of          int    `json:"of,omitempty"`          // number of attempts that were looked at
	Checkpoints []int  `json:"checkpoints,omitempty"` // of these attempts
	last        int64  // Seq of the newest of these attempts
}

// Share says what part of a session's time or money something took.
type Share struct {
	What    string `json:"what"` // `time` or `money`
	Of      string `json:"of"`   // a phase, or what the time was spent on
	Percent int    `json:"percent"`
}

// kinds are the kinds of patterns in the order in which they are listed, with the number of times from which one is
// listed.
var kinds = []struct {
	name  string
	least int
}{{"claim", 1}, {"run", 2}, {"phase", 2}, {"failure", 2}, {"test", 2}, {"flaky", 1}, {"denied", 2}, {"left", 1}}

// maxOfKind is the maximum number of patterns of one kind.
const maxOfKind = 10

// Patterns returns what repeats in a session's attempts, the most frequent of each kind first.
func Patterns(attempts []Attempt) []Pattern {
	t := tally{}
	for i := range attempts {
		t.attempt(&attempts[i])
	}
	list := []Pattern{}
	for _, kind := range kinds {
		some := slices.DeleteFunc(slices.Collect(maps.Values(t[kind.name])), func(p *Pattern) bool {
			return p.Times < kind.least
		})
		slices.SortFunc(some, func(x, y *Pattern) int {
			return cmp.Or(cmp.Compare(y.Times, x.Times), cmp.Compare(x.What, y.What), cmp.Compare(x.Text, y.Text))
		})
		for _, p := range some[:min(len(some), maxOfKind)] {
			list = append(list, *p)
		}
	}
	return list
}

// tally has the patterns by kind and by a key that distinguishes those of one kind.
type tally map[string]map[string]*Pattern

// attempt counts an attempt.
func (t tally) attempt(a *Attempt) {
	agent := t.of("claim", a.Agent, a.Agent)
	if a.Claimed {
		agent.Of++
	}
	agent.add(a, a.Refuted)
	if a.Verdict != "" {
		phase := t.of("phase", string(a.Phase), string(a.Phase))
		phase.Of++
		phase.add(a, a.Verdict != session.Pass)
	}
	if a.ended != "" {
		p := t.of("run", a.Agent+a.ended, a.Agent)
		p.Text = a.ended
		p.add(a, true)
	}
	named := false
	for _, g := range a.Gates {
		named = named || g.Verdict != session.Pass
		if g.result.Fingerprint != "" && g.Verdict != session.Pass {
			p := t.of("failure", g.Gate+g.result.Fingerprint, g.Gate)
			p.Text = g.result.Reason
			p.add(a, true)
		}
		for _, name := range g.result.Failing {
			t.of("test", string(name), string(name)).add(a, true)
		}
		for _, name := range g.result.Flaky {
			t.of("flaky", string(name), string(name)).add(a, true)
		}
	}
	if a.Verdict != "" && a.Verdict != session.Pass && !named {
		p := t.of("failure", string(a.class), string(a.class))
		p.Text = a.Reason
		p.add(a, true)
	}
	for _, name := range a.denied {
		t.of("denied", name, name).add(a, true)
	}
	t.of("left", "", "attempts").add(a, a.Left)
}

func (t tally) of(kind, key, what string) *Pattern {
	if t[kind] == nil {
		t[kind] = map[string]*Pattern{}
	}
	if t[kind][key] == nil {
		t[kind][key] = &Pattern{Kind: kind, What: what}
	}
	return t[kind][key]
}

// add counts an attempt, unless it is counted already: two gates can name the same test.
func (p *Pattern) add(a *Attempt, is bool) {
	if !is || p.last == a.Seq {
		return
	}
	p.Times++
	p.last = a.Seq
	if n := len(p.Checkpoints); a.Checkpoint != nil && (n == 0 || p.Checkpoints[n-1] != *a.Checkpoint) {
		p.Checkpoints = append(p.Checkpoints, *a.Checkpoint)
	}
}

// Shares says where the time and the money went, the largest part first. Parts below one percent are left out.
func (m *Metrics) Shares() []Share {
	time := map[string]int64{"waiting for limits": m.Waits.LimitMillis, "waiting for a person": m.Waits.PersonMillis}
	money := map[string]int64{}
	if len(m.Attempts) < 2 { // nothing to compare
		return []Share{}
	}
	for _, p := range m.Phases {
		time["agents in "+p.Name] += p.RunMillis
		time["gates in "+p.Name] += p.GateMillis
		money[p.Name] += int64(p.Used.USD)
	}
	return append(shares("time", time), shares("money", money)...)
}

func shares(what string, parts map[string]int64) []Share {
	list, all := []Share{}, int64(0)
	for _, n := range parts {
		all += n
	}
	for name, n := range parts {
		if percent := int(n * 100 / max(1, all)); percent > 0 {
			list = append(list, Share{what, name, percent})
		}
	}
	slices.SortFunc(list, func(x, y Share) int {
		return cmp.Or(cmp.Compare(y.Percent, x.Percent), cmp.Compare(x.Of, y.Of))
	})
	return list
}
