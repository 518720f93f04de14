package cmd

import (
	"context"
	"errors"
	"strings"

	"github.com/wfs-dev/wfs/cmd/internal/present"
	"github.com/wfs-dev/wfs/gitstate/gitcmd"
	"github.com/wfs-dev/wfs/session"
)

// shortJSON is the answer of `wfs status --short --json`. Without a session it has only the version.
type shortJSON struct {
	Version int               `json:"version"`
	ID      session.ID        `json:"id,omitempty"`
	Status  session.Status    `json:"status,omitempty"`
	Phase   session.PhaseName `json:"phase,omitempty"`
	Lap     int               `json:"lap,omitempty"`
	Items   int               `json:"items,omitempty"`
	Attempt int               `json:"attempt,omitempty"` // in progress
}

// sayShort prints one line for a shell's prompt, from files alone: the session's cached row or, while it runs, its
// journal. It prints nothing outside of a repository and without a session.
func (a *statusVerb) sayShort(ctx context.Context, name string) error {
	a.Directly = true
	j, err := a.shortOf(ctx, name)
	if errors.Is(err, gitcmd.ErrNotRepository) || errors.Is(err, gitcmd.ErrBare) ||
		errors.Is(err, gitcmd.ErrNoWorkTree) {
		err = nil
	}
	switch {
	case err != nil:
		return err
	case a.json:
		return a.answer(j)
	case j.ID == "":
		return nil
	}
	text := present.Parts{string(j.ID)}
	text.Add(!j.Status.Final() && j.Status != session.StatusCompleted, "%s", j.Phase)
	text.Add(j.Attempt > 0, "%d", j.Attempt)
	text.Add(true, "%s", j.Status)
	a.out("%s", strings.Join(text, " "))
	return nil
}

func (a *statusVerb) shortOf(ctx context.Context, name string) (shortJSON, error) {
	j := shortJSON{Version: jsonVersion}
	err := a.Open(ctx)
	if err != nil {
		return j, err
	}
	var id session.ID
	if name == "" {
		id, err = a.Current(ctx)
	} else {
		id, err = a.Resolve(ctx, name)
	}
	if err != nil || id == "" {
		return j, err
	}
	tip, err := a.Repo.Ref(ctx, session.LedgerOf(id))
	if err != nil {
		return j, err
	}
	if a.Clone.Session(id).Row(tip, &j) && j.Status != session.StatusRunning {
		j.Version = jsonVersion
		return j, nil
	}
	v, err := a.View(ctx, id)
	if err != nil {
		return j, err
	}
	s := &v.Session
	j.ID, j.Status, j.Phase, j.Lap, j.Items = s.ID, s.Status, s.Phase, s.Lap, len(s.Items)
	if s.Open != nil {
		j.Attempt = s.Open.Attempt
	}
	return j, nil
}
