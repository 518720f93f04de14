package workflows

import (
	"fmt"
	"reflect"
)

// Signal says what an agent's own word counts beside the gates. It never outweighs them.
type Signal string

const (
	SignalAuto     Signal = "auto"     // nothing: the gates decide
	SignalVeto     Signal = "veto"     // what it says is not done is not done
	SignalRequired Signal = "required" // it must say that the work is done, in the attempt that the gates pass
)

// Review says that a phase is a review: who works there gives a verdict, and changes nothing.
type Review struct {
	By     ReviewBy `json:"by"`
	Rounds int      `json:"rounds"` // how often a reviewer may send the work back before a person decides
}

// ReviewBy says who may review.
type ReviewBy string

const (
	ByOther  ReviewBy = "other"  // another agent or model than those that did the work
	ByAnyone ReviewBy = "anyone" // whoever the phase names
)

// Rounds of a review: how many by default, and at most. Three is what people use who let agents review agents; what ten
// could not settle, an eleventh will not.
const (
	DefaultRounds = 3
	maxRounds     = 10
)

var halfOpenObject = &object{
	name: "halfOpen", about: "What is changed in the last attempt before the breaker opens, beside a new conversation and a digest of what failed.",
	keys: []key{
		{name: "agent", about: "The name of the agent that makes this attempt: of `agents:` in the configuration, or one that wfs knows.",
			value: shape{kind: aName}, required: true},
	},
}

var reviewObject = &object{
	name: "review", about: "The phase is a review: its agent approves or rejects the work, and changes nothing but documents of the session.",
	keys: []key{
		{name: "by", about: "other: an agent or model other than those of the other phases. anyone: no restriction.",
			value: word(ByOther, ByAnyone), fallback: string(ByOther)},
		{name: "rounds", about: "How often the work may be sent back before a person decides.", value: number(1, maxRounds), fallback: fmt.Sprint(DefaultRounds)},
	},
}

// judging reads the keys of a phase that say how far its agent's word goes.
func (r *reader) judging(p *Phase, f map[string]*node, what string) {
	if n := f["signal"]; n != nil {
		p.Signal = Signal(r.word(n, what+"signal", string(SignalAuto), string(SignalVeto), string(SignalRequired)))
		if p.Signal == SignalAuto {
			p.Signal = ""
		}
		if p.Run.Human {
			r.fail(n.line, "%ssignal: a person answers with approve or reject", what)
		}
	}
	if f["signal"] == nil && f["review"] == nil && p.Run.Agent {
		p.Signal = SignalVeto
	}
	if n := f["half-open"]; n != nil {
		h, _ := r.fields(n, what+"half-open", halfOpenObject)
		if a := r.need(h, n, what+"half-open: ", "agent", "the name of another agent"); a != nil {
			p.HalfOpen = r.name(a, what+"half-open: agent")
		}
		if !p.Run.Agent {
			r.fail(n.line, "%shalf-open: no agent works here", what)
		}
	}
	if n := f["review"]; n != nil {
		p.Review = r.review(p, n, what)
	}
}

func (r *reader) review(p *Phase, n *node, what string) *Review {
	f, ok := r.fields(n, what+"review", reviewObject)
	if !ok {
		return nil
	}
	v := &Review{By: ByOther, Rounds: DefaultRounds}
	if by := ReviewBy(r.word(f["by"], what+"review: by", string(ByOther), string(ByAnyone))); by != "" {
		v.By = by
	}
	if rounds := r.number(f["rounds"], what+"review: rounds", 1, maxRounds); rounds > 0 {
		v.Rounds = rounds
	}
	if p.Run.Human {
		r.fail(n.line, "%sreview: a person reviews with approve and reject; leave review away", what)
	}
	if p.Signal != "" {
		r.fail(n.line, "%sreview: its verdict is the signal; leave signal away", what)
	}
	if len(p.Guards.Only)+len(p.Guards.Except) == 0 {
		p.Guards.Only = []string{DocumentsPattern}
	}
	return v
}

