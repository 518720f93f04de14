package cmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/wfs-dev/wfs/cmd/internal/present"
	"github.com/wfs-dev/wfs/engine"
	"github.com/wfs-dev/wfs/gitstate/handover"
	"github.com/wfs-dev/wfs/session"
)

func (a *app) deleteCmd() *cobra.Command {
	var force, restore, worktree bool
	var discard discards
	c := &cobra.Command{
		Use: "delete SESSION", Short: "delete a session",
		Long: `Delete moves a session's branch, history and backups out of sight, to refs/wfs-deleted/. Nothing
becomes unreachable before wfs gc removes them permanently, after 30 days. Branches of yours are never touched.
Changes that were uncommitted on them when the session began stay as well, and are named.

It refuses when only the session has its work: no branch of yours has its current checkpoint, be it merged,
squashed, rebased or cherry-picked, nor the newest one, if you went back from that. Older ones that you went back
from, and backups, go with the session. --force deletes it anyway. A session that is checked out in a work tree is not deleted.

--worktree deletes only the linked work tree that has the session checked out, or where it was handed over. The
session, its branch and its checkpoints stay. Edits become a checkpoint first, or after the handover a backup.
Files that git ignores are in neither: those that were copied or linked from the main work tree, or that the
set-up had made, go with it if they are unchanged; others are named, and keep it from being deleted without
--discard-ignored. Edits of .wfs are in no checkpoint either, nor is work in a submodule: --discard-unsaved
deletes those.`,
		Example: "  wfs delete csv-export\n  wfs delete csv-export --force\n  wfs delete --restore csv-export\n  wfs delete --worktree csv-export --discard-ignored",
		Args: func(c *cobra.Command, args []string) error {
			if worktree {
				return upTo(1)(c, args)
			}
			return exactly(1, "the name of a session")(c, args)
		},
		RunE: func(c *cobra.Command, args []string) error {
			switch {
			case worktree && (force || restore):
				return usage("wfs delete --help", "--worktree excludes --force and --restore")
			case !worktree && discard != discards{}:
				return usage("wfs delete --help", "--discard-ignored and --discard-unsaved go with --worktree")
			case worktree:
				return a.removeTree(c.Context(), first(args), discard)
			}
			if restore {
				return a.restoreDeleted(c.Context(), args[0])
			}
			return a.delete(c.Context(), args[0], force)
		},
	}
	c.Flags().BoolVar(&force, "force", false, "delete it although only the session holds its work")
	c.Flags().BoolVar(&restore, "restore", false, "bring a deleted session back")
	c.Flags().BoolVar(&worktree, "worktree", false, "delete only the work tree of the session")
	discard.flags(c.Flags())
	return c
}

func (a *app) delete(ctx context.Context, name string, force bool) error {
	if err := a.Begin(ctx, "wfs delete", true); err != nil {
		return err
	}
	id, err := a.Resolve(ctx, name)
	if err != nil && a.Claimed != "" &&
		strings.EqualFold(strings.TrimPrefix(strings.ToLower(name), "wfs-"), string(a.Claimed)) {
		return a.sayDeleted(ctx, a.Claimed, 0, nil) // one that was killed, and that has just been completed
	}
	if err != nil {
		return err
	}
	h, err := a.HoldAndTake(ctx, "wfs delete", id)
	if err != nil {
		return err
	}
	tree, err := a.Elsewhere(ctx, id)
	if err != nil {
		return err
	}
	if tree != nil && !tree.Gone {
		hint := "wfs delete --worktree " + string(id)
		if tree.ID == "main" {
			hint = fmt.Sprintf("cd %s && wfs switch %s", tree.Path, baseBranch(ctx, a.Engine, &h.S))
		}
		return session.Refuse(session.RefuseWorktree, hint, "%s is checked out in %s", id, tree.Path)
	}
	became, err := a.became(ctx, &h.S)
	if err != nil {
		return err
	}
	if became.How == handover.FateNowhere && !force {
		return a.notMerged(ctx, &h.S)
	}
	if !force {
		if err := a.allMerged(ctx, &h.S); err != nil {
			return err
		}
	}
	if tree, err = a.Belonging(ctx, id); err != nil { // where it was handed over, if that has a work tree of its own
		var none *session.Refusal
		if tree = nil; !errors.As(err, &none) {
			return err
		}
	}
	op, err := h.Delete(ctx, "delete "+string(id), 0)
	if err != nil {
		return err
	}
	if tree != nil && tree.ID != "main" && tree.ID != a.Repo.Worktree() && !a.json {
		defer a.out("its work tree stays: git worktree remove %s", tree.Path)
	}
	return a.sayDeleted(ctx, id, op, &became)
}

