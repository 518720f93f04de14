package workspace

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/wfs-dev/wfs/engine/checkpoint"
	"github.com/wfs-dev/wfs/engine/transition"
	"github.com/wfs-dev/wfs/internal/durable"
	"github.com/wfs-dev/wfs/registry"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows/spelling"
)

// Names finds sessions, checkpoints and branches by the names that people type.
type Names struct {
	w     *Workspace
	Verb  string     // the typed command; if a flag makes it a command that only people may give, with that flag
	About session.ID // the session that the command is about, for commands in messages
}

// IsCheckpoint reports whether a word has the form of a checkpoint's name (SESSION@7), and not of a commit in git's
// notation (HEAD@{1}).
func IsCheckpoint(word string) bool {
	return strings.Contains(word, "@") && !strings.Contains(word, "@{")
}

// Resolve returns the session with a name: an id, "WFS-" and an id, or an unambiguous prefix of an id; "" stands for
// the current session. A refusal without a hint means that there is no such session.
func (n *Names) Resolve(ctx context.Context, name string) (session.ID, error) {
	var id session.ID
	var err error
	if name == "" {
		id, err = n.mustCurrent(ctx)
	} else {
		id, err = n.find(ctx, name)
	}
	if err == nil {
		n.About = id
	}
	return id, err
}

func (n *Names) mustCurrent(ctx context.Context) (session.ID, error) {
	id, err := n.w.Current(ctx)
	if err != nil || id != "" {
		return id, err
	}
	if err := n.w.LostLedger(ctx); err != nil {
		return "", err
	}
	const none = "no session is current in this work tree"
	if left := n.leftByRun(ctx); left != "" {
		return "", session.Refuse(session.RefuseNoSession, n.wayBack(ctx, left),
			none+": a run of %s was cut off", left)
	}
	return "", session.Refuse(session.RefuseNoSession, "", none)
}

func (n *Names) find(ctx context.Context, name string) (session.ID, error) {
	if id, _, _ := strings.Cut(name, "@"); IsCheckpoint(name) {
		return "", session.Refuse(session.RefuseUsage,
			strings.TrimSpace(n.Verb+" "+id)+"   (the session), or wfs resume "+name+"   (the checkpoint)",
			"%s is a checkpoint; %s takes a session", name, n.Verb)
	}
	all, err := n.w.Repo.Sessions(ctx)
	if err != nil {
		return "", err
	}
	slug := session.Exactly(name)
	if _, ok := all[slug]; ok {
		return slug, nil
	}
	// checked before prefixes: otherwise the full name of a deleted session could match another session
	if id, err := session.ParseID(string(slug)); err == nil {
		if err := n.w.Absent.refusal(ctx, id); err != nil {
			return "", err
		}
	}
	ids := SortedIDs(all)
	fits := slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return !strings.HasPrefix(id, string(slug)) })
	switch len(fits) {
	case 1:
		return session.ID(fits[0]), nil
	case 0:
		hint := ""
		if _, err := strconv.Atoi(name); err == nil {
			hint = fmt.Sprintf("checkpoint %s of the current session is @%s; wfs list shows all sessions", name, name)
		} else if near := spelling.Suggest(string(slug), ids); near != "" {
			hint = fmt.Sprintf("did you mean %s? wfs list shows all", near)
		}
		return "", session.Refuse(session.RefuseNoSession, hint, "no session %q", name)
	}
	return "", session.Refuse(session.RefuseAmbiguous, "wfs list", "%q fits several sessions: %s", name,
		strings.Join(fits, ", "))
}

// SortedIDs returns the ids of sessions, sorted.
func SortedIDs(all map[session.ID]session.Commit) []string {
	ids := make([]string, 0, len(all))
	for id := range all {
		ids = append(ids, string(id))
	}
	slices.Sort(ids)
	return ids
}

