package gitstate

import (
	"context"
	"fmt"
	"strings"

	"github.com/wfs-dev/wfs/gitstate/gitcmd"
	"github.com/wfs-dev/wfs/session"
)

// AbsentError says that files of a move are not in this partial clone, and could not be fetched.
type AbsentError struct {
	Files  int
	Remote string // which has promised to keep them, "" when none is configured any more
	Said   error  // what fetching them came to, nil: it brought too few
}

func (e *AbsentError) Error() string {
	text := fmt.Sprintf("%d %s not in this partial clone", e.Files,
		plural(e.Files, "file of what it would bring is", "files of what it would bring are"))
	if e.Said != nil {
		return fmt.Sprintf("%s, and cannot be fetched: %v", text, e.Said)
	}
	return text
}

func (e *AbsentError) Unwrap() error { return e.Said }

func plural(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// Present makes sure that the files are there which a move would write: of a partial clone they may be with the remote
// still. They are fetched all at once, as git does it; but git finds out only when a checkout has begun and has removed
// files. With a sparse checkout, of which some files need not be there, that is left to it.
func (r *Repo) Present(ctx context.Context, m session.Move) error {
	if len(m.Changes) == 0 || !r.promised() {
		return nil
	}
	target, err := r.withUserDir(ctx, m.To, m.From)
	if err != nil {
		return err
	}
	return r.fetchPromised(ctx, m.From, target)
}

// fetchPromised makes sure that everything is there which a tree has and another, which is there, has not.
func (r *Repo) fetchPromised(ctx context.Context, from, target session.Tree) error {
	if on, err := r.sparse(ctx); err != nil || on {
		return err
	}
	missing, err := r.missing(ctx, from, target)
	if err != nil || len(missing) == 0 {
		return err
	}
	remotes, err := r.promisors(ctx)
	if err != nil {
		return err
	}
	failed := &AbsentError{Files: len(missing)}
	for _, remote := range remotes {
		_, err := r.Git.Run(ctx, gitcmd.Opts{Write: true, Stdin: []byte(strings.Join(missing, "\n") + "\n")}, "-c",
			"fetch.negotiationAlgorithm=noop",
			"fetch", remote, "--no-tags", "--no-write-fetch-head", "--recurse-submodules=no", "--filter=blob:none", "--stdin")
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if missing, e := r.missing(ctx, from, target); e != nil || len(missing) == 0 {
			return e
		}
		failed.Remote, failed.Said = remote, err
	}
	return failed
}

// missing lists the objects that a tree has and another has not, and that are not there. It fetches none.
func (r *Repo) missing(ctx context.Context, from, to session.Tree) ([]string, error) {
	out, err := r.Git.Run(ctx, gitcmd.Opts{}, "rev-list", "--objects", "--missing=print", string(to), "--not", string(from))
	if err != nil {
		return nil, err
	}
	var ids []string
	for line := range strings.Lines(string(out)) {
		if id, ok := strings.CutPrefix(strings.TrimSpace(line), "?"); ok {
			ids = append(ids, id)
		}
	}
	return ids, nil
}

// promisors lists the remotes that have promised to keep what is not here.
func (r *Repo) promisors(ctx context.Context) ([]string, error) {
	out, err := r.Git.Run(ctx, gitcmd.Opts{OkExit: []int{1}}, "config", "-z", "--get-regexp", `^remote\..*\.promisor$`)
	var names []string
	for _, entry := range gitcmd.SplitZ(out) {
		key, value, set := strings.Cut(entry, "\n")
		if !set || gitcmd.Truth(value) {
			names = append(names, strings.TrimSuffix(strings.TrimPrefix(key, "remote."), ".promisor"))
		}
	}
	return names, err
}
