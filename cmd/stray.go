package cmd

import (
	"context"
	"fmt"
	"strings"

	"github.com/wfs-dev/wfs/session"
)

// sayStrayed tells what changed in the repository, beside the session, while a run went on.
func sayStrayed(say func(format string, args ...any), b session.Strayed) {
	for _, m := range b.Refs {
		name := shortRef(m.Ref)
		switch {
		case m.Old == "":
			say("    during the run, %s was made at %s", name, m.New.Short())
		case m.New == "":
			say("    during the run, %s was deleted; it was at %s, which is kept", name, m.Old.Short())
		default:
			say("    during the run, %s was moved from %s to %s", name, m.Old.Short(), m.New.Short())
		}
	}
	for _, f := range b.Files {
		say("    during the run, .git/%s was changed", f)
	}
	for _, l := range b.Locks {
		say("    git's lock .git/%s had been left behind by a process that is dead, and was set aside", l)
	}
}

// strayedText is the same in a few words.
func strayedText(b session.Strayed) string {
	var names []string
	for _, m := range b.Refs {
		names = append(names, shortRef(m.Ref))
	}
	for _, f := range b.Files {
		names = append(names, ".git/"+f)
	}
	for _, l := range b.Locks {
		names = append(names, "lock .git/"+l+" set aside")
	}
	return strings.Join(names, ", ")
}

// lostLedger returns the error that says so when HEAD is on the branch of a session whose ledger is gone: with it the
// session is, for every command. Sessions that this clone has never had in hand are none.
func (a *app) lostLedger(ctx context.Context) error {
	head, err := a.repo.Head(ctx)
	if err != nil {
		return err
	}
	id, err := session.ParseID(strings.TrimPrefix(head.Ref, session.BranchPrefix))
	if err != nil || session.BranchOf(id) != head.Ref || a.clone.LastTip(id) == "" {
		return nil
	}
	tip, err := a.repo.Ref(ctx, session.LedgerOf(id))
	if err != nil || tip != "" {
		return err
	}
	return &session.NoLedgerError{ID: id}
}

// ledgerHint is the command that puts a ledger back where this clone saw it last, if that commit is still there.
func (a *app) ledgerHint(id session.ID) string {
	if what, _ := a.repo.InPlaceOf(session.LedgerOf(id)); what != "" {
		return repairCommand
	}
	if tip := a.clone.LastTip(id); tip != "" {
		if there, err := a.repo.Exists(context.Background(), tip); err == nil && there {
			return fmt.Sprintf("git update-ref %s %s", session.LedgerOf(id), tip)
		}
	}
	return "another clone may have it: git fetch REMOTE " + session.LedgerOf(id) + ":" + session.LedgerOf(id)
}
