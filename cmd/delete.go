package cmd

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/wfs-dev/wfs/gitstate/handover"
	"github.com/wfs-dev/wfs/gitstate/worktree"

	"github.com/spf13/cobra"

	"github.com/wfs-dev/wfs/cmd/internal/present"
	"github.com/wfs-dev/wfs/engine"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workspace"
	"github.com/wfs-dev/wfs/workspace/worktrees"
)

type deleteVerb struct {
	*app
	force, restore, worktree bool
	discard                  worktrees.Discards
}

func (a *deleteVerb) command() *cobra.Command {
	c := &cobra.Command{
		Use: "delete SESSION", Short: "delete a session",
		Long: `Delete moves a session's branch, history and backups out of sight, to refs/wfs-deleted/. Nothing
becomes unreachable before wfs gc removes them permanently, after 30 days. Branches of yours are never touched.
Changes that were uncommitted on them when the session began stay as well, and are named.

It refuses when only the session has its work: no branch of yours has its current checkpoint, be it merged,
squashed, rebased or cherry-picked, nor the newest one, if you went back from that. Older ones that you went
back from, and backups, go with the session. --force deletes it anyway. A session that is checked out in a work
tree is not deleted.

--worktree deletes only the linked work tree that has the session checked out, or where it was handed over. The
session, its branch and its checkpoints stay. Edits become a checkpoint first, or after the handover a backup.
Files that git ignores are in neither: those that were copied or linked from the main work tree, or that the
set-up had made, go with it if they are unchanged; others are named, and keep it from being deleted without
--discard-ignored. Edits of .wfs are in no checkpoint either, nor is work in a submodule: --discard-unsaved
deletes those.`,
		Example: "  wfs delete csv-export\n  wfs delete csv-export --force\n  wfs delete --restore csv-export\n  wfs delete --worktree csv-export --discard-ignored",
		Args: func(c *cobra.Command, args []string) error {
			if a.worktree {
				return upTo(1)(c, args)
			}
			return exactly(1, "the name of a session")(c, args)
		},
		RunE: with(a.run),
	}
	f := c.Flags()
	f.BoolVar(&a.force, "force", false, "delete it although only the session holds its work")
	f.BoolVar(&a.restore, "restore", false, "bring a deleted session back")
	f.BoolVar(&a.worktree, "worktree", false, "delete only the work tree of the session")
	f.BoolVar(&a.discard.Ignored, "discard-ignored", false,
		"with --worktree: delete ignored files as well, which no checkpoint holds")
	f.BoolVar(&a.discard.Unsaved, "discard-unsaved", false,
		"with --worktree: delete edits of .wfs and submodules with work in them as well")
	return c
}

func (a *deleteVerb) run(ctx context.Context, args []string) error {
	switch {
	case a.worktree && (a.force || a.restore):
		return usage("wfs delete --help", "--worktree excludes --force and --restore")
	case !a.worktree && a.discard != worktrees.Discards{}:
		return usage("wfs delete --help", "--discard-ignored and --discard-unsaved go with --worktree")
	case a.worktree:
		return a.removeTree(ctx, first(args))
	case a.restore:
		return a.bringBack(ctx, args[0])
	}
	return a.delete(ctx, args[0])
}

func (a *deleteVerb) delete(ctx context.Context, name string) error {
	if err := a.Begin(ctx, "wfs delete", true); err != nil {
		return err
	}
	id, err := a.Resolve(ctx, name)
	if err != nil {
		if a.isClaimed(name) {
			return a.say(ctx, a.Claimed, 0, nil) // wfs has just completed its interrupted deletion
		}
		return err
	}
	h, fate, tree, err := a.takeIfMerged(ctx, id)
	if err != nil {
		return err
	}
	op, err := h.Delete(ctx, "delete "+string(id), 0)
	if err != nil {
		return err
	}
	if tree != nil && tree.ID != "main" && tree.ID != a.Repo.Worktree() && !a.json {
		defer a.out("its work tree stays: git worktree remove %s", tree.Path)
	}
	return a.say(ctx, id, op, &fate)
}

// isClaimed reports whether `name` is the session whose deletion was interrupted, and which this command has just
// completed.
func (a *deleteVerb) isClaimed(name string) bool {
	return a.Claimed != "" && strings.EqualFold(strings.TrimPrefix(strings.ToLower(name), "wfs-"), string(a.Claimed))
}