// leftByRun returns the session whose interrupted run moved HEAD away: its branch is checked out in no work tree,
// because its agent switched to another branch and was killed there together with wfs. It returns "" if there is no
// such session, or more than one.
func (n *Names) leftByRun(ctx context.Context) (left session.ID) {
	w := n.w
	all, err := w.Repo.Sessions(ctx)
	if err != nil {
		return ""
	}
	for _, id := range slices.Sorted(maps.Keys(all)) {
		v, err := w.View(ctx, id)
		if err != nil || v.Session.Open == nil || w.driven(id) {
			continue
		}
		if on, err := w.Repo.ElsewhereOn(ctx, session.BranchOf(id)); err != nil || on != "" {
			continue
		}
		if left != "" {
			return ""
		}
		left = id
	}
	return left
}

// wayBack returns the command that moves HEAD back to a session's branch.
func (n *Names) wayBack(ctx context.Context, id session.ID) string {
	head, err := n.w.Repo.Head(ctx)
	if tip, e := n.w.Repo.Ref(ctx, session.BranchOf(id)); e == nil && tip == "" {
		if v, e := n.w.View(ctx, id); e == nil {
			return checkpoint.BranchGone(&v.Session).Hint
		}
	}
	if err != nil {
		return "wfs resume " + string(id)
	}
	return checkpoint.WayTo(head, id)
}

// Address returns the session and the checkpoint number that a name stands for: 7, cp-0007, auth@7, or the beginning of
// the checkpoint's commit.
func (n *Names) Address(ctx context.Context, text string) (session.ID, int, error) {
	name, cp, ok := strings.Cut(text, "@")
	if !ok {
		name, cp = "", text
	}
	id, err := n.Resolve(ctx, name)
	if err != nil {
		return "", 0, err
	}
	v, err := n.w.View(ctx, id)
	if err != nil {
		return id, 0, err
	}
	number, err := FindCheckpoint(&v.Session, cp)
	return id, number, err
}

