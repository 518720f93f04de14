package workflows

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"
)

// Resolve makes the plan of a session: the workflow with its gates taken from the configuration, every default filled
// in, the agent, and the environment. agent overrides the configuration's; it and c may be nil. The arguments stay as
// they are. Findings say why the workflow cannot run in this project; the plan is nil if there is one.
func Resolve(w *Workflow, c *Config, agent *Agent) (*Plan, []Finding) {
	if c == nil {
		c = &Config{}
	}
	p := &Plan{Workflow: *w, Agent: resolveAgent(c.Agent, agent), Baseline: []Gate{}}
	p.Env = slices.Compact(slices.Sorted(slices.Values(c.Env)))
	p.Budget = c.Budget
	p.Unproven, p.Provide = c.CleanProof == CleanProofOff, slices.Clone(c.CleanProvide)
	p.Setup = c.Worktree.Setup
	if w.Laps != nil {
		laps := *w.Laps
		if c.Agree != "" {
			laps.Agree = c.Agree
		}
		if laps.Max == 0 {
			laps.Max = DefaultMaxLaps
		}
		p.Workflow.Laps = &laps
	}
	p.Workflow.Refactor = cmp.Or(c.Refactor, w.Refactor)
	p.Workflow.Phases = slices.Clone(w.Phases)
	var missing grouped
	var findings []Finding
	for i := range p.Workflow.Phases {
		ph := &p.Workflow.Phases[i]
		ph.On = maps.Clone(ph.On)
		ph.Limits = ph.Limits.withDefaults()
		used := ph.Gates
		ph.Gates = nil
		for _, g := range used {
			switch defined, ok := c.Gates[g.Use]; {
			case g.Use == "":
				ph.Gates = append(ph.Gates, g)
			case ok:
				ph.Gates = append(ph.Gates, g.defined(defined))
			case g.Use == UseAll:
				all := everyGate(g, c, used)
				ph.Gates = append(ph.Gates, all...)
				switch {
				case len(all) > 0:
				case g.Expect != ExpectRed:
					ph.Approve = ph.Run.Agent
				case len(c.Gates) == 0:
					missing.add("tests", ph.Name)
				default:
					findings = append(findings, Finding{Hint: blindHint, Message: fmt.Sprintf("phase %s expects red tests, and no gate of the "+
						"configuration has per-test results", ph.Name)})
				}
			default:
				missing.add(g.Use, ph.Name)
				ph.Gates = append(ph.Gates, g)
			}
		}
	}
	findings = append(findings, sharedNames(p)...)
	findings = append(findings, resolveAgents(p, c)...)
	for _, m := range missing {
		findings = append(findings, missingGate(m, c))
	}
	findings = append(findings, checkPlan(p)...)
	findings = append(findings, checkReviewers(p)...)
	if err := p.Workflow.sound(); err != nil && len(findings) == 0 { // no session is made of a plan that cannot be read again
		findings = []Finding{{Message: "workflow " + p.Workflow.Name + ": " + err.Error(), Hint: "write one under gates: in the configuration"}}
	}
	if len(findings) > 0 {
		return nil, findings
	}
	p.Baseline = append(p.Baseline, baseline(p.Workflow.Phases)...)
	return p, nil
}

// UseAll stands for every gate of the configuration, in a phase; with ExpectRed for those that tell tests apart. Where
// there is none, a person approves what the phase leads to.
const UseAll = "all"

// defined is the gate of the configuration that g uses, as g uses it.
func (g Gate) defined(d Gate) Gate {
	d.Name, d.Use, d.Expect = g.Use, "", g.Expect
	if g.Stable > 0 {
		d.Stable = g.Stable
	}
	return d
}

// everyGate is what `use: all` stands for beside the other gates of a phase: "tests" first, because it speaks first.
func everyGate(use Gate, c *Config, beside []Gate) []Gate {
	names := slices.Sorted(maps.Keys(c.Gates))
	if i := slices.Index(names, "tests"); i > 0 {
		names = slices.Insert(slices.Delete(names, i, i+1), 0, "tests")
	}
	var all []Gate
	for _, name := range names {
		blind := use.Expect == ExpectRed && !c.Gates[name].Format.PerTest()
		if blind || slices.ContainsFunc(beside, func(o Gate) bool { return o.Use == name }) {
			continue
		}
		use.Use = name
		all = append(all, use.defined(c.Gates[name]))
	}
	return all
}

