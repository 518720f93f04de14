package plans

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/wfs-dev/wfs/workflows"
	"github.com/wfs-dev/wfs/workflows/spelling"
)

// resolveAgent returns the agent of a session: the override if there is one, else the configured agent. An override
// without time-outs gets those of the configuration.
func resolveAgent(configured workflows.Agent, override *workflows.Agent) workflows.Agent {
	if override == nil {
		return timeLimits(configured)
	}
	a := *override
	a.Idle, a.Timeout = cmp.Or(a.Idle, configured.Idle), cmp.Or(a.Timeout, configured.Timeout)
	return timeLimits(a)
}

// resolveAgents adds to the plan the agents that its phases name. For each name it takes an agent of the configuration;
// else the session's agent, if that has this name; else the agent's card (how to run its program) without further
// settings. It returns findings about unknown names.
func resolveAgents(p *workflows.Plan, c *workflows.Config) []workflows.Finding {
	cards := c.Cards
	if cards == nil {
		cards = workflows.BuiltinCards()
	}
	var unknown grouped
	add := func(name string, ph *workflows.Phase) {
		if _, done := p.Agents[name]; name == "" || done {
			return
		}
		a, ok := c.Agents[name]
		switch {
		case ok:
		case p.Agent.Use == name:
			a = p.Agent
		case cards[name] != nil:
			a = workflows.Agent{Use: name, Card: cards[name]}
		case name != workflows.Reviewer || ph.Review == nil:
			unknown.add(name, ph.Name)
			return
		default:
			if a = reviewer(p, ph, c, cards); a.Card == nil { // a person reviews
				return
			}
		}
		if p.Agents == nil {
			p.Agents = map[string]workflows.Agent{}
		}
		p.Agents[name] = timeLimits(a)
	}
	for i := range p.Workflow.Phases {
		ph := &p.Workflow.Phases[i]
		add(ph.Run.Name, ph)
		add(ph.HalfOpen, ph)
		if ph.Run.Agent {
			add(p.AgentOf(ph).OnLimit.Agent, ph)
		}
		if half, ok := p.Agents[ph.HalfOpen]; ok {
			add(half.OnLimit.Agent, ph)
		}
	}
	known := append(slices.Sorted(maps.Keys(c.Agents)), cards.Names()...)
	return unknown.findings(func(name, phases string) workflows.Finding {
		return workflows.Findingf("%s: there is no agent %q (%s)\n"+
			"wfs agent list (it names those that wfs knows; others stand under agents: "+
			"in the configuration)", phases, name, spelling.Alternatives(name, known))
	})
}

func timeLimits(a workflows.Agent) workflows.Agent {
	a.Idle, a.Timeout = cmp.Or(a.Idle, workflows.DefaultAgentIdle), cmp.Or(a.Timeout, workflows.DefaultAgentTimeout)
	return a
}

// reviewer chooses an agent for a review by "reviewer" if the configuration has no agent of that name. It prefers
// another known agent that is installed. Otherwise it takes the session's own agent in a new conversation. If wfs has
// no card for that agent, a person reviews: the phase is changed accordingly.
func reviewer(p *workflows.Plan, ph *workflows.Phase, c *workflows.Config, cards workflows.Cards) workflows.Agent {
	for _, name := range c.Installed {
		if name != p.Agent.Use && name != p.Agent.OnLimit.Agent && cards[name] != nil {
			return workflows.Agent{Use: name, Card: cards[name], Fresh: true}
		}
	}
	if p.Agent.Card == nil {
		ph.Run, ph.Review, ph.Guards = workflows.Run{Human: true}, nil, workflows.Guards{}
		return workflows.Agent{}
	}
	ph.Review = &workflows.Review{By: workflows.ByAnyone, Rounds: ph.Review.Rounds}
	a := p.Agent
	return workflows.Agent{Use: a.Use, Card: a.Card, Model: a.Model, Allow: a.Allow, Args: a.Args, Fresh: true}
}

// ReviewedBy returns a text for people about who reviews in a plan, if wfs chose the reviewer. It returns "" if the
// configuration names a reviewer, or if there is no review.
func ReviewedBy(p *workflows.Plan, w *workflows.Workflow, c *workflows.Config) string {
	if _, ok := c.Agents[workflows.Reviewer]; ok || c.Cards[workflows.Reviewer] != nil {
		return ""
	}
	const other = "; another reviewer: agents: {reviewer: {use: NAME}} in .wfs/local.yaml"
	for _, ph := range w.Phases {
		if ph.Review == nil || ph.Run.Name != workflows.Reviewer {
			continue
		}
		switch a, ok := p.Agents[workflows.Reviewer]; {
		case !ok:
			return string(ph.Name) + ": you review, because no agent that wfs knows is installed" + other
		case a.Use == p.Agent.Use:
			return fmt.Sprintf("%s: %s reviews its own work, in a new conversation, "+
				"because no other agent is installed%s",
				ph.Name, a.Use, other)
		default:
			return fmt.Sprintf("%s: %s reviews, because it is installed%s", ph.Name, a.Use, other)
		}
	}
	return ""
}

// checkReviewers reports reviews by an agent that also does the work: it would approve its own work.
func checkReviewers(p *workflows.Plan) []workflows.Finding {
	var findings []workflows.Finding
	for _, review := range p.Workflow.Phases {
		if review.Review == nil || review.Review.By == workflows.ByAnyone || !review.Run.Agent {
			continue
		}
		if _, ok := p.Agents[review.Run.Name]; !ok && review.Run.Name != "" {
			continue // the agent is unknown, which was reported before
		}
		reviewer := p.AgentOf(&review)
		own := slices.IndexFunc(p.Workflow.Phases, func(ph workflows.Phase) bool {
			if ph.Review != nil || !ph.Run.Agent || onlyDocuments(ph.Guards) {
				return false
			}
			for _, w := range withSubstitute(p, p.AgentOf(&ph)) {
				if slices.ContainsFunc(withSubstitute(p, reviewer), func(r *workflows.Agent) bool { return sameWorker(w, r) }) {
					return true
				}
			}
			return false
		})
		if own >= 0 {
			findings = append(findings, workflows.Findingf(
				"phase %s reviews the work of phase %s with the same agent and model: %s\n"+
					"name another one with `run: {agent: NAME}` and agents: in the configuration "+
					"(another model is enough; agents under on-limit count too), "+
					"or write review: {by: anyone}", review.Name, p.Workflow.Phases[own].Name,
				cmp.Or(reviewer.Use, reviewer.Command.Text(), "script")))
		}
	}
	return findings
}

// withSubstitute returns an agent, and the one that works in its place at a usage limit.
func withSubstitute(p *workflows.Plan, a *workflows.Agent) []*workflows.Agent {
	if other, ok := p.Agents[a.OnLimit.Agent]; ok {
		return []*workflows.Agent{a, &other}
	}
	return []*workflows.Agent{a}
}

func onlyDocuments(g workflows.Guards) bool {
	return len(g.Only) == 1 && (g.Only[0] == workflows.DocumentsPattern || g.Only[0] == ".workflow/")
}

// sameWorker reports whether two agents run the same program with the same model.
func sameWorker(a, b *workflows.Agent) bool {
	return a.Use == b.Use && a.Model == b.Model && a.Script == b.Script && reflect.DeepEqual(a.Command, b.Command)
}
