// Package plans makes the plan of a session from a workflow and a configuration. It also encodes plans and compares
// them.
package plans

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/wfs-dev/wfs/workflows"
	"github.com/wfs-dev/wfs/workflows/measure"
	"github.com/wfs-dev/wfs/workflows/spelling"
)

// Resolve makes the plan of a session: the workflow with its gates from the configuration, all defaults, the agent, and
// the environment. `agent` replaces the agent of the configuration. `agent` and `c` may be nil. The arguments are not
// changed. Findings say why the workflow cannot run in this project; if there are any, the plan is nil.
func Resolve(w *workflows.Workflow, c *workflows.Config, agent *workflows.Agent) (*workflows.Plan,
	[]workflows.Finding) {
	if c == nil {
		c = &workflows.Config{}
	}
	p := &workflows.Plan{Workflow: *w, Agent: resolveAgent(c.Agent, agent), Baseline: []workflows.Gate{}}
	p.Env = slices.Compact(slices.Sorted(slices.Values(c.Env)))
	p.Budget = c.Budget
	p.Unproven, p.Provide = c.CleanProof == workflows.CleanProofOff, slices.Clone(c.CleanProvide)
	p.Setup = c.Worktree.Setup
	if w.Laps != nil {
		p.Workflow.Laps = &workflows.Laps{First: w.Laps.First, Then: w.Laps.Then, Agree: cmp.Or(c.Agree, w.Laps.Agree),
			Max: cmp.Or(w.Laps.Max, workflows.DefaultMaxLaps)}
	}
	p.Workflow.Refactor = cmp.Or(c.Refactor, w.Refactor)
	p.Workflow.Phases = slices.Clone(w.Phases)
	var missing grouped
	findings := atComplexity(p, c.Complexity)
	for i := range p.Workflow.Phases {
		ph := &p.Workflow.Phases[i]
		ph.Limits = limitsOf(ph.Limits)
		if name := c.PhaseAgents[string(ph.Name)]; name != "" && ph.Run.Agent {
			ph.Run.Name = name
		}
		findings = append(findings, useGates(ph, c, &missing)...)
	}
	findings = slices.Concat(findings, sharedNames(p), resolveAgents(p, c),
		missing.findings(func(name, phases string) workflows.Finding {
			f := workflows.Findingf("there is no gate %q in .wfs/config.yaml (used in %s)\n"+
				"run `wfs init`, or write it under gates:",
				name, phases)
			if near := spelling.Suggest(name, slices.Sorted(maps.Keys(c.Gates))); near != "" {
				f.Hint = fmt.Sprintf("there is a gate %q: write use: %s", near, near)
			}
			return f
		}), checkPlan(p), checkReviewers(p), breakpoints(p, cmp.Or(c.Autonomy, workflows.Balanced)))
	// otherwise a session could get a plan that Decode refuses
	if err := sound(&p.Workflow); err != nil && len(findings) == 0 {
		findings = []workflows.Finding{workflows.Findingf(
			"workflow %s: %v\nwrite one under gates: in the configuration",
			p.Workflow.Name, err)}
	}
	if len(findings) > 0 {
		return nil, findings
	}
	p.Baseline = append(p.Baseline, baseline(p.Workflow.Phases)...)
	return p, nil
}

// useGates replaces the references to gates in a phase by the gates of the configuration. It adds references to unknown
// gates to `missing`.
func useGates(ph *workflows.Phase, c *workflows.Config, missing *grouped) (found []workflows.Finding) {
	used := ph.Gates
	ph.Gates = nil
	for _, g := range used {
		gate, ok := c.Gates[g.Use]
		if g.Use != workflows.UseAll || ok {
			switch {
			case ok:
				g = defined(g, gate)
			case g.Optional:
				continue
			case g.Use != "":
				missing.add(g.Use, ph.Name)
			}
			ph.Gates = append(ph.Gates, g)
			continue
		}
		all := everyGate(g, c, used)
		ph.Gates = append(ph.Gates, all...)
		switch {
		case len(all) > 0:
		case g.Expect != workflows.ExpectRed:
			ph.Approve = ph.Run.Agent
		case len(c.Gates) == 0:
			missing.add("tests", ph.Name)
		default:
			found = append(found, workflows.Findingf("phase %s expects red tests, "+
				"and no gate of the configuration has per-test results\n%s", ph.Name, blindHint))
		}
	}
	if len(used) > 0 && len(ph.Gates) == 0 { // the gates are optional, and there are none
		ph.Approve = ph.Run.Agent
	}
	return found
}

// defined returns gate `d` of the configuration with the settings that its use `g` in a phase adds.
func defined(g workflows.Gate, d workflows.Gate) workflows.Gate {
	d.Name, d.Use, d.Expect, d.Require = g.Use, "", g.Expect, g.Require
	if g.Stable > 0 {
		d.Stable = g.Stable
	}
	return d
}

// everyGate returns the gates that `use: all` stands for, except gates that the phase also uses by name. "tests" comes
// first, so that its result is reported first.
func everyGate(use workflows.Gate, c *workflows.Config, beside []workflows.Gate) []workflows.Gate {
	names := slices.Sorted(maps.Keys(c.Gates))
	if i := slices.Index(names, "tests"); i > 0 {
		names = slices.Insert(slices.Delete(names, i, i+1), 0, "tests")
	}
	var all []workflows.Gate
	for _, name := range names {
		blind := use.Expect == workflows.ExpectRed && !c.Gates[name].Format.PerTest()
		if blind || slices.ContainsFunc(beside, func(o workflows.Gate) bool { return o.Use == name }) {
			continue
		}
		use.Use = name
		all = append(all, defined(use, c.Gates[name]))
	}
	return all
}

