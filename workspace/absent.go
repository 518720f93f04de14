package workspace

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/wfs-dev/wfs/engine/transition"
	"github.com/wfs-dev/wfs/internal/safetext"
	"github.com/wfs-dev/wfs/session"
)

// Absent knows the sessions that are not here: deleted, not fetched, or without their ledger.
type Absent struct{ w *Workspace }

// Deleted is a session that was deleted and is kept.
type Deleted struct {
	ID        session.ID `json:"id"`
	DeletedAt int64      `json:"deleted_at"`
	Kept      string     `json:"kept"` // prefix of refs
}

// Deletions lists what was deleted and is kept, the newest first.
func (a *Absent) Deletions(ctx context.Context) ([]Deleted, error) {
	refs, err := a.w.Repo.RefsBelow(ctx, strings.TrimSuffix(transition.DeletedPrefix, "/"))
	if err != nil {
		return nil, err
	}
	var all []Deleted
	for name := range refs {
		parts := strings.SplitN(strings.TrimPrefix(name, transition.DeletedPrefix), "/", 3)
		id, err := session.ParseID(parts[0])
		if err != nil || len(parts) < 3 {
			continue
		}
		when, err := strconv.ParseInt(parts[1], 10, 64)
		if d := (Deleted{id, when, fmt.Sprintf("%s%s/%d/", transition.DeletedPrefix, id, when)}); err == nil &&
			!slices.Contains(all, d) {
			all = append(all, d)
		}
	}
	slices.SortFunc(all, func(x, y Deleted) int {
		return cmp.Or(cmp.Compare(y.DeletedAt, x.DeletedAt), cmp.Compare(x.ID, y.ID))
	})
	return all, nil
}

// KeptOf is the directory of the refs that the newest deletion of a session keeps, with a slash at its end, ""
// for none.
func (a *Absent) KeptOf(ctx context.Context, id session.ID) (string, error) {
	all, err := a.Deletions(ctx)
	if i := slices.IndexFunc(all, func(d Deleted) bool { return d.ID == id }); i >= 0 {
		return all[i].Kept, err
	}
	return "", err
}

// refusal says why a session that was named is not here, nil for no special reason.
func (a *Absent) refusal(ctx context.Context, id session.ID) error {
	if kept, err := a.KeptOf(ctx, id); err == nil && kept != "" {
		return session.Refuse(session.RefuseNoSession, "wfs delete --restore "+string(id), "session %q was deleted", id)
	}
	return a.notFetched(ctx, id)
}

// LostLedger returns the error that says so when HEAD is on the branch of a session whose ledger is gone: with it the
// session is, for every command. One that this clone has never had in hand may be in the clone that it was cloned from.
func (a *Absent) LostLedger(ctx context.Context) error {
	head, err := a.w.Repo.Head(ctx)
	if err != nil {
		return err
	}
	id, err := session.ParseID(strings.TrimPrefix(head.Ref, session.BranchPrefix))
	if err != nil || session.BranchOf(id) != head.Ref {
		return nil
	}
	tip, err := a.w.Repo.Ref(ctx, session.LedgerOf(id))
	if err != nil || tip != "" {
		return err
	}
	if a.w.Clone.Session(id).LastTip() == "" {
		return a.notFetched(ctx, id)
	}
	return &session.NoLedgerError{ID: id}
}

// notFetched refuses a session whose branch came with git clone or git fetch, and whose ledger did not, nil for others.
func (a *Absent) notFetched(ctx context.Context, id session.ID) error {
	remote, err := a.remoteWith(ctx, func(name string) bool { return name == string(id) })
	if err != nil || remote == "" {
		return err
	}
	return session.Refuse(session.RefuseNoSession, a.fetchCommand(ctx, remote),
		"the branch of %s is of %s, and the session itself was not fetched from there", id, remote)
}

// remoteWith names a remote that is known to have the branch of a session that is not here, "" for none.
func (a *Absent) remoteWith(ctx context.Context, wanted func(id string) bool) (string, error) {
	refs, err := a.w.Repo.RefsBelow(ctx, "refs/remotes")
	if err != nil {
		return "", err
	}
	here, err := a.w.Repo.Sessions(ctx)
	if err != nil {
		return "", err
	}
	for _, name := range slices.Sorted(maps.Keys(refs)) {
		remote, id, is := strings.Cut(strings.TrimPrefix(name, "refs/remotes/"), "/wfs/")
		if _, has := here[session.ID(id)]; is && !has && wanted(id) {
			return remote, nil
		}
	}
	return "", nil
}

// fetchCommand fetches the sessions of a remote. A branch that HEAD is on is here already, and git would not move it.
func (a *Absent) fetchCommand(ctx context.Context, remote string) string {
	command := "git fetch " + safetext.ShellWord(remote) + " 'refs/wfs/*/ledger:refs/wfs/*/ledger'"
	if head, err := a.w.Repo.Head(ctx); err == nil && !strings.HasPrefix(head.Ref, session.BranchPrefix) {
		command += " 'refs/heads/wfs/*:refs/heads/wfs/*'"
	}
	return command
}

// SomeRemote names a remote that has sessions which are not here, and the command that fetches them, "" for none.
func (a *Absent) SomeRemote(ctx context.Context) (remote, command string) {
	remote, err := a.remoteWith(ctx, func(string) bool { return true })
	if err != nil || remote == "" {
		return "", ""
	}
	return remote, a.fetchCommand(ctx, remote)
}

// LedgerHint is the command that puts a ledger back where this clone saw it last, if that commit is still there.
func (a *Absent) LedgerHint(id session.ID) string {
	if tip := a.w.Clone.Session(id).LastTip(); tip != "" {
		if there, err := a.w.Repo.Exists(context.Background(), tip); err == nil && there {
			return fmt.Sprintf("git update-ref %s %s", session.LedgerOf(id), tip)
		}
	}
	return "another clone may have it: git fetch REMOTE " + session.LedgerOf(id) + ":" + session.LedgerOf(id)
}