// notMerged refuses to delete what only a session holds.
func (a *app) notMerged(ctx context.Context, s *session.Session) error {
	put := "wfs delete " + string(s.ID) + " --force"
	if cur, err := a.Current(ctx); err == nil && cur == s.ID {
		put = fmt.Sprintf("wfs switch %s && %s", baseBranch(ctx, a.Engine, s), put)
	}
	what := fmt.Sprintf("checkpoint %d (%s)", s.Current, s.At(s.Current).Summary)
	if f := s.Finished; f != nil && s.Status == session.StatusFinished {
		what = "what was handed over on " + strings.TrimPrefix(f.Branch, "refs/heads/")
	}
	return session.Refuse(session.RefuseNotMerged, "wfs finish, and merge it; or "+put,
		"no branch of yours has the work of %s: %s", s.ID, what)
}

// allMerged refuses to delete a session whose newest commit beside its work no branch has.
func (a *app) allMerged(ctx context.Context, s *session.Session) error {
	made, err := a.alsoMade(ctx, s)
	if made == "" || err != nil {
		return err
	}
	w, err := a.workOf(ctx, s)
	if err != nil {
		return err
	}
	w.Commit = made
	fate, err := a.Repo.Fate(ctx, w)
	if fate.How != handover.FateNowhere || err != nil {
		return err
	}
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

func (a *app) sayDeleted(ctx context.Context, id session.ID, op int64, became *handover.Fate) error {
	kept, err := a.keptOf(ctx, id)
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
	a.out("it is kept below %s until wfs gc removes it", kept)
	stays, err := a.staysLines(ctx, id)
	if err != nil {
		return err
	}
	for _, line := range stays {
		a.out("%s", line)
	}
	a.out("undo: %s (or later: wfs delete --restore %s)", a.typed("wfs undo"), id)
	return nil
}

// deletions lists what was deleted and is kept, the newest first.
func (a *app) deletions(ctx context.Context) ([]deletedJSON, error) {
	refs, err := a.Repo.RefsBelow(ctx, strings.TrimSuffix(engine.DeletedPrefix, "/"))
	if err != nil {
		return nil, err
	}
	var all []deletedJSON
	for name := range refs {
		parts := strings.SplitN(strings.TrimPrefix(name, engine.DeletedPrefix), "/", 3)
		id, err := session.ParseID(parts[0])
		if err != nil || len(parts) < 3 {
			continue
		}
		when, err := strconv.ParseInt(parts[1], 10, 64)
		if d := (deletedJSON{id, when, fmt.Sprintf("%s%s/%d/", engine.DeletedPrefix, id, when)}); err == nil &&
			!slices.Contains(all, d) {
			all = append(all, d)
		}
	}
	slices.SortFunc(all, func(x, y deletedJSON) int {
		return cmp.Or(cmp.Compare(y.DeletedAt, x.DeletedAt), cmp.Compare(x.ID, y.ID))
	})
	return all, nil
}

// keptOf is the directory of the refs that the newest deletion of a session keeps, with a slash at its end, ""
// for none.
func (a *app) keptOf(ctx context.Context, id session.ID) (string, error) {
	all, err := a.deletions(ctx)
	if i := slices.IndexFunc(all, func(d deletedJSON) bool { return d.ID == id }); i >= 0 {
		return all[i].Kept, err
	}
	return "", err
}

func (a *app) restoreDeleted(ctx context.Context, name string) error {
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
	tip, err := a.Repo.Ref(ctx, session.LedgerOf(id))
	if err != nil {
		return err
	}
	kept, err := a.keptOf(ctx, id)
	if err != nil {
		return err
	}
	var was session.Commit
	if kept != "" {
		if was, err = a.Repo.Ref(ctx, kept+"ledger"); err != nil {
			return err
		}
	}
	switch { // where both are the same, a restore was killed before the copies were gone
	case tip != "" && tip != was && a.json:
		return a.answer(recordedJSON{Version: jsonVersion, Did: "nothing", Session: id, Next: []string{}})
	case tip != "" && tip != was:
		a.out("there is a session %s: it is not deleted", id)
		return nil
	case kept == "":
		hint := "wfs list"
		if all, err := a.deletions(ctx); err == nil && len(all) > 0 {
			hint = "wfs list --deleted"
		}
		return session.Refuse(session.RefuseNoSession, hint, "no deleted session %q is kept", id)
	}
	r, err := a.Engine.Restore(ctx, id, kept)
	if err != nil {
		return err
	}
	h, err := a.Take(ctx, id)
	if err != nil {
		return err
	}
	return a.sayMoved(h, r, nil)
}
