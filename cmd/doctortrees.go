package cmd

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/engine"
	"github.com/wfs-dev/wfs/gitstate"
	"github.com/wfs-dev/wfs/session"
)

// branch looks where a session's branch is. One that somebody deleted, renamed or rewrote is that person's doing: it is
// said, and never put back.
func (e *examination) branch(id session.ID, tip session.Commit) error {
	a, name := e.a, session.BranchOf(id)
	v, err := a.eng.Load(e.ctx, id, tip)
	if err != nil {
		return nil //nolint:nilerr // said of the journal
	}
	s := &v.Session
	c := s.At(s.Current)
	if c == nil || s.Status.Final() {
		return nil
	}
	at, err := a.repo.Ref(e.ctx, name)
	if errors.Is(err, gitstate.ErrBrokenRef) {
		return nil // said of the ref
	}
	if err != nil {
		return err
	}
	f := finding{About: "branch", Session: id, Where: name}
	if at == "" && slices.ContainsFunc(e.found, func(f finding) bool { return f.Where == name }) {
		return nil // said of the ref
	}
	if at == "" {
		f.Level, f.What, f.Follows = findBlocks, "is missing; its checkpoints exist", "the session cannot run"
		f.Next = engine.BranchGone(s).Hint
		if other := e.renamed(c.Code); other != "" {
			f.What = fmt.Sprintf("is missing; %s is where it was: renamed?", other)
			f.Next = fmt.Sprintf("git branch -m %s %s", other, strings.TrimPrefix(name, "refs/heads/"))
		}
		e.add(f)
		return nil
	}
	below, err := a.repo.IsAncestor(e.ctx, c.Code, at)
	if err != nil || below {
		return nil //nolint:nilerr // said of the objects
	}
	f.Level, f.What = findWarns, fmt.Sprintf("was moved to %s, which is not built on checkpoint %d", at.Short(), c.Number)
	f.Follows = "the next checkpoint joins both"
	f.Next = fmt.Sprintf("nothing, or wfs resume %s@%d", id, c.Number)
	e.add(f)
	return nil
}

// renamed is the one branch of the user's that is at a commit, "" for none or several.
func (e *examination) renamed(c session.Commit) string {
	all, err := e.a.repo.Branches(e.ctx)
	if err != nil {
		return ""
	}
	found := ""
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if all[name] != c || strings.HasPrefix(name, session.BranchPrefix) {
			continue
		}
		if found != "" {
			return ""
		}
		found = strings.TrimPrefix(name, "refs/heads/")
	}
	return found
}

// workTrees looks where sessions are checked out.
func (e *examination) workTrees() error {
	a := e.a
	trees, err := a.repo.Worktrees(e.ctx)
	if err != nil {
		return err
	}
	on := map[session.ID][]gitstate.Worktree{}
	for _, t := range trees {
		id := sessionOf(t.Branch)
		if id == "" || e.tips[id] == "" {
			continue
		}
		on[id] = append(on[id], t)
		if t.Gone && !t.Locked {
			var r *session.Refusal
			if errors.As(goneRefusal(id, &t), &r) {
				e.add(finding{Level: findWarns, About: "work tree", Session: id, Where: t.Path, What: "no longer exists",
					Follows: fmt.Sprintf("git believes that session %s is checked out there", id), Next: r.Hint})
			}
		}
	}
	for _, id := range slices.Sorted(maps.Keys(on)) {
		there := slices.DeleteFunc(on[id], func(t gitstate.Worktree) bool { return t.Gone && !t.Locked })
		if len(there) > 1 {
			e.add(finding{Level: findBlocks, About: "work tree", Session: id, Where: there[1].Path, What: "the session is checked out here and in " + there[0].Path,
				Follows: "a checkpoint in one would undo the other's", Next: "git -C " + shellWord(there[1].Path) + " switch --detach"})
		}
	}
	if original, err := a.repo.CopyOf(); err == nil && original != "" {
		e.add(finding{Level: findBlocks, About: "work tree", Where: a.repo.Root(), What: "this directory is a copy of the work tree " + original, Follows: "git treats both as one, with one index: wfs writes nothing from here",
			Next: copyHint(a.repo.Root())})
	}
	return e.claim()
}

// claim looks whether somebody began to move this work tree and is gone.
func (e *examination) claim() error {
	a := e.a
	id, err := a.clone.Claimed(a.repo.Worktree())
	if err != nil || id == "" {
		return nil //nolint:nilerr // said among the files
	}
	if _, held, err := a.clone.WorktreeHolder(a.repo.Worktree()); err != nil || held {
		return nil //nolint:nilerr // said among the locks
	}
	f := finding{Level: findTells, About: "work tree", Session: id, Where: a.repo.Root(), What: "a command was interrupted",
		Follows: "the next command that changes something completes it, or undoes it if that fails"}
	switch v, err := a.view(e.ctx, id); {
	case err != nil: // said of the session
	case v.Session.Moving != nil:
		f = movesHalf(f, v.Session.Moving)
	case e.ended(&v):
		f = finding{Level: findTells, About: "left-over", Session: id, Where: a.clone.ClaimFile(a.repo.Worktree()), What: "records a command that has since finished",
			Follows: "the next command that changes something removes it", Next: repairCommand, lock: id, mend: func(ctx context.Context) (string, string, error) {
				v, err := a.view(ctx, id) // again: the locks are held now
				if err != nil || !e.ended(&v) {
					return "", "", err
				}
				return "removed", "", a.clone.Unclaim(a.repo.Worktree())
			}}
	}
	e.add(f)
	return nil
}

// ended reports whether a session has nothing under way that moves a work tree or refs. Without a journal at its ledger's
// tip the last turn may have to be settled yet.
func (e *examination) ended(v *engine.View) bool {
	s := &v.Session
	return s.Moving == nil && s.Finishing == nil && s.Deleting == nil && v.Pending == nil && e.a.clone.Begun(s.ID, v.Tip)
}

// movesHalf is what is said of a move that stands half-way.
func movesHalf(f finding, m *session.MoveStarted) finding {
	f.What += ": " + m.Summary
	if m.Stuck != "" {
		f.Level, f.What = findBlocks, fmt.Sprintf("a command stopped half-way: %s: it could be neither completed nor undone: %s", m.Summary, m.Stuck)
		f.Follows = "every command that changes something tries again, and fails until the reason is fixed"
		f.Next = session.GiveUp + " (it changes no file, and the next command gives it up)"
	}
	return f
}

func copyHint(dir string) string {
	return fmt.Sprintf("rm %s/.git; or git worktree repair %s   (if the other one is not wanted)", shellWord(dir), shellWord(dir))
}
