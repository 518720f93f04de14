package cmd

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/engine/decide"
	"github.com/wfs-dev/wfs/phases/agent"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
	"github.com/wfs-dev/wfs/workspace"
)

// noteLacking warns, when a session is created, about agents of its plan that cannot work here: their program is
// missing or broken, or they are not logged in. If the session is to run at once, it refuses one whose first agent is
// not installed, before any gate runs.
func noteLacking(ctx context.Context, w *workspace.Workspace, p *workflows.Plan, runs bool) error {
	var seen []string
	for i := range p.Workflow.Phases {
		ph := &p.Workflow.Phases[i]
		if card := p.AgentOf(ph).Card; ph.Run.Agent && card != nil && !slices.Contains(seen, card.Name) {
			seen = append(seen, card.Name)
			what := agentLacks(ctx, prober(w.Env), card, true)
			switch {
			case what == "":
			case runs && ph.Name == p.Workflow.Start && prober(w.Env).Find(ctx, card).Path == "":
				return session.Refuse(session.RefuseAgent,
					"wfs agent check "+card.Name+"   (another one: --agent NAME)", "%s", what)
			default:
				w.Front.Note("warning: %s; wfs agent check %s says more", what, card.Name)
			}
		}
	}
	return nil
}

// agentLacks says why an agent cannot work here. It returns "" if it finds no reason. It makes no paid calls. It checks
// the login only if `login` is set, because this check starts the agent's program.
func agentLacks(ctx context.Context, p *agent.Prober, c *workflows.Card, login bool) string {
	in := p.Find(ctx, c)
	switch {
	case len(c.Command) > 0 && in.Path == "":
		return fmt.Sprintf("%s cannot work here: there is no program %s in your PATH", c.Name, c.Command[0])
	case in.Problem != "":
		return fmt.Sprintf("%s may not work here: %s", c.Name, in.Problem)
	case !login:
		return ""
	}
	if yes, known := p.LoggedIn(ctx, c); known && !yes {
		return strings.TrimSpace(fmt.Sprintf("%s does not seem to be logged in: %s", c.Name, c.Login))
	}
	return ""
}

// mustHaveAgent refuses a run if the next attempt needs an agent whose program is missing. Before the first attempt it
// also warns if the agent is not logged in. It does not refuse the run for that reason, because the agent may use a
// provider that its login check does not cover.
func (a *runVerb) mustHaveAgent(ctx context.Context, s *session.Session, p *workflows.Plan) error {
	d := decide.Decide(s, p, decide.Facts{Now: a.env.Now(), RunID: "look"})
	i := slices.IndexFunc(d.Events, func(b session.Body) bool { _, ok := b.(session.AttemptStarted); return ok })
	if i < 0 {
		return nil
	}
	ph := p.Workflow.Phase(d.Events[i].(session.AttemptStarted).Phase)
	if ph == nil || !ph.Run.Agent {
		return nil
	}
	c := p.AgentOf(ph).Card
	if c == nil || len(c.Command) == 0 {
		return nil
	}
	what := agentLacks(ctx, prober(&a.env.Env), c, s.Runs == 0)
	switch {
	case what == "":
	case prober(&a.env.Env).Find(ctx, c).Path == "":
		return session.Refuse(session.RefuseAgent, "wfs agent check "+c.Name+"   (another one: wfs edit --agent NAME)",
			"%s", what)
	default:
		a.note("warning: %s; wfs agent check %s says more", what, c.Name)
	}
	return nil
}