// sharedNames reports a gate of the configuration that has the same name as a different gate of the workflow. Names
// must be unique because results are stored by gate name. Within one file, the reader has checked this already.
func sharedNames(p *workflows.Plan) []workflows.Finding {
	first := map[string]workflows.Gate{}
	for _, ph := range p.Workflow.Phases {
		for _, g := range ph.Gates {
			low := strings.ToLower(g.Name)
			if other, there := first[low]; there && !workflows.SameGate(g, other) {
				return []workflows.Finding{workflows.Findingf(
					"phase %s: workflow %s has a gate %s of its own, and the configuration has another one\n"+
						"give the gate another name under gates: in the configuration",
					ph.Name, p.Workflow.Name, g.Name)}
			}
			first[low] = g
		}
	}
	return nil
}

func limitsOf(l workflows.Limits) workflows.Limits {
	d := workflows.DefaultLimits
	return workflows.Limits{Attempts: cmp.Or(l.Attempts, d.Attempts), NoProgress: cmp.Or(l.NoProgress, d.NoProgress),
		SameFailure: cmp.Or(l.SameFailure, d.SameFailure), FailedRuns: cmp.Or(l.FailedRuns, d.FailedRuns)}
}

// grouped collects the phases that have the same problem, such as the same missing gate, in the order of the workflow.
type grouped struct {
	names  []string
	phases map[string][]string
}

func (g *grouped) add(name string, phase workflows.PhaseName) {
	if g.phases == nil {
		g.phases = map[string][]string{}
	}
	if g.phases[name] == nil {
		g.names = append(g.names, name)
	}
	g.phases[name] = append(g.phases[name], string(phase))
}

// findings returns one finding for each name. `of` makes it from the name and a text that lists the phases.
func (g *grouped) findings(of func(name, phases string) workflows.Finding) []workflows.Finding {
	var findings []workflows.Finding
	for _, name := range g.names {
		findings = append(findings, of(name, phasesText(g.phases[name])))
	}
	return findings
}

func phasesText(names []string) string {
	if len(names) == 1 {
		return "phase " + names[0]
	}
	return "phases " + strings.Join(names, ", ")
}

const blindHint = "wfs init --force --test 'COMMAND' --format FORMAT; or take the workflow loop: --workflow loop"

// checkPlan reports why a plan cannot be run or judged. It does not repeat missing gates.
func checkPlan(p *workflows.Plan) []workflows.Finding {
	var blind grouped
	var agents []string
	var unread []workflows.Finding
	for _, ph := range p.Workflow.Phases {
		if ph.Run.Agent && ph.Run.Name == "" {
			agents = append(agents, string(ph.Name))
		}
		for _, g := range ph.Gates {
			if g.Use == "" && g.Expect == workflows.ExpectRed && !g.Format.PerTest() {
				blind.add(g.Name, ph.Name)
			}
			for _, text := range g.Require {
				if r, _ := measure.Parse(text); g.Use == "" && g.Numbers[r.Number] == "" {
					unread = append(unread, workflows.Findingf("phase %s requires %s, and gate %s reads no such number\n"+
						"numbers: {%s: 'REGULAR EXPRESSION'} in the gate", ph.Name, text, g.Name, r.Number))
				}
			}
		}
	}
	findings := append(unread, blind.findings(func(gate, phases string) workflows.Finding {
		return workflows.Findingf("%s expects red tests from gate %q, and its format %s has no per-test results\n%s",
			phases, gate, workflows.FormatExit, blindHint)
	})...)
	if f := unfit(&p.Agent, phasesText(agents), p.Workflow.Name); agents != nil && f.Message != "" {
		findings = append(findings, f)
	}
	return findings
}

// unfit returns a finding that says why an agent, which works in these phases of a workflow, cannot run. It returns the
// zero Finding if the agent can run.
func unfit(a *workflows.Agent, phases, workflow string) workflows.Finding {
	switch {
	case a.Use != "" && a.Card == nil:
		return workflows.Findingf("there is no agent %q\nwfs agent list", a.Use)
	case a.Card != nil, a.Script != "":
	case a.Command.IsZero() && a.ScriptPath != "":
		return workflows.Findingf("the agent's script %s is empty", a.ScriptPath)
	case a.Command.IsZero():
		f := workflows.Findingf("%s of workflow %s: an agent works there, and none is configured\n"+
			"pass --agent, or write agent: into "+
			".wfs/local.yaml for every session of this clone; wfs agent list shows those that wfs knows",
			phases, workflow)
		f.NoAgent = true
		return f
	case !utf8.ValidString(a.Command.Text()):
		return workflows.Findingf("the agent's command is not UTF-8")
	}
	return workflows.Finding{}
}

// baseline returns all gates of the phases that run commands, each once and without an expected result. They run on the
// base.
func baseline(phases []workflows.Phase) []workflows.Gate {
	var gates []workflows.Gate
	seen := map[string]bool{}
	for _, ph := range phases {
		for _, g := range ph.Gates {
			if !g.Runs() || seen[g.Name] {
				continue // gates with the same name are equal, see checkGateNames
			}
			seen[g.Name] = true
			g.Expect, g.Stable, g.Require = "", 0, nil
			gates = append(gates, g)
		}
	}
	return gates
}
