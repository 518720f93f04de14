package cmd

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/engine"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
)

// resolve turns what a person typed into a session: "" is the current one; a slug, its displayed form, or an
// unambiguous beginning.
func (a *app) resolve(ctx context.Context, name string) (session.ID, error) {
	id, err := a.find(ctx, name)
	if err == nil && id != "" {
		a.about = id
	}
	return id, err
}

func (a *app) find(ctx context.Context, name string) (session.ID, error) {
	if name == "" {
		id, err := a.current(ctx)
		if err == nil && id == "" {
			if err := a.lostLedger(ctx); err != nil {
				return "", err
			}
			err = &session.Refusal{Code: session.RefuseNoSession, Message: "no session is current in this work tree", Hint: a.pickHint(ctx)}
			if left := a.leftByRun(ctx); left != "" {
				err = &session.Refusal{Code: session.RefuseNoSession, Hint: a.wayBack(ctx, left),
					Message: fmt.Sprintf("no session is current in this work tree: a run of %s was cut off after HEAD had left its branch", left)}
			}
		}
		return id, err
	}
	if id, _, _ := strings.Cut(name, "@"); isCheckpoint(name) {
		return "", &usageError{fmt.Sprintf("%s is a checkpoint; %s takes a session", name, a.verb),
			strings.TrimSpace(a.verb+" "+id) + "   (the session), or wfs resume " + name + "   (the checkpoint)"}
	}
	all, err := a.repo.Sessions(ctx)
	if err != nil {
		return "", err
	}
	slug := string(session.Exactly(name))
	if _, ok := all[session.ID(slug)]; ok {
		return session.ID(slug), nil
	}
	if id, err := session.ParseID(slug); err == nil { // or what was deleted would be the beginning of another's name
		if kept, err := a.keptOf(ctx, id); err == nil && kept != "" {
			return "", &session.Refusal{Code: session.RefuseNoSession, Message: fmt.Sprintf("session %q was deleted", id), Hint: "wfs delete --restore " + string(id)}
		}
	}
	if id, err := session.ParseID(slug); err == nil {
		if err := a.notFetched(ctx, id); err != nil {
			return "", err
		}
	}
	fits := slices.DeleteFunc(sessionNames(all), func(id string) bool { return !strings.HasPrefix(id, slug) })
	switch len(fits) {
	case 1:
		return session.ID(fits[0]), nil
	case 0:
		r := &session.Refusal{Code: session.RefuseNoSession, Message: fmt.Sprintf("no session %q", name), Hint: a.pickHint(ctx)}
		if near := workflows.Suggest(slug, sessionNames(all)); near != "" {
			r.Hint = fmt.Sprintf("did you mean %s? wfs list shows all", near)
		}
		return "", r
	}
	return "", &session.Refusal{Code: session.RefuseAmbiguous, Message: fmt.Sprintf("%q fits several sessions: %s", name, strings.Join(fits, ", ")), Hint: "wfs list"}
}

// sessionNames lists sessions by name, sorted.
func sessionNames(all map[session.ID]session.Commit) []string {
	names := make([]string, 0, len(all))
	for id := range all {
		names = append(names, string(id))
	}
	slices.Sort(names)
	return names
}

// leftByRun is the one session whose run nobody saw the end of and whose branch no work tree is on, "" for none or several:
// an agent went to another branch, and was killed there together with wfs.
func (a *app) leftByRun(ctx context.Context) (left session.ID) {
	all, err := a.repo.Sessions(ctx)
	if err != nil {
		return ""
	}
	for _, id := range slices.Sorted(maps.Keys(all)) {
		v, err := a.view(ctx, id)
		if err != nil || v.Session.Open == nil || a.driven(id) {
			continue
		}
		if on, err := a.repo.ElsewhereOn(ctx, session.BranchOf(id)); err != nil || on != "" {
			continue
		}
		if left != "" {
			return ""
		}
		left = id
	}
	return left
}

// wayBack is the command that brings HEAD back to a session that a run has left.
func (a *app) wayBack(ctx context.Context, id session.ID) string {
	head, err := a.repo.Head(ctx)
	if tip, e := a.repo.Ref(ctx, session.BranchOf(id)); e == nil && tip == "" {
		if v, e := a.view(ctx, id); e == nil {
			return engine.BranchGone(&v.Session).Hint
		}
	}
	if err != nil {
		return "wfs resume " + string(id)
	}
	return engine.WayTo(head, id)
}

func (a *app) pickHint(ctx context.Context) string {
	all, err := a.repo.Sessions(ctx)
	if err != nil || len(all) == 0 {
		return a.newCommand(ctx)
	}
	return "wfs list"
}

// address is a checkpoint as people name it: 7, cp-0007, auth@7, or the beginning of its commit.
func (a *app) address(ctx context.Context, text string) (session.ID, int, error) {
	name, cp, ok := strings.Cut(text, "@")
	if !ok {
		name, cp = "", text
	}
	id, err := a.resolve(ctx, name)
	if err != nil {
		return "", 0, err
	}
	v, err := a.view(ctx, id)
	if err != nil {
		return id, 0, err
	}
	n, err := findCheckpoint(&v.Session, cp)
	return id, n, err
}

func findCheckpoint(s *session.Session, text string) (int, error) {
	if n, ok := checkpointNumber(text); ok {
		if s.At(n) == nil {
			return 0, &session.Refusal{Code: session.RefuseNoSuchCP, Message: fmt.Sprintf("%s has no checkpoint %d: its newest is %d", s.ID, n, s.NextNumber()-1), Hint: "wfs log " + string(s.ID)}
		}
		return n, nil
	}
	var fits []int
	for _, c := range s.Checkpoints {
		if len(text) >= 4 && strings.HasPrefix(string(c.Code), strings.ToLower(text)) {
			fits = append(fits, c.Number)
		}
	}
	switch len(fits) {
	case 1:
		return fits[0], nil
	case 0:
		return 0, &session.Refusal{Code: session.RefuseNoSuchCP, Message: fmt.Sprintf("%q is no checkpoint of %s", text, s.ID), Hint: "wfs log " + string(s.ID)}
	}
	return 0, &session.Refusal{Code: session.RefuseAmbiguous, Message: fmt.Sprintf("%q fits several checkpoints: %v", text, fits), Hint: "type more of it"}
}

// checkpointNumber reads "7" and "cp-0007". More than six digits are a commit.
func checkpointNumber(text string) (int, bool) {
	digits := strings.TrimPrefix(strings.ToLower(text), "cp-")
	if digits == "" || len(digits) > 6 {
		return 0, false
	}
	n := 0
	for _, r := range digits {
		if r < '0' || r > '9' {
			return 0, false
		}
		n = n*10 + int(r-'0')
	}
	return n, true
}

// driven reports whether another process may be writing to a session.
func (a *app) driven(id session.ID) bool {
	_, held, err := a.clone.Driver(id)
	return err != nil || held
}
