package object

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/wfs-dev/wfs/gitstate/gitcmd"
	"github.com/wfs-dev/wfs/internal/proc"
	"github.com/wfs-dev/wfs/session"
)

// History runs git commands that read commits and their ancestry.
type History struct{ Git *gitcmd.Git }

// Bundle writes a git bundle: some refs and all objects that they reach, except the objects that the commit `without`
// reaches. If `without` is "", it excludes nothing.
func (r *History) Bundle(ctx context.Context, refs []string, without session.Commit, out io.Writer) error {
	args := append([]string{"bundle", "create", "--quiet", "-"}, refs...)
	if without != "" {
		args = append(args, "^"+string(without))
	}
	err := r.Git.Stream(ctx, gitcmd.Opts{}, nil, out, args...)
	if failed := gitcmd.Failed(err); failed != nil && failed.Stderr == "" {
		failed.Stderr = "the bundle could not be made"
	}
	return err
}

// Bundled reports whether a file is a bundle in which each of these refs points to its Old commit.
func (r *History) Bundled(ctx context.Context, file string, refs []session.RefMove) bool {
	out, err := r.Git.Ask(ctx, "bundle", "list-heads", file)
	heads := "\n" + string(out)
	for _, m := range refs {
		if !strings.Contains(heads, "\n"+string(m.Old)+" "+m.Ref+"\n") {
			return false
		}
	}
	return err == nil
}

// MergeBase returns the best common ancestor of two commits, "" if they have none.
func (r *History) MergeBase(ctx context.Context, a, b session.Commit) (session.Commit, error) {
	out, err := r.Git.Run(ctx, gitcmd.Opts{OkExit: []int{1}}, "merge-base", string(a), string(b))
	return session.Commit(strings.TrimSpace(string(out))), err
}

// Conflicts lists the paths in which a merge of two commits would conflict. tried is false if git could not merge them:
// before git 2.38, a merge needs a work tree.
func (r *History) Conflicts(ctx context.Context, a, b session.Commit) (paths []string, tried bool) {
	_, paths, err := r.MergeTrees(ctx, a, b)
	return paths, err == nil
}

// Weight returns roughly how many bytes of disk space git can free after some refs are deleted. It ignores that reflogs
// may keep objects.
func (r *History) Weight(ctx context.Context, refs []string) (int64, error) {
	if len(refs) == 0 {
		return 0, nil
	}
	args := append([]string{"rev-list", "--objects", "--disk-usage"}, refs...)
	args = append(args, "--not")
	for _, ref := range refs {
		args = append(args, "--exclude="+ref)
	}
	out, err := r.Git.Ask(ctx, append(args, "--all")...)
	if err != nil {
		return 0, err
	}
	return strconv.ParseInt(strings.TrimSpace(string(out)), 10, 64)
}

// MergeTrees merges two commits without a work tree. It returns the merged tree and the paths with conflicts. It needs
// git 2.38.
func (r *History) MergeTrees(ctx context.Context, a, b session.Commit, settings ...string) (merged session.Tree,
	conflicts []string, err error) {
	args := append(settings, "merge-tree", "--write-tree", "--name-only", "--no-messages", "-z", string(a), string(b))
	out, err := r.Git.Run(ctx, gitcmd.Opts{Write: true, OkExit: []int{1}}, args...)
	if err != nil {
		return "", nil, fmt.Errorf("merging trees (it takes git 2.38): %w", err)
	}
	fields := gitcmd.SplitZ(out)
	return session.Tree(fields[0]), fields[1:], nil
}

// ErrNoRevision is the error for a name that git cannot resolve to a commit.
var ErrNoRevision = errors.New("no such commit")

