package gitstate

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/gitstate/gitcmd"
	"github.com/wfs-dev/wfs/internal/durable"
	"github.com/wfs-dev/wfs/session"
)

// IgnoredBefore lists untracked paths that an exclude file names one by one, because they were ignored once, and that
// the repository's own rules do not ignore by now. What its guard holds out is none of them.
func (r *Repo) IgnoredBefore(ctx context.Context, exclude string) ([]string, error) {
	text, err := durable.ReadFile(exclude, maxRules)
	if err != nil {
		return nil, err
	}
	rules, g := session.SplitGuard(text)
	var there []string
	for line := range strings.Lines(string(rules)) {
		p := session.ExcludedPath(strings.TrimSuffix(line, "\n"))
		if p == "" || g.Allows(p) {
			continue
		}
		if _, err := r.lstat(strings.TrimSuffix(p, "/")); err == nil {
			there = append(there, p)
		}
	}
	if len(there) == 0 {
		return nil, nil
	}
	ignored, err := r.ignoredNow(ctx, there)
	if err != nil {
		return nil, err
	}
	x, err := r.Objects.ReadIndex(ctx, r.Git.IndexPath())
	return slices.DeleteFunc(there, func(p string) bool {
		return ignored[p] || err == nil && x.Tracks(strings.TrimSuffix(p, "/"))
	}), err
}

// Ignores returns those of some paths that the repository's and the user's rules ignore.
func (r *Repo) Ignores(ctx context.Context, paths []string) (map[string]bool, error) {
	return r.ignoredNow(ctx, paths)
}

// Tracked reports whether git tracks a path in a work tree, which is this one or "main". Capital letters do not count:
// on some systems they are the same file.
func (r *Repo) Tracked(ctx context.Context, worktree, path string) (bool, error) {
	index := r.Git.IndexPath()
	if worktree != r.Git.Worktree {
		index = filepath.Join(r.Git.CommonDir, "index")
	}
	out, err := r.Git.Run(ctx, gitcmd.Opts{Env: gitcmd.WithIndex(index)}, "ls-files", "-z", "--", ":(top,icase)"+path)
	return len(out) > 0, err
}
