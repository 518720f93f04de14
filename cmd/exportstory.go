package cmd

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/wfs-dev/wfs/cmd/internal/present"
	"github.com/wfs-dev/wfs/engine/decide"
	"github.com/wfs-dev/wfs/engine/history"
	"github.com/wfs-dev/wfs/phases/brief"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
)

// storyJSON is the file story.json in an export, and the output of export --story: the session as `wfs status --json`
// prints it, and its whole history. It does not depend on the work tree.
type storyJSON struct {
	Version     int                  `json:"version"`
	Session     present.Story        `json:"session"`
	Phases      []phaseJSON          `json:"phases,omitempty"` // of the pinned workflow, in order
	Complexity  workflows.Complexity `json:"complexity,omitempty"`
	Breaker     *breakerJSON         `json:"breaker,omitempty"`
	Budget      *budgetJSON          `json:"budget,omitempty"`
	Changes     []session.Change     `json:"changes"`   // files of the current checkpoint that differ from the base
	Documents   []string             `json:"documents"` // paths of the session's documents in that checkpoint
	Checkpoints []session.Checkpoint `json:"checkpoints"`
	Events      []present.Stream     `json:"events"`
}

type phaseJSON struct {
	Name     session.PhaseName                     `json:"name"`
	Human    bool                                  `json:"human,omitempty"`    // a person works in it
	Approves session.PhaseName                     `json:"approves,omitempty"` // of a breakpoint: the phase before it
	On       map[session.Verdict]session.PhaseName `json:"on"`                 // the phase that follows
	Limits   workflows.Limits                      `json:"limits"`
}

// breakerJSON is the state of the breaker of the current phase.
type breakerJSON struct {
	State  decide.BreakerState `json:"state"` // closed, half-open or open
	Reason string              `json:"reason,omitempty"`
	Visit  session.Visit       `json:"visit"`
}

// storyOf returns the text of story.json. A session whose plan cannot be read has a story without phases, breaker and
// budget.
func (a *exportVerb) storyOf(ctx context.Context, v history.View) ([]byte, error) {
	s := &v.Session
	events, err := eventsOf(ctx, a.Workspace, s.ID)
	if err != nil {
		return nil, err
	}
	j := storyJSON{Version: jsonVersion, Session: present.StoryOf(a.describe(s, nil), a.env.Now()),
		Checkpoints: s.Checkpoints, Changes: []session.Change{}, Documents: []string{}, Events: []present.Stream{}}
	j.Session.Driver = nil
	if plan, err := a.PinnedPlan(ctx, v); err == nil {
		j.Complexity = plan.Complexity
		for _, p := range plan.Workflow.Phases {
			j.Phases = append(j.Phases, phaseJSON{p.Name, p.Run.Human, p.Approves, p.On, p.Limits})
		}
		if p := plan.Workflow.Phase(s.Phase); p != nil {
			j.Breaker = &breakerJSON{Visit: s.Visit}
			j.Breaker.State, j.Breaker.Reason = decide.Trip(p.Limits, s.Visit)
		}
		if b, err := (&budgetVerb{a.app}).of(ctx, v); err == nil {
			j.Budget = &b
		}
	}
	if c := s.At(s.Current); c != nil {
		base, err := a.Repo.TreeOf(ctx, s.Base)
		if err != nil {
			return nil, err
		}
		changes, err := a.Repo.Changes(ctx, base, c.Tree)
		if err != nil {
			return nil, err
		}
		j.Changes = append(j.Changes, changes...)
	}
	for _, c := range j.Changes {
		if strings.HasPrefix(c.Path, brief.DocumentsDir(s.ID)+"/") && c.Status != "D" {
			j.Documents = append(j.Documents, c.Path)
		}
	}
	for _, e := range events {
		j.Events = append(j.Events, present.EventLine(e))
	}
	text, err := json.MarshalIndent(j, "", "  ")
	return append(text, '\n'), err
}
