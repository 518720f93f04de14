package workflows

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// Differences says in what two plans differ, one line each, for people. It is empty when they are the same.
func Differences(a, b *Plan) []string {
	var d differences
	d.value("workflow", a.Workflow.Name, b.Workflow.Name)
	d.value("start", a.Workflow.Start, b.Workflow.Start)
	d.value("laps", a.Workflow.Laps.text(), b.Workflow.Laps.text())
	d.agent("agent", a.Agent, b.Agent)
	d.agents(a.Agents, b.Agents)
	d.lists("env", a.Env, b.Env)
	d.value("clean-proof", onOff(a.Unproven), onOff(b.Unproven))
	d.lists("clean-provide", a.Provide, b.Provide)
	d.value("set-up", a.Setup.Text(), b.Setup.Text())
	d.value("hold-out tests", a.Holdout.text(), b.Holdout.text())
	d.value("tamper", a.Workflow.Tamper, b.Workflow.Tamper)
	d.value("refactor", a.Workflow.Refactor, b.Workflow.Refactor)
	d.value("budget", a.Budget.text(), b.Budget.text())
	d.phases(a.Workflow.Phases, b.Workflow.Phases)
	d.gates(gatesOf(a), gatesOf(b))
	_, was := EncodePlan(a)
	if _, is := EncodePlan(b); len(d) == 0 && was != is {
		d.say("plan", "it has changed")
	}
	return d
}

type differences []string

func (d *differences) say(what, how string) { *d = append(*d, what+": "+how) }

func (d *differences) value(what string, a, b any) {
	if x, y := fmt.Sprint(a), fmt.Sprint(b); x != y {
		d.say(what, orNone(x)+" → "+orNone(y))
	}
}

func onOff(unproven bool) CleanProof {
	if unproven {
		return CleanProofOff
	}
	return CleanProofOn
}

func orNone(s string) string {
	if s == "" {
		return "none"
	}
	return s
}

// lists says what came and what went.
func (d *differences) lists(what string, a, b []string) {
	var parts []string
	for _, x := range b {
		if !slices.Contains(a, x) {
			parts = append(parts, "+"+x)
		}
	}
	for _, x := range a {
		if !slices.Contains(b, x) {
			parts = append(parts, "-"+x)
		}
	}
	if len(parts) > 0 {
		d.say(what, strings.Join(parts, " "))
	}
}

func (d *differences) agent(what string, a, b Agent) {
	d.value(what, a.text(), b.text())
	if a.text() == b.text() && a.Script != b.Script {
		d.say(what, "the script has changed")
	}
	if a.text() == b.text() && !reflect.DeepEqual(a.Card.pinned(), b.Card.pinned()) {
		d.say(what, "how "+b.text()+" is started has changed")
	}
	d.value(what+": model", a.Model, b.Model)
	d.lists(what+": allow", a.Allow, b.Allow)
	d.value(what+": args", strings.Join(a.Args, " "), strings.Join(b.Args, " "))
	d.value(what+": conversation", a.conversation(), b.conversation())
	d.value(what+": push", a.push(), b.push())
	d.value(what+": idle", a.Idle, b.Idle)
	d.value(what+": timeout", a.Timeout, b.Timeout)
}

// agents compares the agents that phases name.
func (d *differences) agents(a, b map[string]Agent) {
	for _, name := range slices.Sorted(maps.Keys(b)) {
		if old, had := a[name]; had {
			d.agent("agent "+name, old, b[name])
		} else {
			d.say("agent "+name, "added: "+b[name].text())
		}
	}
	for _, name := range slices.Sorted(maps.Keys(a)) {
		if _, has := b[name]; !has {
			d.say("agent "+name, "removed")
		}
	}
}

func (a Agent) conversation() string {
	if a.Fresh {
		return ConversationFresh
	}
	return ConversationPhase
}

func (a Agent) push() string {
	if a.Push {
		return PushAllowed
	}
	return PushRefused
}

func (d *differences) phases(a, b []Phase) {
	was, is := map[PhaseName]Phase{}, map[PhaseName]Phase{}
	for _, p := range a {
		was[p.Name] = p
	}
	for _, p := range b {
		is[p.Name] = p
		old, had := was[p.Name]
		if !had {
			d.say("phase "+string(p.Name), "added")
			continue
		}
		d.phase("phase "+string(p.Name), old, p)
	}
	for _, p := range a {
		if _, has := is[p.Name]; !has {
			d.say("phase "+string(p.Name), "removed")
		}
	}
}

