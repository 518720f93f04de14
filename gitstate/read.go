package gitstate

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/wfs-dev/wfs/gitstate/gitcmd"
	"github.com/wfs-dev/wfs/session"
)

// ErrBrokenRef is returned for a ref that is there and cannot be read: empty, garbage, or a circle.
var ErrBrokenRef = errors.New("the ref is damaged")

// ErrNoRevision is returned for a name that stands for no commit.
var ErrNoRevision = errors.New("no such commit")

// Head returns where the work tree's HEAD is.
func (r *Repo) Head(ctx context.Context) (session.Head, error) {
	ref, commit, err := r.headTarget(ctx)
	if err != nil || ref == "" {
		return session.Head{Commit: commit}, err
	}
	commit, err = r.Ref(ctx, ref)
	return session.Head{Ref: ref, Commit: commit}, err
}

// headTarget returns the ref that HEAD names, or the commit of a detached HEAD.
func (r *Repo) headTarget(ctx context.Context) (ref string, commit session.Commit, err error) {
	path := filepath.Join(r.Git.GitDir, "HEAD")
	info, err := os.Lstat(path)
	// HEAD used to be a symbolic link; reading through it would make a branch look like a detached HEAD.
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
	out, err = r.Git.Run(ctx, gitcmd.Opts{}, "rev-parse", "--verify", "HEAD")
	return "", session.Commit(strings.TrimSpace(string(out))), err
}

// BranchOf returns the branch that the work tree is on, by its full name. During a rebase HEAD is detached, and the
// branch is the one that is being rebased. "" when there is none.
func (r *Repo) BranchOf(ctx context.Context) (string, error) {
	ref, _, err := r.headTarget(ctx)
	if err != nil || ref != "" {
		return ref, err
	}
	return rebasing(r.Git.GitDir)
}

// rebasing returns the branch that an unfinished rebase in a git directory will move, "" for none.
func rebasing(gitDir string) (string, error) {
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

// InProgress names an unfinished merge, rebase, cherry-pick, revert or bisect of the work tree, "" for none.
func (r *Repo) InProgress(context.Context) (string, error) {
	for _, op := range []struct{ file, name string }{
		{"rebase-merge", "rebase"},
		{"rebase-apply/applying", "am"},
		{"rebase-apply", "rebase"},
		{"MERGE_HEAD", "merge"},
		{"CHERRY_PICK_HEAD", "cherry-pick"},
		{"REVERT_HEAD", "revert"},
		{"sequencer/todo", "cherry-pick or revert"}, // between two commits of a series
		{"BISECT_LOG", "bisect"},
	} {
		_, err := os.Stat(filepath.Join(r.Git.GitDir, filepath.FromSlash(op.file)))
		if err == nil {
			return op.name, nil
		}
		if !gitcmd.Absent(err) {
			return "", err
		}
	}
	return "", nil
}

// Sessions returns the ledger tip of every session. A ledger that cannot be read is an error, beside those that can.
func (r *Repo) Sessions(ctx context.Context) (map[session.ID]session.Commit, error) {
	const dir = "refs/wfs"
	dirs, err := os.ReadDir(filepath.Join(r.Git.CommonDir, dir))
	if err != nil && !gitcmd.Absent(err) {
		return nil, err
	}
	var names []string
	for _, d := range dirs { // a session may have many refs beside its ledger
		names = append(names, refsPrefix+d.Name()+"/ledger")
	}
	refs, err := r.readRefs(ctx, names, dir, func(name string) bool { return ledgerOf(name) != "" })
	tips := make(map[session.ID]session.Commit, len(refs))
	for name, tip := range refs {
		tips[ledgerOf(name)] = tip
	}
	return tips, err
}

// ledgerOf returns the session whose ledger a ref is, "" for other refs and for names that no session can have.
func ledgerOf(ref string) session.ID {
	slug, ok := strings.CutSuffix(strings.TrimPrefix(ref, refsPrefix), "/ledger")
	if id, err := session.ParseID(slug); ok && err == nil && LedgerRef(id) == ref {
		return id
	}
	return ""
}

// Branches returns the local branches by their full names.
func (r *Repo) Branches(ctx context.Context) (map[string]session.Commit, error) {
	return r.refs(ctx, "refs/heads", func(string) bool { return true })
}

// Resolve returns the commit that a name stands for: anything that git understands. ErrNoRevision when there is none.
func (r *Repo) Resolve(ctx context.Context, rev string) (session.Commit, error) {
	out, err := r.Git.Run(ctx, gitcmd.Opts{}, "rev-parse", "--verify", "--end-of-options", rev+"^{commit}")
	var failed *gitcmd.GitError
	if errors.As(err, &failed) {
		return "", fmt.Errorf("%q: %w", rev, ErrNoRevision)
	}
	return session.Commit(strings.TrimSpace(string(out))), err
}

// IsAncestor reports whether a is b or an ancestor of b.
func (r *Repo) IsAncestor(ctx context.Context, a, b session.Commit) (bool, error) {
	if a == b {
		return true, nil
	}
	_, err := r.Git.Run(ctx, gitcmd.Opts{}, "merge-base", "--is-ancestor", string(a), string(b))
	var failed *gitcmd.GitError
	if errors.As(err, &failed) && failed.Exit == 1 {
		return false, nil
	}
	return err == nil, err
}

// Exists reports whether a commit, its whole tree and its history are there. What other refs reach is taken on trust,
// except for the commit's own tree.
func (r *Repo) Exists(ctx context.Context, c session.Commit) (bool, error) {
	for _, how := range [][]string{{"--no-walk", string(c)}, {string(c), "--not", "--all"}} {
		_, err := r.Git.Run(ctx, gitcmd.Opts{}, append([]string{"rev-list", "--objects", "--quiet"}, how...)...)
		var failed *gitcmd.GitError
		if errors.As(err, &failed) && saysMissing(failed.Stderr) {
			return false, nil
		}
		if err != nil {
			return false, err
		}
	}
	return true, nil
}

// saysMissing reports whether git complained that an object is not there, rather than that it could not look.
func saysMissing(stderr string) bool {
	for _, s := range []string{"missing ", "bad object", "bad tree object", "bad revision", "Failed to traverse parents",
		"ould not read ", "nable to read tree"} {
		if strings.Contains(stderr, s) {
			return true
		}
	}
	return false
}

// Ignored lists what the work tree ignores now. A directory that a rule matches stands for all that is in it,
// and ends in a slash. One whose files are ignored, and it is not, is no such directory, though `ls-files
// --directory` names it: the next file in it may be none of them.
func (r *Repo) Ignored(ctx context.Context) ([]string, error) {
	out, err := r.Git.Run(ctx, gitcmd.Opts{}, "status", "--porcelain", "-z", "--ignored=matching", "--untracked-files=all",
		"--no-renames", "--ignore-submodules=all")
	var ignored []string
	for _, line := range gitcmd.SplitZ(out) {
		if p, ok := strings.CutPrefix(line, "!! "); ok {
			ignored = append(ignored, p)
		}
	}
	return ignored, err
}
