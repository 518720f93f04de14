package handover

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/gitstate/gitcmd"
	"github.com/wfs-dev/wfs/gitstate/object"
	"github.com/wfs-dev/wfs/internal/durable"
	"github.com/wfs-dev/wfs/session"
)

// ErrBranchExists says that the branch that a handover is to make is there already.
var ErrBranchExists = errors.New("the branch already exists")

// ErrBranchInUse says that a work tree went to the branch of a handover while it was being made.
var ErrBranchInUse = errors.New("another work tree checked out the new branch before it had a commit")

// HookChangedError says that one of the user's hooks changed what was to be committed. What the gates judged is handed
// over, or nothing.
type HookChangedError struct{ Paths []string }

func (e *HookChangedError) Error() string {
	if len(e.Paths) == 0 {
		return "a hook made a different commit"
	}
	return "a commit hook changed files after the gates had judged them: " +
		strings.Join(e.Paths[:min(10, len(e.Paths))], ", ")
}

// CommitOnto makes one commit on a new branch (a full name) that starts at base, with the user's hooks, signing and
// identity, in a git directory of its own: HEAD, index and work tree stay as they are, and hooks see the work tree. The
// commit has exactly the given tree; a *HookChangedError tells of hooks that would have it otherwise. They may change
// the message. On error nothing is left behind. What hooks and signing programs print is in the error; they have no
// terminal to ask on.
func (r *Handover) CommitOnto(ctx context.Context, branch string, base session.Commit, tree session.Tree,
	message string) (session.Commit, error) {
	if !strings.HasPrefix(branch, "refs/heads/") {
		return "", fmt.Errorf("%q is not a full branch name", branch)
	}
	if err := r.CreateBranch(ctx, branch, base); err != nil {
		return "", err
	}
	durable.Hit(durable.FinishBranch)
	commit, err := r.commitOnto(ctx, branch, base, tree, message)
	if err == nil {
		durable.Hit(durable.FinishCommitted)
		err = r.unused(ctx, branch)
	}
	if err != nil {
		return "", object.Join(err, r.dropBranch(context.WithoutCancel(ctx), branch, base, commit))
	}
	return commit, nil
}

// unused is an ErrBranchInUse if a work tree is on a branch: it has the files of the base, and its next commit would
// take back what is handed over.
func (r *Handover) unused(ctx context.Context, branch string) error {
	on, err := r.Trees.On(ctx, branch)
	if err == nil && len(on) > 0 {
		err = ErrBranchInUse
	}
	return err
}

func (r *Handover) CreateBranch(ctx context.Context, branch string, base session.Commit) error {
	exists := func() error {
		if tip, err := r.Refs.Ref(ctx, branch); err != nil || tip == "" {
			return err
		}
		return fmt.Errorf("%s: %w", strings.TrimPrefix(branch, "refs/heads/"), ErrBranchExists)
	}
	if err := exists(); err != nil {
		return err
	}
	line := "create " + branch + " " + string(base) + "\n"
	if _, err := r.Git.Run(ctx, gitcmd.Opts{Write: true, Stdin: []byte(line)}, "update-ref", "-m", "wfs: finish",
		"--stdin"); err != nil {
		if now := exists(); now != nil {
			return now
		}
		return err
	}
	if err := r.Refs.SyncRef(branch, true); err != nil {
		return object.Join(err, r.dropBranch(context.WithoutCancel(ctx), branch, base, ""))
	}
	return nil
}

// dropBranch removes the branch of a handover that failed. While hooks ran everybody could see it: it stays
// when it is neither at its base nor at the commit that we made, if any, and when a work tree is on it. That
// one finds it at its base, as it was when it came.
func (r *Handover) dropBranch(ctx context.Context, branch string, base, made session.Commit) error {
	tip, err := r.Refs.Ref(ctx, branch)
	if err != nil || tip == "" {
		return err
	}
	name := strings.TrimPrefix(branch, "refs/heads/")
	if tip != base && tip != made {
		return fmt.Errorf("the branch %s was left at %s, a commit that wfs did not make", name, tip.Short())
	}
	on, err := r.Trees.On(ctx, branch)
	if err != nil {
		return err
	}
	if len(on) > 0 {
		if tip != base {
			if err := r.Refs.Move(ctx, session.RefMove{Ref: branch, Old: tip, New: base}, "wfs: finish undone"); err != nil {
				return err
			}
		}
		return fmt.Errorf("the branch %s was left at %s, where it began: the work tree %s is on it", name, base.Short(),
			on[0].Path)
	}
	return r.Refs.Move(ctx, session.RefMove{Ref: branch, Old: tip}, "")
}

// commitOnto makes the commit of CommitOnto. Beside an error it returns the one that was made all the same, if any.
func (r *Handover) commitOnto(ctx context.Context, branch string, base session.Commit, tree session.Tree,
	message string) (session.Commit, error) {
	v, err := r.Git.Answers.Version(ctx)
	if err != nil {
		return "", err
	}
	dir := filepath.Join(r.Git.PrivateDir(), "finish")
	if err := r.Git.MakeGitDir(dir, "ref: "+branch); err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	if _, err := r.Git.Run(ctx, gitcmd.Opts{GitDir: dir, Write: true}, "read-tree",
		string(tree)); err != nil {
		return "", err
	}
	file := filepath.Join(dir, "WFS_MSG")
	if err := os.WriteFile(file, []byte(message), 0o600); err != nil {
		return "", err
	}
	// Git's own choice for a message from a file; `strip` in the user's configuration would take lines that begin with
	// a '#'. Maintenance would run in a git directory that is about to vanish.
	args := append(v.FsyncArgs(), "-c", "gc.auto=0", "-c", "maintenance.auto=false", "-c", "i18n.commitEncoding=UTF-8",
		"-c", "core.splitIndex=false", "commit", "--quiet", "--allow-empty", "--cleanup=whitespace", "--file="+file)
	if _, err := r.Git.Run(ctx, gitcmd.Opts{GitDir: dir, User: true, Refs: []string{branch}}, args...); err != nil {
		if failed := gitcmd.Failed(err); failed != nil {
			failed.Args = []string{"commit"}
		}
		return "", err
	}
	tip, err := r.Refs.Ref(ctx, branch)
	if err != nil {
		return "", err
	}
	if made, err := r.unhooked(ctx, base, tip, tree); err != nil {
		return made, err
	}
	return tip, r.Refs.SyncRef(branch, true)
}

// unhooked is a *HookChangedError when hooks made another commit than was asked for, beside that commit if it
// is made upon the base alone.
func (r *Handover) unhooked(ctx context.Context, base, tip session.Commit, tree session.Tree) (session.Commit, error) {
	info, err := r.Objects.CommitInfo(ctx, tip)
	if err != nil {
		return "", err
	}
	alone := slices.Equal(info.Parents, []session.Commit{base})
	if info.Tree != tree {
		changes, err := r.Objects.Changes(ctx, tree, info.Tree)
		changed := &HookChangedError{}
		for _, c := range changes {
			changed.Paths = append(changed.Paths, c.Path)
		}
		if !alone {
			tip = ""
		}
		return tip, object.Join(changed, err)
	}
	if !alone {
		return "", &HookChangedError{}
	}
	return tip, nil
}
