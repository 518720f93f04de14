//go:build !badstore_refs

package gitstate

import "context"

// updateRef runs `git update-ref --stdin` with one line.
func (r *Repo) updateRef(ctx context.Context, line string, args []string) error {
	_, err := r.git(ctx, gitOpts{write: true, stdin: []byte(line + "\n")}, args...)
	return err
}