// takeIfMerged opens a session if it may be deleted. It returns where the session's work ended up, and the work tree
// that belongs to the session, or nil.
func (a *deleteVerb) takeIfMerged(ctx context.Context, id session.ID) (h *engine.Hand, fate handover.Fate,
	tree *worktree.Worktree, err error) {
	if h, err = a.HoldAndTake(ctx, "wfs delete", id); err != nil {
		return nil, fate, nil, err
	}
	if err := a.notCheckedOut(ctx, &h.S); err != nil {
		return nil, fate, nil, err
	}
	if fate, err = a.mayGo(ctx, &h.S); err != nil {
		return nil, fate, nil, err
	}
	tree, err = a.Belonging(ctx, id)
	if none := (*session.Refusal)(nil); errors.As(err, &none) {
		err = nil
	}
	return h, fate, tree, err
}

// notCheckedOut refuses to delete a session that is checked out in another work tree.
func (a *deleteVerb) notCheckedOut(ctx context.Context, s *session.Session) error {
	tree, err := a.Elsewhere(ctx, s.ID)
	if err != nil || tree == nil || tree.Gone {
		return err
	}
	hint := "wfs delete --worktree " + string(s.ID)
	if tree.ID == "main" {
		hint = fmt.Sprintf("cd %s && wfs switch %s", tree.Path, baseBranch(ctx, a.Engine, s))
	}
	return session.Refuse(session.RefuseWorktree, hint, "%s is checked out in %s", s.ID, tree.Path)
}

// mayGo returns where a session's work ended up. It refuses the deletion if some commits of the session are in no
// branch of the user's, unless --force was given.
func (a *deleteVerb) mayGo(ctx context.Context, s *session.Session) (handover.Fate, error) {
	fate, err := became(ctx, a.Repo, s)
	if err != nil {
		return fate, err
	}
	if fate.How == handover.FateNowhere {
		if a.force {
			return fate, nil
		}
		return fate, a.notMerged(ctx, s)
	}
	made, err := unmerged(ctx, a.Workspace, s)
	switch {
	case made == "" || err != nil:
		return fate, err
	case a.force:
		return handover.Fate{How: handover.FateNowhere}, nil
	}
	return fate, notAllMerged(s, made)
}

// notAllMerged returns the refusal to delete a session that has a commit which is neither part of its work nor in any
// branch of the user's.
func notAllMerged(s *session.Session, made session.Commit) error {
	what := "commit " + made.Short()
	for _, c := range s.Checkpoints {
		if c.Code == made {
			what = fmt.Sprintf("checkpoint %d (%s)", c.Number, c.Summary)
		}
	}
	return session.Refuse(session.RefuseNotMerged,
		fmt.Sprintf("git branch %s-%s %s; or wfs delete %s --force", s.ID, made.Short(), made.Short(), s.ID),
		"no branch of yours has %s of %s", what, s.ID)
}

// notMerged returns the refusal to delete a session whose work is in no branch of the user's.
func (a *deleteVerb) notMerged(ctx context.Context, s *session.Session) error {
	at := s.At(s.Current)
	put, keep := "wfs delete "+string(s.ID)+" --force", fmt.Sprintf("wfs switch %s && wfs finish, and merge it", s.ID)
	if cur, err := a.Current(ctx); err == nil && cur == s.ID {
		put, keep = fmt.Sprintf("wfs switch %s && %s", baseBranch(ctx, a.Engine, s), put), "wfs finish, and merge it"
	}
	if !at.Green { // finish would refuse it
		keep = fmt.Sprintf("git branch %s-%s %s", s.ID, at.Code.Short(), at.Code.Short())
	}
	what := fmt.Sprintf("checkpoint %d (%s)", s.Current, at.Summary)
	if f := s.Finished; f != nil && s.Status == session.StatusFinished {
		what = "what was handed over on " + strings.TrimPrefix(f.Branch, "refs/heads/")
	}
	return session.Refuse(session.RefuseNotMerged, keep+"; or "+put, "no branch of yours has the work of %s: %s", s.ID, what)
}

