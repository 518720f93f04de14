package cmd

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/cmd/internal/present"
	"github.com/wfs-dev/wfs/internal/durable"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workspace"
)

// sayUnseen tells what runs changed beside the session, until somebody says that it was seen, and what mends it.
func (a *app) sayUnseen(ctx context.Context, s *session.Session) {
	if s.Unseen == nil {
		return
	}
	said := false
	line := func(what, mends string) {
		if !said {
			a.out("changed outside of the session while its agent ran:")
			said = true
		}
		a.out("  %s", what)
		if mends != "" {
			a.out("    to put it back: %s", mends)
		}
	}
	for _, m := range s.Unseen.Refs {
		if now, err := a.Repo.Ref(ctx, m.Ref); err != nil || now == m.Old {
			continue // it was put back
		}
		remote, branch, _ := strings.Cut(strings.TrimPrefix(m.Ref, "refs/remotes/"), "/")
		pushed := strings.HasPrefix(m.Ref, "refs/remotes/") && m.New != "" && a.Repo.Pushed(ctx, m.Ref)
		switch name := present.ShortRef(m.Ref); {
		case pushed && m.Old == "":
			line(fmt.Sprintf("%s was pushed to %s", m.New.Short(), name),
				fmt.Sprintf("git push %s --delete %s", shellWord(remote), shellWord(branch)))
		case pushed:
			line(fmt.Sprintf("%s was pushed to %s, which was at %s", m.New.Short(), name, m.Old.Short()),
				fmt.Sprintf("git push %s %s %s:refs/heads/%s", shellWord("--force-with-lease="+branch+":"+string(m.New)),
					shellWord(remote), m.Old, shellWord(branch)))
		case strings.HasPrefix(m.Ref, "refs/remotes/"): // a fetch
		case m.Old == "":
			line(fmt.Sprintf("%s was made at %s", name, m.New.Short()),
				fmt.Sprintf("git update-ref -d %s %s", shellWord(m.Ref), m.New))
		case m.New == "":
			line(fmt.Sprintf("%s was deleted; it was at %s", name, m.Old.Short()),
				fmt.Sprintf("git update-ref %s %s", shellWord(m.Ref), m.Old))
		default:
			line(fmt.Sprintf("%s was moved from %s to %s", name, m.Old.Short(), m.New.Short()),
				fmt.Sprintf("git update-ref %s %s %s", shellWord(m.Ref), m.Old, m.New))
		}
	}
	for _, f := range s.Unseen.Files {
		what, mends, put := a.watchedNow(ctx, s, f)
		if put {
			continue
		}
		if strings.HasPrefix(f, ".wfs/") && a.Repo.HasFile(ctx, s.Base, f) {
			mends = fmt.Sprintf("git -C %s checkout %s -- %s", shellWord(a.Repo.Root()), s.Base.Short(), shellWord(f))
		}
		line(what, mends)
	}
	if said {
		a.out("  once you have seen it: wfs status %s --seen", s.ID)
	}
}

// watchedNow says what became of a file beside a session, and the command that puts it back; put says that it is.
func (a *app) watchedNow(ctx context.Context, s *session.Session, f string) (what, mends string, put bool) {
	name, was := present.WatchedName(f), os.DevNull
	file := filepath.Join(a.Repo.CommonDir(), filepath.FromSlash(f))
	if strings.HasPrefix(f, ".wfs/") {
		file = filepath.Join(a.Repo.Root(), filepath.FromSlash(f))
	}
	now, err := os.Lstat(file)
	gone := errors.Is(err, fs.ErrNotExist)
	if slices.Contains(s.Unseen.Made, f) {
		what, mends, put = name+" was made", "rm "+shellWord(file), gone
	} else {
		was = a.Clone.Session(s.ID).Was(s.Unseen.Was[f], f)
		info, err := os.Lstat(was)
		if err != nil {
			return name + " was changed, made or removed", "", false
		}
		mends = "cp " + shellWord(was) + " " + shellWord(file)
		switch {
		case gone:
			what = name + " was removed"
		case !now.Mode().IsRegular():
			what, mends = name+" was replaced", "rm "+shellWord(file)+" && "+mends
		default:
			what = name + " was changed"
			before, err1 := os.ReadFile(was)
			text, err2 := durable.ReadFile(file, info.Size())
			same := err1 == nil && err2 == nil && bytes.Equal(before, text)
			if sign := map[bool]string{true: "+", false: "-"}[info.Mode()&0o100 != 0]; info.Mode()&0o100 != now.Mode()&0o100 {
				mends += " && chmod " + sign + "x " + shellWord(file)
			} else {
				put = same
			}
		}
	}
	if base := path.Base(f); !gone && !put && now.Mode().IsRegular() && (base == "config" || base == "config.worktree") {
		if keys := a.Repo.SettingsBetween(ctx, was, file); len(keys) > 0 {
			what += ": " + strings.Join(keys[:min(len(keys), present.MostSaid)], ", ")
		}
	}
	return what, mends, put
}

