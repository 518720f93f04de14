package workflows

import (
	"cmp"
	"maps"
	"path/filepath"
	"slices"
	"strings"
)

// check reads which card an agent has, and reports more than one agent in one, and words that are for no agent.
func (a *Agent) check(r *reader, at string) {
	chosen := slices.DeleteFunc(slices.Clone(table().agent.either), func(key string) bool { return !r.has(at, key) })
	uses := r.has(at, "use")
	if a.Card = r.cards[a.Use]; a.Card == nil && uses && a.Use != "" {
		r.fail(at+".use", ": there is no agent %s (%s)\nwfs agent list", quote(a.Use), alternatives(a.Use, r.cards.Names()))
	}
	if len(chosen) > 1 {
		r.fail(at, " has both %s: choose one\nuse: names an agent that wfs knows how to start; a command is the whole "+
			"command line of any other", strings.Join(chosen, " and "))
	}
	for _, key := range table().agent.with {
		switch {
		case !r.has(at, key):
		case !uses:
			r.fail(at+"."+key, " is in the words of one agent, and goes with use\n"+
				"write use: NAME beside it; a command has it among its own words")
		case a.Card != nil && (key == "model" && len(a.Card.Model) == 0 || key == "allow" && !a.Card.Permits()):
			r.fail(at+"."+key, ": the agent %s has no such setting", a.Use)
		}
	}
	switch local := filepath.FromSlash(a.ScriptPath); {
	case a.ScriptPath == "" || !r.has(at, "script"):
	case at != "agent":
		r.fail(at, ": a script can only be the session's agent")
	case r.layer.Source == FromRepository && !filepath.IsLocal(local):
		r.fail(at+".script", " %s leads out of the work tree, where a repository may not point\n%s",
			quote(a.ScriptPath), setLocally)
	case r.layer.Source == FromUser && !filepath.IsAbs(local):
		r.fail(at+".script", " %s must be absolute in a configuration for all repositories", quote(a.ScriptPath))
	}
}

const setLocally = "set it in .wfs/local.yaml, which is this clone's own"

// resolveAgent returns the agent, with the configuration's time-outs where the override sets none.
func resolveAgent(configured Agent, override *Agent) Agent {
	if override == nil {
		return configured.withDefaults()
	}
	a := *override
	a.Idle, a.Timeout = cmp.Or(a.Idle, configured.Idle), cmp.Or(a.Timeout, configured.Timeout)
	return a.withDefaults()
}

func (a Agent) withDefaults() Agent {
	a.Idle, a.Timeout = cmp.Or(a.Idle, DefaultAgentIdle), cmp.Or(a.Timeout, DefaultAgentTimeout)
	return a
}

// resolveAgents fills in the agents that phases name: those of the configuration, the session's own if it is of that
// name, or a card as it is.
func resolveAgents(p *Plan, c *Config) []Finding {
	cards := c.Cards
	if cards == nil {
		cards = BuiltinCards()
	}
	var unknown grouped
	for i := range p.Workflow.Phases {
		ph := &p.Workflow.Phases[i]
		for _, name := range []string{ph.Run.Name, ph.HalfOpen} {
			if _, done := p.Agents[name]; name == "" || done {
				continue
			}
			a, ok := c.Agents[name]
			switch {
			case ok:
			case p.Agent.Use == name:
				a = p.Agent
			case cards[name] != nil:
				a = Agent{Use: name, Card: cards[name]}
			case name != Reviewer || ph.Review == nil:
				unknown.add(name, ph.Name)
				continue
			default:
				if a = p.reviewer(ph, c, cards); a.Card == nil { // a person
					continue
				}
			}
			if p.Agents == nil {
				p.Agents = map[string]Agent{}
			}
			p.Agents[name] = a.withDefaults()
		}
	}
	known := append(slices.Sorted(maps.Keys(c.Agents)), cards.Names()...)
	return unknown.findings(func(name, phases string) Finding {
		return finding("%s: there is no agent %q (%s)\nwfs agent list (it names those that wfs knows; others stand under agents: "+
			"in the configuration)", phases, name, alternatives(name, known))
	})
}
