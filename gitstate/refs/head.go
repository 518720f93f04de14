package refs

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/wfs-dev/wfs/gitstate/gitcmd"
	"github.com/wfs-dev/wfs/internal/durable"
	"github.com/wfs-dev/wfs/session"
)

// ErrBrokenRef is the error for a ref that exists but cannot be read: it is empty, contains garbage, or refers to
// itself.
var ErrBrokenRef = errors.New("the ref is damaged")

// Head returns the branch and the commit of the work tree's HEAD.
func (r *Refs) Head(ctx context.Context) (session.Head, error) {
	ref, commit, err := r.headTarget(ctx)
	if err != nil || ref == "" {
		return session.Head{Commit: commit}, err
	}
	commit, err = r.Ref(ctx, ref)
	return session.Head{Ref: ref, Commit: commit}, err
}

// headTarget returns the ref that HEAD names, or the commit of a detached HEAD.
func (r *Refs) headTarget(ctx context.Context) (ref string, commit session.Commit, err error) {
	path := filepath.Join(r.Git.GitDir, "HEAD")
	info, err := os.Lstat(path)
	// Old versions of git made HEAD a symbolic link. To read through that link would make a branch look like a detached
	// HEAD.
	if r.Git.ReadsDirectly() && err == nil && info.Mode().IsRegular() {
		data, err := gitcmd.ReadBounded(path, gitcmd.MaxRef)
		if err != nil {
			return "", "", err
		}
		return r.parseRef("HEAD", data)
	}
	out, err := r.Git.Run(ctx, gitcmd.Opts{OkExit: []int{1}}, "symbolic-ref", "-q", "HEAD")
	if err != nil {
		return "", "", err
	}
	if ref = strings.TrimSpace(string(out)); ref != "" {
		return ref, "", nil
	}
	out, err = r.Git.Ask(ctx, "rev-parse", "--verify", "HEAD")
	return "", session.Commit(strings.TrimSpace(string(out))), err
}

// BranchOf returns the full name of the branch that the work tree is on, "" if it is on none. During a rebase, HEAD is
// detached; then BranchOf returns the branch that is rebased.
func (r *Refs) BranchOf(ctx context.Context) (string, error) {
	ref, _, err := r.headTarget(ctx)
	if err != nil || ref != "" {
		return ref, err
	}
	return Rebasing(r.Git.GitDir)
}

// Rebasing returns the branch that an unfinished rebase in a git directory will move, "" if there is none.
func Rebasing(gitDir string) (string, error) {
	for _, dir := range []string{"rebase-merge", "rebase-apply"} {
		data, err := gitcmd.ReadFile(filepath.Join(gitDir, dir, "head-name"))
		if err == nil {
			if name := strings.TrimSpace(string(data)); strings.HasPrefix(name, "refs/") {
				return name, nil
			}
			continue // a rebase of a detached HEAD
		}
		if !gitcmd.Absent(err) {
			return "", err
		}
	}
	return "", nil
}

// Sessions returns the newest ledger commit of every session. If some ledgers cannot be read, it returns the others
// together with an error.
func (r *Refs) Sessions(ctx context.Context) (map[session.ID]session.Commit, error) {
	const dir = "refs/wfs"
	dirs, err := os.ReadDir(filepath.Join(r.Git.CommonDir, dir))
	if err != nil && !gitcmd.Absent(err) {
		return nil, err
	}
	var names []string
	for _, d := range dirs { // do not list all refs: a session may have many others
		names = append(names, RefsPrefix+d.Name()+"/ledger")
	}
	refs, err := r.read(ctx, names, dir, func(name string) bool { return LedgerOf(name) != "" })
	tips := make(map[session.ID]session.Commit, len(refs))
	for name, tip := range refs {
		tips[LedgerOf(name)] = tip
	}
	return tips, err
}

// Stamp returns a text that changes when a session's ledger moves. For the id "", it changes when Sessions may find
// other sessions, or may find ledgers that are not files elsewhere. Stamp opens no file.
func (r *Refs) Stamp(id session.ID) (stamp string) {
	if id != "" {
		return durable.Stamp(r.refPath(LedgerRef(id)))
	}
	for _, name := range []string{"refs/wfs", "packed-refs", "reftable/tables.list"} {
		stamp += durable.Stamp(filepath.Join(r.Git.CommonDir, name))
	}
	return stamp
}

// LedgerOf returns the session to which a ledger's ref belongs. It returns "" for other refs and for invalid session
// names.
func LedgerOf(ref string) session.ID {
	slug, ok := strings.CutSuffix(strings.TrimPrefix(ref, RefsPrefix), "/ledger")
	if id, err := session.ParseID(slug); ok && err == nil && LedgerRef(id) == ref {
		return id
	}
	return ""
}

// Branches returns the commits of the local branches, by their full names.
func (r *Refs) Branches(ctx context.Context) (map[string]session.Commit, error) {
	return r.RefsBelow(ctx, "refs/heads")
}
