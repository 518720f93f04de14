package cmd

import (
	"context"
	"fmt"
	"strings"

	"github.com/wfs-dev/wfs/cmd/internal/present"
	"github.com/wfs-dev/wfs/gitstate/object"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workspace"
)

// autoName is the name of a session's newest automatic backup in arguments: "auto" for the current session,
// SESSION@auto for another one.
const autoName = "auto"

// autoNamed returns the session whose automatic backup the argument `text` names. `ok` is false if text names something
// else.
func autoNamed(ctx context.Context, w *workspace.Workspace, text string) (id session.ID, ok bool, err error) {
	name, isAuto := strings.CutSuffix(text, "@"+autoName)
	if !isAuto && text != autoName {
		return "", false, nil
	}
	if !isAuto { // "auto" may also be the name of a session
		if all, err := w.Repo.Sessions(ctx); err == nil && all[autoName] != "" {
			return "", false, nil
		}
		name = ""
	}
	id, err = w.Resolve(ctx, name)
	return id, err == nil, err
}

// autoSaveOf returns a session's automatic backup. It returns an error if there is none.
func autoSaveOf(ctx context.Context, w *workspace.Workspace, id session.ID) (*session.AutoSave, error) {
	auto, err := w.Repo.Auto(ctx, id)
	if err == nil && auto == nil {
		err = session.Refuse(session.RefuseNothing, "wfs status "+string(id), "%s has no backup", id)
	}
	return auto, err
}

type showAutoJSON struct {
	Version int        `json:"version"`
	ID      session.ID `json:"id"`
	Address string     `json:"address"`
	present.AutoSave
	Stale   bool             `json:"stale"` // the session has events that are newer than the backup
	Changed []session.Change `json:"changed"`
	HeldOut []session.Held   `json:"held_out,omitempty"`
	Skipped []session.Skip   `json:"skipped,omitempty"`
}

func (a *showVerb) showAuto(ctx context.Context, id session.ID) error {
	auto, err := autoSaveOf(ctx, a.Workspace, id)
	if err != nil {
		return err
	}
	v, err := a.View(ctx, id)
	if err != nil {
		return err
	}
	j := showAutoJSON{Version: jsonVersion, ID: id, Address: string(id) + "@" + autoName,
		AutoSave: present.NewAutoSave(id, auto), Stale: auto.Ledger != v.Tip,
		Changed: list(auto.Changed), HeldOut: auto.HeldOut, Skipped: auto.Skipped}
	if a.json {
		return a.answer(j)
	}
	a.page(ctx)
	a.out("%s  saved %s, %s", j.Address, present.Ago(j.At, a.env.Now()), j.Why)
	a.out("commit %s  %s", j.Commit, j.At.Format("2006-01-02 15:04:05 UTC"))
	if j.Stale {
		a.out("stale: something has happened since")
	}
	if len(j.HeldOut)+len(j.Skipped) > 0 {
		a.out("it lacks %s", present.Lacks(&session.Checkpoint{Incomplete: true, HeldOut: j.HeldOut, Skipped: j.Skipped}))
	}
	a.out("")
	c := v.Session.At(v.Session.Current)
	if c == nil {
		return fmt.Errorf("%s has no checkpoint", id)
	}
	return a.diffTo(ctx, c.Code, auto.Code, object.DiffOptions{Stat: true})
}
