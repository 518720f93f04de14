package cmd

import (
	"context"
	"errors"

	"github.com/wfs-dev/wfs/cmd/internal/present"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
)

// sayDrift prints how the current configuration differs from the one that a session has pinned. The session continues
// with the pinned one, because gates that an agent can change while they judge would prove nothing.
func (a *runVerb) sayDrift(ctx context.Context, s *session.Session, pinned *workflows.Plan) {
	const most = 5
	present.SaySpecEdited(a.note, a.SpecEdited(ctx, s))
	list, err := a.Rules(ctx)
	if err == nil && len(list) == 0 {
		return // nothing to compare: this work tree has no configuration
	}
	var changes []string
	if err == nil {
		changes, err = a.Drift(list, s, pinned)
	}
	if err != nil {
		a.note("what is configured now cannot be used; this session runs what it has pinned")
		if r, is := errors.AsType[*session.Refusal](err); is && r.Hint != "" {
			a.note("    %s\n    hint: %s", r.Message, a.typedFor(r.Hint, s.ID, ""))
		} else {
			a.note("    hint: wfs workflow check")
		}
		return
	}
	if len(changes) == 0 {
		return
	}
	a.note("the configuration has changed, and this session runs what it has pinned; to take what is configured now: %s", a.typedFor("wfs edit --reload", s.ID, ""))
	for _, line := range changes[:min(len(changes), most)] {
		a.note("    %s", line)
	}
	if n := len(changes) - most; n > 0 {
		a.note("    … and %d more: %s", n, a.typedFor("wfs edit --reload --dry-run", s.ID, ""))
	}
}
