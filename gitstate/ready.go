package gitstate

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/wfs-dev/wfs/gitstate/gitcmd"
	"github.com/wfs-dev/wfs/gitstate/object"
	"github.com/wfs-dev/wfs/gitstate/refs"
	"github.com/wfs-dev/wfs/gitstate/snapshot"
	"github.com/wfs-dev/wfs/session"
)

// Ready checks that wfs can write here, before anything is written. It returns a *ReadyError or *LockedError if not. A
// detached HEAD is an error unless `detached` is true.
func (r *Repo) Ready(ctx context.Context, detached bool) error {
	if err := r.Fit(ctx, detached); err != nil {
		return err
	}
	if err := r.Git.Locks.AwaitRefLocks(ctx); err != nil {
		return err
	}
	return r.Git.Locks.AwaitIndexLock(ctx)
}

// Fit checks the same as Ready, except for locks. Commands that only report use it.
func (r *Repo) Fit(ctx context.Context, detached bool) error {
	operation, err := r.InProgress(ctx)
	if err != nil {
		return err
	}
	if operation != "" {
		return &gitcmd.ReadyError{Code: gitcmd.NotDone, Detail: operation}
	}
	head, err := r.Refs.Head(ctx)
	if err != nil {
		return err
	}
	if head.Commit == "" {
		return r.noCommit(ctx, head)
	}
	if head.Ref == "" && !detached {
		return &gitcmd.ReadyError{Code: gitcmd.NotOnBranch, Detail: string(head.Commit)}
	}
	if err := r.namesFree(ctx); err != nil {
		return err
	}
	x, err := r.Objects.ReadIndex(ctx, r.Git.IndexPath())
	if failed := gitcmd.Failed(err); failed != nil && failed.Exit == gitcmd.GitDied {
		said, _, _ := strings.Cut(failed.Stderr, "\n")
		return &gitcmd.ReadyError{Code: gitcmd.NotWhole, Detail: strings.TrimPrefix(said, "error: ")}
	}
	if err != nil {
		return err
	}
	if info := x.Info(); len(info.Unmerged) > 0 {
		return snapshot.Unmerged(info)
	}
	return nil
}

// namesFree returns an error if a ref has the name of a directory in which wfs keeps refs: git could not create them.
func (r *Repo) namesFree(ctx context.Context) error {
	for _, name := range []string{refs.BranchPrefix, refs.RefsPrefix, refs.OpsPrefix, refs.DeletedPrefix} {
		name = strings.TrimSuffix(name, "/")
		c, err := r.Refs.Ref(ctx, name)
		if err != nil {
			return err
		}
		if c != "" {
			return &gitcmd.ReadyError{Code: gitcmd.NotNamespace, Detail: name}
		}
	}
	return nil
}

// Able checks further conditions for writing: git is new enough, and the user's exclude rules can be read. It may have
// to ask git for these, if Open has not received the answers.
func (r *Repo) Able(ctx context.Context) error {
	if _, err := r.Git.Answers.Version(ctx); err != nil {
		return err
	}
	_, err := r.Git.Answers.Identity(ctx)
	if err == nil {
		_, err = r.Settings.UserExcludes(ctx)
	}
	return err
}

// Identified returns a *ReadyError if neither the configuration nor the environment gives an identity for commits.
func (r *Repo) Identified(ctx context.Context) error {
	_, err := r.Git.Answers.Committer(ctx)
	var said *gitcmd.GitError
	if errors.As(err, &said) {
		return &gitcmd.ReadyError{Code: gitcmd.NotIdentified, Detail: gitcmd.LastLine(said.Stderr)}
	}
	return err
}

// Used reports whether wfs has stored anything for this work tree before.
func (r *Repo) Used() bool {
	_, err := os.Stat(r.Git.PrivateDir())
	return err == nil
}

// noCommit returns the error for a HEAD without a commit: either the repository has no commits at all, or only the
// current branch has none.
func (r *Repo) noCommit(ctx context.Context, head session.Head) error {
	branches, err := r.Refs.Branches(ctx)
	if err != nil || len(branches) == 0 {
		return object.Join(err, &gitcmd.ReadyError{Code: gitcmd.NotCommitted, Detail: ""})
	}
	return &gitcmd.ReadyError{Code: gitcmd.NotBorn, Detail: strings.TrimPrefix(head.Ref, "refs/heads/")}
}

// InProgress returns the name of an operation of git that is unfinished in the work tree (for example merge, rebase or
// bisect), or "" if there is none.
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