// Reviewer is the name of the agent that reviews, where a workflow does not know which are there.
const Reviewer = "reviewer"

// reviewedBy finds somebody for a review whose agent is called reviewer and is not configured: another agent that wfs knows
// and that is installed, else the session's own in a new conversation, else a person. It reports whether the phase is a review.
func (p *Plan) reviewedBy(c *Config, cards Cards, phase PhaseName) bool {
	ph := p.Workflow.Phase(phase)
	if ph.Review == nil {
		return false
	}
	a := Agent{Use: p.Agent.Use, Card: p.Agent.Card, Model: p.Agent.Model, Allow: p.Agent.Allow, Args: p.Agent.Args, Fresh: true}
	for _, name := range c.Installed {
		if name != p.Agent.Use && cards[name] != nil {
			a = Agent{Use: name, Card: cards[name], Fresh: true}
			break
		}
	}
	if a.Card == nil {
		ph.Run, ph.Review, ph.Guards = Run{Human: true}, nil, Guards{}
		return true
	}
	if a.Use == p.Agent.Use {
		r := *ph.Review
		r.By, ph.Review = ByAnyone, &r
	}
	if p.Agents == nil {
		p.Agents = map[string]Agent{}
	}
	p.Agents[Reviewer] = a.withDefaults()
	return true
}

// ReviewedBy says for people who reviews in a plan, where the configuration names nobody; "" where it does, or nobody reviews.
func (p *Plan) ReviewedBy(w *Workflow, c *Config) string {
	if _, ok := c.Agents[Reviewer]; ok || c.Cards[Reviewer] != nil {
		return ""
	}
	const other = "; another reviewer: agents: {reviewer: {use: NAME}} in .wfs/local.yaml"
	for _, ph := range w.Phases {
		if ph.Review == nil || ph.Run.Name != Reviewer {
			continue
		}
		switch a, ok := p.Agents[Reviewer]; {
		case !ok:
			return string(ph.Name) + ": you review, because no agent that wfs knows is installed" + other
		case a.Use == p.Agent.Use:
			return fmt.Sprintf("%s: %s reviews its own work, in a new conversation, because no other agent is installed%s", ph.Name, a.Use, other)
		default:
			return fmt.Sprintf("%s: %s reviews, because it is installed%s", ph.Name, a.Use, other)
		}
	}
	return ""
}

// DocumentsPattern is a guard's pattern for the documents of sessions.
const DocumentsPattern = "/.workflow/"

// checkReviewers reports reviews by whoever does the work: who wrote it finds it good.
func checkReviewers(p *Plan) []Finding {
	var findings []Finding
	for _, review := range p.Workflow.Phases {
		if review.Review == nil || review.Review.By == ByAnyone || !review.Run.Agent {
			continue
		}
		if _, ok := p.Agents[review.Run.Name]; !ok && review.Run.Name != "" {
			continue // there is no such agent, which has been reported
		}
		for _, ph := range p.Workflow.Phases {
			if ph.Review != nil || !ph.Run.Agent || onlyDocuments(ph.Guards) || !sameWorker(p.AgentOf(&ph), p.AgentOf(&review)) {
				continue
			}
			findings = append(findings, Finding{
				Message: fmt.Sprintf("phase %s reviews the work of phase %s with the same agent and model: %s", review.Name, ph.Name, p.AgentOf(&review).text()),
				Hint: "name another one with `run: {agent: NAME}` and agents: in the configuration (another model is enough), " +
					"or write review: {by: anyone}",
			})
			break
		}
	}
	return findings
}

func onlyDocuments(g Guards) bool {
	return len(g.Only) == 1 && (g.Only[0] == DocumentsPattern || g.Only[0] == ".workflow/")
}

// sameWorker reports whether two agents are one, as far as who thinks there goes.
func sameWorker(a, b *Agent) bool {
	return a.Use == b.Use && a.Model == b.Model && a.Script == b.Script && reflect.DeepEqual(a.Command, b.Command)
}