// sawAll records that a person has seen what runs changed beside a session.
func (a *app) sawAll(ctx context.Context, name string) error {
	h, err := a.InHand(ctx, workspace.Request{Command: "wfs status --seen", Session: name})
	if err == nil {
		err = h.Seen()
	}
	a.Close()
	return err
}

// lostLedger returns the error that says so when HEAD is on the branch of a session whose ledger is gone: with it the
// session is, for every command. One that this clone has never had in hand may be in the clone that it was cloned from.
func (a *app) lostLedger(ctx context.Context) error {
	head, err := a.Repo.Head(ctx)
	if err != nil {
		return err
	}
	id, err := session.ParseID(strings.TrimPrefix(head.Ref, session.BranchPrefix))
	if err != nil || session.BranchOf(id) != head.Ref {
		return nil
	}
	tip, err := a.Repo.Ref(ctx, session.LedgerOf(id))
	if err != nil || tip != "" {
		return err
	}
	if a.Clone.Session(id).LastTip() == "" {
		return a.notFetched(ctx, id)
	}
	return &session.NoLedgerError{ID: id}
}

// notFetched refuses a session whose branch came with git clone or git fetch, and whose ledger did not, nil for others.
func (a *app) notFetched(ctx context.Context, id session.ID) error {
	remote, err := a.remoteWith(ctx, func(name string) bool { return name == string(id) })
	if err != nil || remote == "" {
		return err
	}
	return session.Refuse(session.RefuseNoSession, a.fetchCommand(ctx, remote),
		"the branch of %s is of %s, and the session itself was not fetched from there", id, remote)
}

// remoteWith names a remote that is known to have the branch of a session that is not here, "" for none.
func (a *app) remoteWith(ctx context.Context, wanted func(id string) bool) (string, error) {
	refs, err := a.Repo.RefsBelow(ctx, "refs/remotes")
	if err != nil {
		return "", err
	}
	for _, name := range sortedKeys(refs) {
		remote, id, is := strings.Cut(strings.TrimPrefix(name, "refs/remotes/"), "/wfs/")
		if !is || !wanted(id) {
			continue
		}
		if tip, err := a.Repo.Ref(ctx, session.LedgerOf(session.ID(id))); err != nil || tip == "" {
			return remote, err
		}
	}
	return "", nil
}

// fetchCommand fetches the sessions of a remote. A branch that HEAD is on is here already, and git would not move it.
func (a *app) fetchCommand(ctx context.Context, remote string) string {
	command := "git fetch " + shellWord(remote) + " 'refs/wfs/*/ledger:refs/wfs/*/ledger'"
	if head, err := a.Repo.Head(ctx); err == nil && !strings.HasPrefix(head.Ref, session.BranchPrefix) {
		command += " 'refs/heads/wfs/*:refs/heads/wfs/*'"
	}
	return command
}

// sayElsewhere says that a remote has sessions that are not here.
func (a *app) sayElsewhere(ctx context.Context) {
	if remote, err := a.remoteWith(ctx, func(string) bool { return true }); err == nil && remote != "" {
		a.note("%s has sessions that were not fetched: %s", remote, a.fetchCommand(ctx, remote))
	}
}

// ledgerHint is the command that puts a ledger back where this clone saw it last, if that commit is still there.
func (a *app) ledgerHint(id session.ID) string {
	if tip := a.Clone.Session(id).LastTip(); tip != "" {
		if there, err := a.Repo.Exists(context.Background(), tip); err == nil && there {
			return fmt.Sprintf("git update-ref %s %s", session.LedgerOf(id), tip)
		}
	}
	return "another clone may have it: git fetch REMOTE " + session.LedgerOf(id) + ":" + session.LedgerOf(id)
}