// Resolve returns the commit that a revision names, in any form that git accepts. The error wraps ErrNoRevision if git
// finds none.
func (r *History) Resolve(ctx context.Context, rev string) (session.Commit, error) {
	out, err := r.Git.Ask(ctx, "rev-parse", "--verify", "--end-of-options", rev+"^{commit}")
	if failed := gitcmd.Failed(err); failed != nil {
		return "", fmt.Errorf("%q: %w", rev, ErrNoRevision)
	}
	return session.Commit(strings.TrimSpace(string(out))), err
}

// IsAncestor reports whether a is b or an ancestor of b.
func (r *History) IsAncestor(ctx context.Context, a, b session.Commit) (bool, error) {
	if a == b {
		return true, nil
	}
	_, err := r.Git.Ask(ctx, "merge-base", "--is-ancestor", string(a), string(b))
	if failed := gitcmd.Failed(err); failed != nil && failed.Exit == 1 {
		return false, nil
	}
	return err == nil, err
}

// Exists reports whether a commit, its tree and its history are complete. It assumes that history is complete if other
// refs reach it, but always checks the commit's own tree.
func (r *History) Exists(ctx context.Context, c session.Commit) (bool, error) {
	for _, how := range [][]string{{"--no-walk", string(c)}, {string(c), "--not", "--all"}} {
		_, err := r.Git.Ask(ctx, append([]string{"rev-list", "--objects", "--quiet"}, how...)...)
		if failed := gitcmd.Failed(err); failed != nil && saysMissing(failed.Stderr) {
			return false, nil
		}
		if err != nil {
			return false, err
		}
	}
	return true, nil
}

// saysMissing reports whether an error message of git says that an object is missing, and not that git could not look
// for it.
func saysMissing(stderr string) bool {
	for _, s := range []string{"missing ", "bad object", "bad tree object", "bad revision", "Failed to traverse parents",
		"ould not read ", "nable to read tree"} {
		if strings.Contains(stderr, s) {
			return true
		}
	}
	return false
}

// DiffOptions says how DiffTo shows a difference.
type DiffOptions struct {
	Stat     bool // files and numbers of changed lines instead of the lines
	NameOnly bool // files only
	Color    bool // with the user's colours
}

// DiffTo writes the difference between two commits or trees as text. It runs no external diff program and no text
// conversion.
func (r *History) DiffTo(ctx context.Context, from, to string, o DiffOptions, w io.Writer) error {
	args := []string{"diff", EverySubmodule, "--no-ext-diff", "--no-textconv", "--color=never"}
	if o.Color {
		args[len(args)-1] = "--color=always"
	}
	if o.Stat {
		args = append(args, "--stat")
	}
	if o.NameOnly {
		args = append(args, "--name-only")
	}
	return r.stream(ctx, w, append(args, "--end-of-options", from, to, "--"))
}

// Patch writes the difference between two commits or trees for a program, with renames and with `around` unchanged
// lines around each change. It depends on no setting for diffs, and treats all files as text: an agent can write a
// .gitattributes that calls a file binary.
func (r *History) Patch(ctx context.Context, from, to string, around int, w io.Writer) error {
	return r.stream(ctx, w, []string{"-c", "core.quotePath=true", "diff-tree", EverySubmodule, "-r", "-p", "-M",
		"--no-rename-empty", "--text", "--no-ext-diff", "--no-textconv", "--no-color", "-U" + strconv.Itoa(around),
		"--end-of-options", from, to, "--"})
}

func (r *History) stream(ctx context.Context, w io.Writer, args []string) error {
	argv := append([]string{"git", "-C", r.Git.Root}, gitcmd.Quiet...)
	env := append(r.Git.Env[:len(r.Git.Env):len(r.Git.Env)], "GIT_OPTIONAL_LOCKS=0")
	var stderr bytes.Buffer
	exit, err := proc.Stream(ctx, proc.Cmd{Argv: append(argv, args...), Env: env}, w, &stderr)
	if err != nil {
		return gitcmd.NotStarted(err)
	}
	if exit != 0 {
		return &gitcmd.GitError{Args: args, Exit: exit, Stderr: stderr.String()}
	}
	return nil
}
