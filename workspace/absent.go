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

// Absent finds sessions that this clone does not have: sessions that were deleted, that were never fetched, or whose
// ledger is missing.
type Absent struct{ w *Workspace }

// Deleted is a deleted session whose refs are kept below another prefix, so that it can be restored.
type Deleted struct {
	ID        session.ID `json:"id"`
	DeletedAt int64      `json:"deleted_at"`
	Kept      string     `json:"kept"` // prefix of the kept refs, with a slash at its end
}

// Deletions returns the deletions that can be restored, the newest first.
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

// KeptOf returns the prefix of the refs that were kept when a session was last deleted, with a slash at its end. It
// returns "" if no deletion can be restored.
func (a *Absent) KeptOf(ctx context.Context, id session.ID) (string, error) {
	all, err := a.Deletions(ctx)
	if i := slices.IndexFunc(all, func(d Deleted) bool { return d.ID == id }); i >= 0 {
		return all[i].Kept, err
	}
	return "", err
}

// refusal returns a refusal that explains why this clone does not have a session: it was deleted, or not fetched. It
// returns nil if neither is known.
func (a *Absent) refusal(ctx context.Context, id session.ID) error {
	if kept, err := a.KeptOf(ctx, id); err == nil && kept != "" {
		return session.Refuse(session.RefuseNoSession, "wfs delete --restore "+string(id), "session %q was deleted", id)
	}
	if a.w.Clone.Session(id).LastTip() != "" {
		return &session.NoLedgerError{ID: id}
	}
	return a.notFetched(ctx, id)
}

// LostLedger returns an error if HEAD is on the branch of a session whose ledger is missing: no command can use such a
// session. If this clone has never opened the session, it may have to be fetched from the remote.
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

// notFetched returns a refusal if a remote has the branch of a session and this clone lacks its ledger: only the branch
// was cloned or fetched. It returns nil otherwise.
func (a *Absent) notFetched(ctx context.Context, id session.ID) error {
	remote, err := a.remoteWith(ctx, func(name string) bool { return name == string(id) })
	if err != nil || remote == "" {
		return err
	}
	return session.Refuse(session.RefuseNoSession, a.fetchCommand(ctx, remote),
		"the branch of %s is of %s, and the session itself was not fetched from there", id, remote)
}

// remoteWith returns a remote that has the branch of a session that this clone lacks, if `wanted` accepts the session's
// id. It returns "" if there is none.
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

// fetchCommand returns the git command that fetches all sessions of a remote. If HEAD is on the branch of a session,
// the command does not fetch branches, because git would refuse to move the branch that HEAD is on.
func (a *Absent) fetchCommand(ctx context.Context, remote string) string {
	command := "git fetch " + safetext.ShellWord(remote) + " 'refs/wfs/*/ledger:refs/wfs/*/ledger'"
	if head, err := a.w.Repo.Head(ctx); err == nil && !strings.HasPrefix(head.Ref, session.BranchPrefix) {
		command += " 'refs/heads/wfs/*:refs/heads/wfs/*'"
	}
	return command
}

// SomeRemote returns a remote with sessions that this clone lacks, and the command that fetches them. Both are "" if
// there is no such remote.
func (a *Absent) SomeRemote(ctx context.Context) (remote, command string) {
	remote, err := a.remoteWith(ctx, func(string) bool { return true })
	if err != nil || remote == "" {
		return "", ""
	}
	return remote, a.fetchCommand(ctx, remote)
}

// LedgerHint returns a command to restore a lost ledger. If this clone still has the commit that the ledger's ref
// pointed to, the command sets the ref to that commit. Otherwise it fetches the ledger from another clone.
func (a *Absent) LedgerHint(id session.ID) string {
	if tip := a.w.Clone.Session(id).LastTip(); tip != "" {
		if there, err := a.w.Repo.Exists(context.Background(), tip); err == nil && there {
			return fmt.Sprintf("git update-ref %s %s", session.LedgerOf(id), tip)
		}
	}
	return "another clone may have it: git fetch REMOTE " + session.LedgerOf(id) + ":" + session.LedgerOf(id)
}