func (d *differences) phase(name string, a, b Phase) {
	if a.Brief != b.Brief {
		d.say(name, "another brief")
	}
	d.value(name+": run", a.Run.text(), b.Run.text())
	d.lists(name+": gates", gateNames(a.Gates), gateNames(b.Gates))
	d.lists(name+": only", a.Guards.Only, b.Guards.Only)
	d.lists(name+": except", a.Guards.Except, b.Guards.Except)
	for _, v := range []Verdict{Pass, Fail} {
		d.value(name+": on "+string(v), a.On[v], b.On[v])
	}
	d.value(name+": limits", a.Limits.text(), b.Limits.text())
	d.value(name+": tamper", a.Tamper, b.Tamper)
	d.value(name+": hold-out tests", a.Holdout, b.Holdout)
	d.value(name+": signal", cmp.Or(a.Signal, SignalAuto), cmp.Or(b.Signal, SignalAuto))
	d.value(name+": half-open", a.HalfOpen, b.HalfOpen)
	d.value(name+": review", a.Review.text(), b.Review.text())
}

func (d *differences) gates(a, b map[string]Gate) {
	for _, name := range slices.Sorted(maps.Keys(b)) {
		x, had := a[name]
		y := b[name]
		if !had {
			d.say("gate "+name, "added: "+y.text())
			continue
		}
		d.value("gate "+name, x.text(), y.text())
		d.value("gate "+name+": format", x.Format, y.Format)
		d.value("gate "+name+": timeout", x.Timeout, y.Timeout)
		d.value("gate "+name+": report", x.Report, y.Report)
		d.value("gate "+name+": where", x.Where, y.Where)
		d.value("gate "+name+": stable", max(1, x.Stable), max(1, y.Stable))
		d.value("gate "+name+": may change the tree", x.MayChangeTree, y.MayChangeTree)
	}
	for _, name := range slices.Sorted(maps.Keys(a)) {
		if _, has := b[name]; !has {
			d.say("gate "+name, "removed")
		}
	}
}

// gatesOf are the gates of a plan by name. Gates of one name are one gate.
func gatesOf(p *Plan) map[string]Gate {
	all := map[string]Gate{}
	for _, ph := range p.Workflow.Phases {
		for _, g := range ph.Gates {
			all[g.Name] = g
		}
	}
	return all
}

func gateNames(gates []Gate) []string {
	var list []string
	for _, g := range gates {
		name := g.Name
		if g.Expect != "" {
			name += " (expect " + string(g.Expect) + ")"
		}
		if g.Stable > 1 {
			name += fmt.Sprintf(" (stable %d)", g.Stable)
		}
		list = append(list, name)
	}
	return list
}

func (a Agent) text() string {
	switch {
	case a.Script != "":
		return "script"
	case a.Use != "":
		return a.Use
	}
	return a.Command.Text()
}

func (r Run) text() string {
	switch {
	case r.Agent && r.Name != "":
		return "agent " + r.Name
	case r.Agent:
		return "agent"
	case r.Human:
		return "human"
	}
	return r.Command.Text()
}

func (g Gate) text() string {
	switch {
	case g.Document != "":
		return "document " + g.Document
	case len(g.Changes) > 0:
		return "changes in " + strings.Join(g.Changes, " ")
	}
	return g.Run.Text()
}

func (l *Laps) text() string {
	if l == nil {
		return ""
	}
	return fmt.Sprintf("at most %d, %s agrees", l.Max, l.Agree)
}

func (r *Review) text() string {
	if r == nil {
		return ""
	}
	return fmt.Sprintf("by %s, at most %d rounds", r.By, r.Rounds)
}

func (l Limits) text() string {
	return fmt.Sprintf("%d attempts, %d without progress, %d of the same failure, %d failed runs", l.Attempts, l.NoProgress, l.SameFailure, l.FailedRuns)
}

// SameBaseline reports whether two plans run the same gates on the base.
func SameBaseline(a, b *Plan) bool {
	_, was := EncodePlan(&Plan{Baseline: a.Baseline})
	_, is := EncodePlan(&Plan{Baseline: b.Baseline})
	return was == is
}
