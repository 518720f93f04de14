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

// Absent describes sessions that are not in this clone: deleted, not fetched, or without their ledger.
type Absent struct{ w *Workspace }

// Deleted is a deleted session whose refs are kept.
type Deleted struct {
	ID        session.ID `json:"id"`
	DeletedAt int64      `json:"deleted_at"`
	Kept      string     `json:"kept"` // prefix of refs
}

// Deletions lists the deletions that can be restored, the newest first.
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

// KeptOf returns the prefix of the refs that the newest deletion of a session keeps, with a slash at its end, "" for
// none.
func (a *Absent) KeptOf(ctx context.Context, id session.ID) (string, error) {
	all, err := a.Deletions(ctx)
	if i := slices.IndexFunc(all, func(d Deleted) bool { return d.ID == id }); i >= 0 {
		return all[i].Kept, err
	}
	return "", err
}

// refusal returns why a named session is not in this clone, nil if there is no special reason.
func (a *Absent) refusal(ctx context.Context, id session.ID) error {
	if kept, err := a.KeptOf(ctx, id); err == nil && kept != "" {
		return session.Refuse(session.RefuseNoSession, "wfs delete --restore "+string(id), "session %q was deleted", id)
	}
	return a.notFetched(ctx, id)
}

// LostLedger returns an error if HEAD is on the branch of a session without a ledger: no command can use such a
// session. If this clone has never opened it, the clone's remote may have it.
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

// notFetched refuses a session whose branch was cloned or fetched without its ledger. It returns nil for other
// sessions.
func (a *Absent) notFetched(ctx context.Context, id session.ID) error {
	remote, err := a.remoteWith(ctx, func(name string) bool { return name == string(id) })
	if err != nil || remote == "" {
		return err
	}
	return session.Refuse(session.RefuseNoSession, a.fetchCommand(ctx, remote),
		"the branch of %s is of %s, and the session itself was not fetched from there", id, remote)
}

// remoteWith returns a remote that has the branch of a wanted session that is not in this clone, "" for none.
func (a *Absent) remoteWith(ctx context.Context, wanted func(id string) bool) (string, error) {
	refs, err := a.w.Repo.RefsBelow(ctx, "refs/remotes")
	if err != nil {
		return "", err
	}
	for _, name := range slices.Sorted(maps.Keys(refs)) {
		remote, id, is := strings.Cut(strings.TrimPrefix(name, "refs/remotes/"), "/wfs/")
		if !is || !wanted(id) {
			continue
		}
		if tip, err := a.w.Repo.Ref(ctx, session.LedgerOf(session.ID(id))); err != nil || tip == "" {
			return remote, err
		}
	}
	return "", nil
}

// fetchCommand returns the command that fetches the sessions of a remote. It omits branches if HEAD is on one of them,
// because git would refuse to move it.
func (a *Absent) fetchCommand(ctx context.Context, remote string) string {
	command := "git fetch " + safetext.ShellWord(remote) + " 'refs/wfs/*/ledger:refs/wfs/*/ledger'"
	if head, err := a.w.Repo.Head(ctx); err == nil && !strings.HasPrefix(head.Ref, session.BranchPrefix) {
		command += " 'refs/heads/wfs/*:refs/heads/wfs/*'"
	}
	return command
}

// SomeRemote returns a remote with sessions that are not in this clone, and the command that fetches them, "" for none.
func (a *Absent) SomeRemote(ctx context.Context) (remote, command string) {
	remote, err := a.remoteWith(ctx, func(string) bool { return true })
	if err != nil || remote == "" {
		return "", ""
	}
	return remote, a.fetchCommand(ctx, remote)
}

// LedgerHint returns the command that restores a ledger's ref to the commit that this clone saw last, if it still
// exists.
func (a *Absent) LedgerHint(id session.ID) string {
	if tip := a.w.Clone.Session(id).LastTip(); tip != "" {
		if there, err := a.w.Repo.Exists(context.Background(), tip); err == nil && there {
			return fmt.Sprintf("git update-ref %s %s", session.LedgerOf(id), tip)
		}
	}
	return "another clone may have it: git fetch REMOTE " + session.LedgerOf(id) + ":" + session.LedgerOf(id)
}