// FindCheckpoint returns the number of a session's checkpoint from its number as text, or from the beginning of its
// commit.
func FindCheckpoint(s *session.Session, text string) (int, error) {
	log := "wfs log " + string(s.ID)
	if n, ok := CheckpointNumber(text); ok {
		if s.At(n) == nil {
			return 0, session.Refuse(session.RefuseNoSuchCP, log, "%s has no checkpoint %d: its newest is %d", s.ID, n,
				s.NextNumber()-1)
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
		return 0, session.Refuse(session.RefuseNoSuchCP, log, "%q is no checkpoint of %s", text, s.ID)
	}
	return 0, session.Refuse(session.RefuseAmbiguous, "type more of it", "%q fits several checkpoints: %v", text, fits)
}

// CheckpointNumber parses "7" and "cp-0007". It reports false for more than six digits, which are part of a commit id.
func CheckpointNumber(text string) (int, bool) {
	digits := strings.TrimPrefix(strings.ToLower(text), "cp-")
	n, err := strconv.ParseUint(digits, 10, 32)
	return int(n), err == nil && len(digits) <= 6
}

// Destination returns the session with a name, or the full name of a branch that belongs to no session. Exact matches
// win, and among them a session before a branch. Then a prefix of a session's name is tried. "-" stands for the branch
// that HEAD was on before.
func (n *Names) Destination(ctx context.Context, name string) (target session.ID, branch string, err error) {
	if name == "-" {
		if name, err = n.w.Repo.Previous(ctx); err != nil {
			return "", "", err
		}
		if name == "" {
			return "", "", session.Refuse(session.RefuseNothing, "wfs list",
				"git does not remember another branch that HEAD was on in this work tree")
		}
	}
	all, err := n.w.Repo.Sessions(ctx)
	if err != nil {
		return "", "", err
	}
	if slug, ok := strings.CutPrefix(name, session.BranchPrefix); ok {
		if id := session.ID(slug); all[id] != "" {
			return id, "", nil
		}
		return "", "", session.Refuse(session.RefuseNoSession, "", "no session %q", slug)
	}
	branch = n.branch(ctx, name)
	if id := session.Exactly(name); all[id] != "" {
		// if the session is finished, the branch of the same name has its work, and wins
		if v, err := n.w.View(ctx, id); branch == "" || err != nil || v.Session.Status != session.StatusFinished {
			return id, "", nil
		}
	}
	if branch != "" {
		return "", branch, nil
	}
	target, err = n.Resolve(ctx, name)
	if refused, is := errors.AsType[*session.Refusal](err); is && refused.Code == session.RefuseNoSession {
		hint := refused.Hint
		if near := spelling.Suggest(name, n.places(ctx, all)); near != "" {
			hint = "wfs switch " + near
		}
		err = session.Refuse(session.RefuseNoSession, hint, "no session or branch %q", name)
	}
	return target, "", err
}

// branch returns the full name of a branch that belongs to no session, "" if there is no branch of that name.
func (n *Names) branch(ctx context.Context, name string) string {
	full := strings.TrimPrefix(strings.TrimPrefix(name, "refs/"), "heads/")
	for _, ref := range []string{"refs/heads/" + full, "refs/heads/" + name} {
		if tip, err := n.w.Repo.Ref(ctx, ref); err == nil && tip != "" && !strings.HasPrefix(ref, session.BranchPrefix) {
			return ref
		}
	}
	return ""
}

// places returns the names of all sessions and all other branches. Branches that cannot be read are left out.
func (n *Names) places(ctx context.Context, all map[session.ID]session.Commit) []string {
	names := SortedIDs(all)
	branches, _ := n.w.Repo.Branches(ctx)
	for _, ref := range slices.Sorted(maps.Keys(branches)) {
		if !strings.HasPrefix(ref, session.BranchPrefix) {
			names = append(names, strings.TrimPrefix(ref, "refs/heads/"))
		}
	}
	return names
}

// HoldFree chooses an unused name for a new session, derived from its goal, and locks it with `hold`. Another command
// may create a session of that name before the lock is taken, so HoldFree checks the name again when it has the lock,
// and if necessary chooses another one.
func (n *Names) HoldFree(ctx context.Context, goal string, hold func(session.ID) error) (session.ID, error) {
	id, err := n.free(ctx, goal)
	for err == nil {
		durable.Hit(durable.NameFound)
		locks := len(n.w.held)
		if err = hold(id); err != nil {
			break
		}
		var now session.ID
		if now, err = n.free(ctx, goal); err != nil || now == id {
			break
		}
		n.w.release(locks) // another command has created a session with the name in the meantime
		id = now
	}
	return id, err
}

// free derives an unused session name from a goal. A name is in use if a session has it, if a deleted session has it
// (which can be restored), if a half-made work tree has it (there is one note file per name), or if a branch conflicts
// with it.
func (n *Names) free(ctx context.Context, goal string) (session.ID, error) {
	w := n.w
	all, err := w.Repo.Sessions(ctx)
	if err != nil {
		return "", err
	}
	deleted, err := w.Repo.RefsBelow(ctx, strings.TrimSuffix(transition.DeletedPrefix, "/"))
	if err != nil {
		return "", err
	}
	half, _ := w.Clone.HalfMade() // an error is ignored: unreadable notes are reported elsewhere
	id := session.Slug(goal, func(id session.ID) bool {
		if err != nil {
			return false
		}
		_, taken := all[id]
		for ref := range deleted {
			taken = taken || strings.HasPrefix(ref, transition.DeletedPrefix+string(id)+"/")
		}
		if taken || slices.ContainsFunc(half, func(m registry.HalfMade) bool { return m.Session == id }) {
			return true
		}
		var tip session.Commit // there may be a branch of that name without a session
		if tip, err = w.Repo.Ref(ctx, session.BranchOf(id)); err != nil || tip != "" {
			return err == nil
		}
		var other string // or a branch with which git cannot have this name
		other, err = w.Engine.Blocked(ctx, session.BranchOf(id))
		return other != "" && err == nil
	})
	return id, err
}
