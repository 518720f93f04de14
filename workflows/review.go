package workflows

import (
	"cmp"
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
	By ReviewBy `json:"by" is:"other|anyone" default:"other"`
	// How often a reviewer may send the work back before a person decides.
	Rounds int `json:"rounds" is:"1..10" default:"3"`
}

// ReviewBy says who may review.
type ReviewBy string

const (
	ByOther  ReviewBy = "other"  // another agent or model than those that did the work
	ByAnyone ReviewBy = "anyone" // whoever the phase names
)

// Reviewer is the name of the agent that reviews, where a workflow does not know which are there.
const Reviewer = "reviewer"

// reviewer finds somebody for a review whose agent is called reviewer and is not configured: another agent that
// wfs knows and that is installed, else the session's own in a new conversation, else a person.
func (p *Plan) reviewer(ph *Phase, c *Config, cards Cards) Agent {
	for _, name := range c.Installed {
		if name != p.Agent.Use && cards[name] != nil {
			return Agent{Use: name, Card: cards[name], Fresh: true}
		}
	}
	if p.Agent.Card == nil {
		ph.Run, ph.Review, ph.Guards = Run{Human: true}, nil, Guards{}
		return Agent{}
	}
	ph.Review = &Review{By: ByAnyone, Rounds: ph.Review.Rounds}
	a := p.Agent
	return Agent{Use: a.Use, Card: a.Card, Model: a.Model, Allow: a.Allow, Args: a.Args, Fresh: true}
}

// ReviewedBy says for people who reviews in a plan, where the configuration names nobody; "" where it does, or
// nobody reviews.
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
			return fmt.Sprintf("%s: %s reviews its own work, in a new conversation, because no other agent is installed%s",
				ph.Name, a.Use, other)
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
			findings = append(findings, finding("phase %s reviews the work of phase %s with the same agent and model: %s\n"+
				"name another one with `run: {agent: NAME}` and agents: in the configuration (another model is enough), "+
				"or write review: {by: anyone}", review.Name, ph.Name,
				cmp.Or(p.AgentOf(&review).Use, p.AgentOf(&review).Command.Text(), "script")))
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