func (a *deleteVerb) say(ctx context.Context, id session.ID, op int64, became *handover.Fate) error {
	kept, err := a.KeptOf(ctx, id)
	if err != nil {
		return err
	}
	if a.json {
		return a.answer(recordedJSON{Version: jsonVersion, Did: "deleted", Session: id, Operation: op, Kept: kept,
			Became: became, Next: []string{}})
	}
	a.out("%s is deleted", id)
	if became != nil {
		a.out("its work: %s", present.BecameText(*became))
	}
	backups, err := a.Repo.RefsBelow(ctx, kept+"rescue")
	if err != nil {
		return err
	}
	if len(backups) > 0 {
		a.out("deleted with it: %s of uncommitted changes; to list them: wfs backups", present.N(len(backups), "backup"))
	}
	a.out("it is kept below %s until wfs gc removes it", kept)
	stays, err := stayBehind(ctx, a.Repo, id)
	if err != nil {
		return err
	}
	for _, line := range stays {
		a.out("%s", line)
	}
	a.out("undo: %s (or later: wfs delete --restore %s)", a.typed("wfs undo"), id)
	return nil
}

func (a *deleteVerb) bringBack(ctx context.Context, name string) error {
	if err := a.Begin(ctx, "wfs delete", true); err != nil {
		return err
	}
	id, err := session.ParseID(name)
	if err != nil {
		return usage("wfs delete --restore SESSION", "%v", err)
	}
	if err := a.Hold("wfs delete", id); err != nil {
		return err
	}
	tip, kept, was, err := a.ledgers(ctx, id)
	if err != nil {
		return err
	}
	if tip != "" && tip != was { // if equal, a killed restore has left the copies
		if a.json {
			return a.answer(recordedJSON{Version: jsonVersion, Did: "nothing", Session: id, Next: []string{}})
		}
		a.out("there is a session %s: it is not deleted", id)
		return nil
	}
	if kept == "" {
		return a.noneKept(ctx, id)
	}
	r, err := a.Engine.Restore(ctx, id, kept)
	if err != nil {
		return err
	}
	h, err := a.Take(ctx, id)
	if err != nil {
		return err
	}
	return moved{a.app, h, r, nil}.say()
}

// noneKept returns the refusal to restore a session that was never deleted, or whose refs wfs gc has removed.
func (a *deleteVerb) noneKept(ctx context.Context, id session.ID) error {
	hint := "wfs list"
	if all, err := a.Deletions(ctx); err == nil && len(all) > 0 {
		hint = "wfs list --deleted"
	}
	return session.Refuse(session.RefuseNoSession, hint, "no deleted session %q is kept", id)
}

// ledgers looks up a session's ledger, and the refs kept from its newest deletion. It returns the ledger's commit, the
// directory of the kept refs, and the commit of the ledger there. Each is "" if it does not exist.
func (a *deleteVerb) ledgers(ctx context.Context, id session.ID) (tip session.Commit, kept string, was session.Commit,
	err error) {
	if tip, err = a.Repo.Ref(ctx, session.LedgerOf(id)); err != nil {
		return "", "", "", err
	}
	if kept, err = a.KeptOf(ctx, id); err != nil || kept == "" {
		return tip, "", "", err
	}
	was, err = a.Repo.Ref(ctx, kept+"ledger")
	return tip, kept, was, err
}

type removedJSON struct {
	Version int `json:"version"`
	*worktrees.Removed
	Parked []string `json:"parked,omitempty"` // refs with uncommitted changes left on branches there
}

func (a *deleteVerb) removeTree(ctx context.Context, name string) error {
	r, err := a.trees.Remove(ctx, name, a.discard)
	if err != nil {
		return err
	}
	parked := leftIn(ctx, a.Repo, r.Tree)
	if a.json {
		return a.answer(removedJSON{jsonVersion, r, parked})
	}
	if r.Saved > 0 {
		a.out("its edits are kept: checkpoint %d", r.Saved)
	}
	if r.Rescued != "" {
		a.out("%s is saved in %s", wasThere, r.Rescued)
		workspace.SayRescue(ctx, a.Repo, r.Rescued, a.out)
	}
	a.out("removed %s; %s stays, with its branch and its checkpoints", r.Removed, r.Session)
	for _, ref := range parked {
		for _, line := range waysBackTo(ctx, a.Repo, ref) {
			a.out("%s", line)
		}
	}
	if !r.Hand.S.Status.Final() {
		a.next([]string{"wfs resume " + string(r.Session),
			fmt.Sprintf("git worktree add %s wfs/%s", r.Removed, r.Session)})
	}
	return nil
}
