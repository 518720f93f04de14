package gitstate

import (
	"context"
	"path/filepath"

	"github.com/wfs-dev/wfs/gitstate/room"
	"github.com/wfs-dev/wfs/session"
)

// rooms are those for gates of this work tree.
func (r *Repo) rooms() *room.Set {
	return &room.Set{Root: r.root, CommonDir: r.commonDir, Memory: filepath.Join(r.StateDir(), "rooms"), Format: r.format,
		Git: func(ctx context.Context, c room.Call, args ...string) ([]byte, error) {
			in, o := r, gitOpts{gitDir: c.GitDir, stdin: c.Stdin, okExit: c.OkExit}
			if c.Dir != "" {
				in = &Repo{root: c.Dir, env: r.env, userEnv: r.userEnv}
			}
			if c.Index != "" {
				o.env = withIndex(c.Index)
			}
			return in.git(ctx, o, args...)
		},
		Head: func(ctx context.Context) (session.Commit, int64, error) {
			head, err := r.Head(ctx)
			if err != nil || head.Commit == "" {
				return "", 0, err
			}
			info, err := r.CommitInfo(ctx, head.Commit)
			return head.Commit, info.At, err
		},
		Worktrees: func(ctx context.Context) (paths []string, err error) {
			trees, err := r.Worktrees(ctx)
			for _, t := range trees {
				paths = append(paths, t.Path)
			}
			return paths, err
		},
	}
}
