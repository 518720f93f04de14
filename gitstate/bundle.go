package gitstate

import (
	"context"
	"errors"
	"io"

	"github.com/wfs-dev/wfs/session"
)

// Bundle writes a git bundle of some refs and everything that they reach. What without reaches is left out; "" is nothing.
func (r *Repo) Bundle(ctx context.Context, refs []string, without session.Commit, out io.Writer) error {
	args := append([]string{"bundle", "create", "--quiet", "-"}, refs...)
	if without != "" {
		args = append(args, "^"+string(without))
	}
	err := r.gitStream(ctx, gitOpts{}, nil, out, args...)
	var failed *GitError
	if errors.As(err, &failed) && failed.Stderr == "" {
		failed.Stderr = "the bundle could not be made"
	}
	return err
}
