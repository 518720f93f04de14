package gitstate

import (
	"context"
	"errors"
	"io"
	"strings"

	"github.com/wfs-dev/wfs/gitstate/gitcmd"
	"github.com/wfs-dev/wfs/session"
)

// Bundle writes a git bundle of some refs and everything that they reach. What without reaches is left out; ""
// is nothing.
func (r *Repo) Bundle(ctx context.Context, refs []string, without session.Commit, out io.Writer) error {
	args := append([]string{"bundle", "create", "--quiet", "-"}, refs...)
	if without != "" {
		args = append(args, "^"+string(without))
	}
	err := r.Git.Stream(ctx, gitcmd.Opts{}, nil, out, args...)
	var failed *gitcmd.GitError
	if errors.As(err, &failed) && failed.Stderr == "" {
		failed.Stderr = "the bundle could not be made"
	}
	return err
}

// Bundled reports whether a file is a bundle that has these refs, at the commits that they are at.
func (r *Repo) Bundled(ctx context.Context, file string, refs []session.RefMove) bool {
	out, err := r.Git.Run(ctx, gitcmd.Opts{}, "bundle", "list-heads", file)
	heads := "\n" + string(out)
	for _, m := range refs {
		if !strings.Contains(heads, "\n"+string(m.Old)+" "+m.Ref+"\n") {
			return false
		}
	}
	return err == nil
}