// sharedNames reports a gate of the configuration that has the name of another one of the workflow's own: evidence is kept
// by name. Within a file that was looked at when it was read.
func sharedNames(p *Plan) []Finding {
	first := map[string]Gate{}
	for _, ph := range p.Workflow.Phases {
		for _, g := range ph.Gates {
			if other, there := first[strings.ToLower(g.Name)]; there && !sameGate(g, other) {
				return []Finding{{Hint: "give the gate another name under gates: in the configuration",
					Message: fmt.Sprintf("phase %s: workflow %s has a gate %s of its own, and the configuration has another one",
						ph.Name, p.Workflow.Name, g.Name)}}
			}
			first[strings.ToLower(g.Name)] = g
		}
	}
	return nil
}

func (l Limits) withDefaults() Limits {
	or := func(v, fallback int) int {
		if v == 0 {
			return fallback
		}
		return v
	}
	return Limits{
		Attempts:    or(l.Attempts, DefaultLimits.Attempts),
		NoProgress:  or(l.NoProgress, DefaultLimits.NoProgress),
		SameFailure: or(l.SameFailure, DefaultLimits.SameFailure),
		FailedRuns:  or(l.FailedRuns, DefaultLimits.FailedRuns),
	}
}

// grouped collects the phases that share one problem, in the order of the workflow.
type grouped []group

type group struct {
	name   string
	phases []string
}

func (g *grouped) add(name string, phase PhaseName) {
	for i := range *g {
		if (*g)[i].name == name {
			(*g)[i].phases = append((*g)[i].phases, string(phase))
			return
		}
	}
	*g = append(*g, group{name, []string{string(phase)}})
}

const blindHint = "wfs init --force --test 'COMMAND' --format FORMAT; or take the workflow loop: --workflow loop"

func (g group) String() string {
	if len(g.phases) == 1 {
		return "phase " + g.phases[0]
	}
	return "phases " + strings.Join(g.phases, ", ")
}

func missingGate(m group, c *Config) Finding {
	f := Finding{
		Message: fmt.Sprintf("there is no gate %q in .wfs/config.yaml (used in %s)", m.name, m),
		Hint:    "run `wfs init`, or write it under gates:",
	}
	known := slices.Sorted(maps.Keys(c.Gates))
	if near := Suggest(m.name, known); near != "" {
		f.Hint = fmt.Sprintf("there is a gate %q: write use: %s", near, near)
	}
	return f
}

// checkPlan reports what keeps a plan from being run or judged. Gates that were not found have been reported already.
func checkPlan(p *Plan) []Finding {
	var findings []Finding
	var blind, agents grouped
	for _, ph := range p.Workflow.Phases {
		if ph.Run.Agent && ph.Run.Name == "" {
			agents.add("agent", ph.Name)
		}
		for _, g := range ph.Gates {
			if g.Use != "" {
				continue
			}
			if g.Expect == ExpectRed && !g.Format.PerTest() {
				blind.add(g.Name, ph.Name)
			}
		}
	}
	for _, b := range blind {
		findings = append(findings, Finding{
			Message: fmt.Sprintf("%s expects red tests from gate %q, and its format %s has no per-test results", b, b.name, FormatExit),
			Hint:    blindHint,
		})
	}
	a := p.Agent
	for _, g := range agents {
		switch {
		case a.Use != "" && a.Card == nil:
			findings = append(findings, Finding{Message: fmt.Sprintf("there is no agent %q", a.Use), Hint: "wfs agent list"})
		case a.Card != nil:
		case a.Command.IsZero() && a.Script == "" && a.ScriptPath == "":
			findings = append(findings, Finding{
				NoAgent: true,
				Message: fmt.Sprintf("%s of workflow %s: an agent works there, and none is configured", g, p.Workflow.Name),
				Hint:    "pass --agent, or write agent: into .wfs/local.yaml for every session of this clone; wfs agent list shows those that wfs knows",
			})
		case a.Command.IsZero() && a.Script == "":
			findings = append(findings, Finding{Message: fmt.Sprintf("the agent's script %s is empty", a.ScriptPath)})
		case !utf8.ValidString(a.Command.Shell + strings.Join(a.Command.Argv, "")):
			findings = append(findings, Finding{Message: "the agent's command is not UTF-8"})
		}
	}
	return findings
}

// baseline returns the gates that run, each once and without what is expected of it.
func baseline(phases []Phase) []Gate {
	var gates []Gate
	seen := map[string]bool{}
	for _, ph := range phases {
		for _, g := range ph.Gates {
			if !g.Runs() || seen[g.Name] {
				continue // gates of one name are one gate: checkGateNames
			}
			seen[g.Name] = true
			g.Expect, g.Stable = "", 0
			gates = append(gates, g)
		}
	}
	return gates
}
