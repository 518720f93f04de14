package workflows

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// agent reads who works: of the session (`agent`), or by a name ("agents: reviewer").
func (r *reader) agent(n *node, what string) Agent {
	a := Agent{Idle: DefaultAgentIdle, Timeout: DefaultAgentTimeout}
	if n.kind != mapping {
		a.Command = r.command(n, what)
		return a
	}
	f, _ := r.fields(n, what, agentObject)
	r.checkChosen(f, n, what)
	a.Command = r.command(f["command"], what+": command")
	a.ScriptPath = r.line(f["script"], what+": script")
	r.checkPath(f["script"], a.ScriptPath, what+": script")
	if a.Use = r.name(f["use"], what+": use"); a.Use != "" {
		a.Card = r.cards[a.Use]
		if a.Card == nil && r.cards != nil {
			r.fail(f["use"].line, "%s: use: there is no agent %s (%s)", what, quote(a.Use), alternatives(a.Use, r.cards.Names()))
			r.hint("wfs agent list")
		}
	}
	a.Model = r.line(f["model"], what+": model")
	a.Allow = r.lines(f["allow"], what+": allow")
	for _, item := range r.items(f["args"], what+": args", "words") {
		a.Args = append(a.Args, r.text(item, what+": args"))
	}
	r.checkHas(f["model"], a, what+": model", func(c *Card) bool { return len(c.Model) > 0 })
	r.checkHas(f["allow"], a, what+": allow", (*Card).Permits)
	a.Fresh = r.word(f["conversation"], what+": conversation", ConversationPhase, ConversationFresh) == ConversationFresh
	a.Push = r.word(f["push"], what+": push", PushRefused, PushAllowed) == PushAllowed
	a.Idle = r.duration(f["idle"], what+": idle", a.Idle)
	a.Timeout = r.duration(f["timeout"], what+": timeout", a.Timeout)
	return a
}

// checkChosen reports more than one agent in one, and words that are for no agent in particular.
func (r *reader) checkChosen(f map[string]*node, n *node, what string) {
	var chosen []string
	for _, key := range agentObject.either {
		if f[key] != nil {
			chosen = append(chosen, key)
		}
	}
	switch {
	case len(chosen) > 1:
		r.fail(n.line, "%s has both %s: choose one", what, strings.Join(chosen, " and "))
		if f["use"] != nil {
			r.hint("use: names an agent that wfs knows how to start; a command is the whole command line of any other")
		}
	case len(n.entries) == 0: // without a command it is of use: another layer may name one
		r.fail(n.line, "%s is empty", what)
		r.hint("leave it out, or say use: which agent, or command: what to run")
	}
	for _, key := range agentObject.with {
		if f[key] != nil && f["use"] == nil {
			r.fail(f[key].line, "%s: %s is in the words of one agent, and goes with use", what, key)
			r.hint("write use: NAME beside it; a command has it among its own words")
		}
	}
}

// checkHas reports a setting that the agent's card has no words for.
func (r *reader) checkHas(n *node, a Agent, what string, has func(*Card) bool) {
	if n != nil && a.Card != nil && !has(a.Card) {
		r.fail(n.line, "%s: the agent %s has no such setting", what, a.Use)
	}
}

// agents reads further agents by name.
func (r *reader) agents(n *node) map[string]Agent {
	if n == nil {
		return nil
	}
	if n.kind != mapping {
		r.wrong(n, "agents", "a mapping of names to agents")
		return nil
	}
	agents := map[string]Agent{}
	names := caseless{}
	for _, e := range r.entries(n, "agents: ") {
		name := e.key.text
		what := "agents: " + clip(name)
		if problem := nameProblem(name); problem != "" {
			r.fail(e.key.line, "agents: name %s %s", quote(name), problem)
		} else if other := names.add(name); other != "" {
			r.fail(e.key.line, "agents: %s and %s differ in nothing but capital letters", name, other)
		}
		a := r.agent(e.value, what)
		if a.ScriptPath != "" {
			r.fail(e.key.line, "%s: a script can only be the session's agent", what)
		}
		agents[name] = a
	}
	return agents
}

// lines returns a list of texts of one line each.
func (r *reader) lines(n *node, what string) []string {
	var list []string
	for _, item := range r.items(n, what, "texts") {
		if s := r.line(item, what); s != "" {
			list = append(list, s)
		}
	}
	return list
}

// resolveAgent returns the agent, with the configuration's time-outs where the override sets none.
func resolveAgent(configured Agent, override *Agent) Agent {
	a := configured
	if override != nil {
		a = *override
		if a.Idle == 0 {
			a.Idle = configured.Idle
		}
		if a.Timeout == 0 {
			a.Timeout = configured.Timeout
		}
	}
	return a.withDefaults()
}

func (a Agent) withDefaults() Agent {
	if a.Idle == 0 {
		a.Idle = DefaultAgentIdle
	}
	if a.Timeout == 0 {
		a.Timeout = DefaultAgentTimeout
	}
	return a
}

type namedAgent struct {
	name  string
	phase PhaseName
}

// agentNames are the agents that phases name.
func agentNames(phases []Phase) []namedAgent {
	var all []namedAgent
	for _, ph := range phases {
		all = append(all, namedAgent{ph.Run.Name, ph.Name}, namedAgent{ph.HalfOpen, ph.Name})
	}
	return all
}

// resolveAgents fills in the agents that phases name: those of the configuration, the session's own if it is of that
// name, or a card as it is.
func resolveAgents(p *Plan, c *Config) []Finding {
	cards := c.Cards
	if cards == nil {
		cards = BuiltinCards()
	}
	var unknown grouped
	for _, named := range agentNames(p.Workflow.Phases) {
		name := named.name
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
		case name == Reviewer && p.reviewedBy(c, cards, named.phase):
			continue
		default:
			unknown.add(name, named.phase)
			continue
		}
		if p.Agents == nil {
			p.Agents = map[string]Agent{}
		}
		p.Agents[name] = a.withDefaults()
	}
	var findings []Finding
	for _, u := range unknown {
		known := slices.Sorted(maps.Keys(c.Agents))
		known = append(known, cards.Names()...)
		findings = append(findings, Finding{
			Message: fmt.Sprintf("%s: there is no agent %q (%s)", u, u.name, alternatives(u.name, known)),
			Hint:    "wfs agent list (it names those that wfs knows; others stand under agents: in the configuration)",
		})
	}
	return findings
}
