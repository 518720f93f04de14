package gitstate

import (
	"context"
	"path/filepath"

	"github.com/wfs-dev/wfs/gitstate/gitcmd"
	"github.com/wfs-dev/wfs/gitstate/room"
	"github.com/wfs-dev/wfs/session"
)

// rooms are those for gates of this work tree.
func (r *Repo) rooms() *room.Set {
	return &room.Set{Root: r.Git.Root, CommonDir: r.Git.CommonDir, Memory: filepath.Join(r.Git.StateDir(), "rooms"),
		Format: r.Git.Format,
		Git: func(ctx context.Context, c room.Call, args ...string) ([]byte, error) {
			in, o := r.Git, gitcmd.Opts{GitDir: c.GitDir, Stdin: c.Stdin, OkExit: c.OkExit}
			if c.Dir != "" {
				in = gitcmd.New(gitcmd.Place{Root: c.Dir, Env: r.Git.Env, UserEnv: r.Git.UserEnv})
			}
			if c.Index != "" {
				o.Env = gitcmd.WithIndex(c.Index)
			}
			return in.Run(ctx, o, args...)
		},
		Head: func(ctx context.Context) (session.Commit, int64, error) {
			head, err := r.Refs.Head(ctx)
			if err != nil || head.Commit == "" {
				return "", 0, err
			}
			info, err := r.Objects.CommitInfo(ctx, head.Commit)
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
