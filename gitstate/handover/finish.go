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

// ErrBranchExists is the error if the branch to be created for a handover exists already.
var ErrBranchExists = errors.New("the branch already exists")

// ErrBranchInUse is the error if a work tree has checked out the branch of a handover while wfs was making its commit.
var ErrBranchInUse = errors.New("another work tree checked out the new branch before it had a commit")

// HookChangedError means that one of the user's hooks has changed the files to be committed. wfs hands over exactly the
// files that the gates judged, or nothing.
type HookChangedError struct{ Paths []string }

func (e *HookChangedError) Error() string {
	if len(e.Paths) == 0 {
		return "a hook made a different commit"
	}
	return "a commit hook changed files after the gates had judged them: " +
		strings.Join(e.Paths[:min(10, len(e.Paths))], ", ")
}

// CommitOnto makes one commit on a new branch (a full name) that starts at base, with the user's hooks, signing and
// identity. It uses a private git directory, so HEAD, index and work tree do not change; hooks see the work tree. The
// commit has exactly the given tree. If a hook changes the tree, the error is a *HookChangedError; hooks may change the
// message. After an error, CommitOnto removes the branch again, unless another process uses it. The error contains the
// output of hooks and signing programs, since these have no terminal to ask questions on.
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

// unused returns ErrBranchInUse if a work tree has checked out a branch: that work tree has the files of the base, and
// its next commit would undo the changes that were handed over.
func (r *Handover) unused(ctx context.Context, branch string) error {
	on, err := r.Trees.On(ctx, branch)
	if err == nil && len(on) > 0 {
		err = ErrBranchInUse
	}
	return err
}

// CreateBranch durably creates a branch (a full name) at base. The error wraps ErrBranchExists if it exists.
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

// dropBranch removes the branch of a failed handover. While hooks ran, other processes could use the branch. So it
// stays if it has a commit other than base and made (the commit of wfs, "" for none), or if a work tree has it checked
// out. In the latter case, dropBranch moves it back to base, where it was when that work tree checked it out.
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

// commitOnto makes the commit for CommitOnto. If it made a commit in spite of an error, it returns both.
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
	// --cleanup=whitespace is git's default for a message from a file; without it, `strip` in the user's configuration
	// would remove lines that begin with a '#'. Maintenance is off because it would run in a git directory that is
	// about to be removed.
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

// unhooked returns a *HookChangedError if hooks have made another commit than the requested one. It also returns the id
// of that commit if its only parent is base.
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
