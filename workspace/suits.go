package workspace

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/session"
)

// Suits refuses work trees that cannot have sessions, because snapshots and moves would include all files of the user,
// or wfs's own state.
func (p *Places) Suits(ctx context.Context) error {
	if err := p.w.OpenWriter(ctx); err != nil {
		return err
	}
	root := p.w.Repo.Root()
	unfit := func(why string) error {
		return session.Refuse(session.RefuseUsage, "cd into the repository of one project",
			"%s is %s: a session there would take everything in it for its work", root, why)
	}
	if filepath.Dir(root) == root {
		return unfit("the root of the file system")
	}
	if sameDir(root, p.w.Env.Get("HOME")) {
		return unfit("your home directory")
	}
	state, err := p.w.Env.StateDir()
	if err != nil {
		return nil // the code that needs the directory reports this
	}
	rel, err := filepath.Rel(root, state)
	if err != nil || !filepath.IsLocal(rel) {
		return nil
	}
	ignored, err := p.w.Repo.Ignored(ctx)
	if err != nil || slices.ContainsFunc(ignored, func(path string) bool {
		return strings.HasSuffix(path, "/") && strings.HasPrefix(filepath.ToSlash(rel)+"/", path)
	}) {
		return err
	}
	return session.Refuse(session.RefuseUsage, "set XDG_STATE_HOME to a directory elsewhere",
		"%s, where wfs remembers what you trust, lies in this work tree, and git does not ignore it", state)
}

func sameDir(a, b string) bool {
	x, err := os.Stat(a)
	if err != nil || b == "" {
		return false
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}
