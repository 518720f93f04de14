package gitstate

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/wfs-dev/wfs/gitstate/gitcmd"
	"github.com/wfs-dev/wfs/session"
)

// ReadyError says why wfs will not write to this repository now.
type ReadyError struct {
	Code   string // one of the Not… constants
	Detail string
}

// The codes of ReadyError.
const (
	NotCommitted  = "no_commits"  // there is no commit yet
	NotBorn       = "unborn"      // HEAD is on a branch without commits, and there are others
	NotOnBranch   = "detached"    // HEAD is on no branch
	NotDone       = "in_progress" // Detail is "merge", "rebase", …
	NotMerged     = "unmerged"    // the index has conflicts
	NotIdentified = "identity"    // neither configuration nor environment say who commits
	NotNamespace  = "namespace"   // a branch is called wfs, so that none can be called wfs/…
	NotExcludes   = "excludes"    // the user's exclude file cannot be read
	NotWhole      = "index"       // the index is damaged
)

// notReady says why in words; DETAIL stands for the detail.
var notReady = map[string]string{
	NotCommitted:  "the repository has no commits yet",
	NotBorn:       "HEAD is on DETAIL, which has no commit yet",
	NotOnBranch:   "HEAD is detached: it is on no branch",
	NotDone:       "a DETAIL is in progress",
	NotMerged:     "the index has unmerged paths: DETAIL",
	NotIdentified: "git does not know who you are: DETAIL",
	NotNamespace:  "DETAIL exists, so git cannot keep refs below that name",
	NotExcludes:   "your exclude file cannot be used: DETAIL",
	NotWhole:      "the index is damaged: DETAIL",
}

func (e *ReadyError) Error() string { return strings.Replace(notReady[e.Code], "DETAIL", e.Detail, 1) }

// Ready reports, as a *ReadyError or *LockedError, what keeps wfs from writing here, before anything is
// written. detached allows a HEAD that is on no branch.
func (r *Repo) Ready(ctx context.Context, detached bool) error {
	if err := r.Fit(ctx, detached); err != nil {
		return err
	}
	if err := r.Git.AwaitRefLocks(ctx); err != nil {
		return err
	}
	return r.Git.AwaitIndexLock(ctx)
}

// Fit is Ready for somebody who only wants to know: what is locked now is not looked at.
func (r *Repo) Fit(ctx context.Context, detached bool) error {
	operation, err := r.InProgress(ctx)
	if err != nil {
		return err
	}
	if operation != "" {
		return &ReadyError{NotDone, operation}
	}
	head, err := r.Head(ctx)
	if err != nil {
		return err
	}
	if head.Commit == "" {
		return r.noCommit(ctx, head)
	}
	if head.Ref == "" && !detached {
		return &ReadyError{NotOnBranch, string(head.Commit)}
	}
	for _, name := range []string{branchPrefix, refsPrefix, opsPrefix, deletedPrefix} {
		name = strings.TrimSuffix(name, "/")
		c, err := r.Ref(ctx, name)
		if err != nil {
			return err
		}
		if c != "" {
			return &ReadyError{NotNamespace, name}
		}
	}
	x, err := r.readIndex(ctx, r.Git.IndexPath())
	var failed *gitcmd.GitError
	if errors.As(err, &failed) && failed.Exit == gitcmd.GitDied {
		said, _, _ := strings.Cut(failed.Stderr, "\n")
		return &ReadyError{NotWhole, strings.TrimPrefix(said, "error: ")}
	}
	if err != nil {
		return err
	}
	if info := x.info(); len(info.unmerged) > 0 {
		return unmerged(info)
	}
	return nil
}

// Able reports what else keeps wfs from writing here: a git that is too old, or exclude rules that cannot be
// read. Git was asked when the repository was opened, and may still be about to answer.
func (r *Repo) Able(ctx context.Context) error {
	if _, err := r.Git.Version(ctx); err != nil {
		return err
	}
	_, err := r.Git.Identity(ctx)
	if err == nil {
		_, err = r.userExcludes(ctx)
	}
	return err
}

// Identified is a *ReadyError when neither configuration nor environment say who commits here.
func (r *Repo) Identified(ctx context.Context) error {
	_, err := r.Git.Committer(ctx)
	var said *gitcmd.GitError
	if errors.As(err, &said) {
		return &ReadyError{NotIdentified, gitcmd.LastLine(said.Stderr)}
	}
	return err
}

// Used reports whether wfs has kept something for this work tree before.
func (r *Repo) Used() bool {
	_, err := os.Stat(r.Git.PrivateDir())
	return err == nil
}

// noCommit says which of two things a HEAD without a commit is.
func (r *Repo) noCommit(ctx context.Context, head session.Head) error {
	branches, err := r.Branches(ctx)
	if err != nil || len(branches) == 0 {
		return join(err, &ReadyError{NotCommitted, ""})
	}
	return &ReadyError{NotBorn, strings.TrimPrefix(head.Ref, "refs/heads/")}
}

func unmerged(i indexInfo) error {
	const shown = 5
	names := strings.Join(i.unmerged[:min(shown, len(i.unmerged))], ", ")
	if more := len(i.unmerged) - shown; more > 0 {
		names += fmt.Sprintf(" and %d more", more)
	}
	return &ReadyError{NotMerged, names}
}
