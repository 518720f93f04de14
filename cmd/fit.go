package cmd

import (
	"context"
	"os"
	"path/filepath"
	"strings"
)

// fit refuses work trees that no session belongs in: everything that a person has would go through snapshots and moves,
// what wfs itself remembers as well.
func (a *app) fit(ctx context.Context) error {
	if err := a.OpenWriter(ctx); err != nil {
		return err
	}
	root := a.Repo.Root()
	unfit := func(why string) error {
		return usage("cd into the repository of one project",
			"%s is %s: a session there would take everything in it for its work", root, why)
	}
	if filepath.Dir(root) == root {
		return unfit("the root of the file system")
	}
	if sameDir(root, a.env.Get("HOME")) {
		return unfit("your home directory")
	}
	state, err := a.env.StateDir()
	if err != nil {
		return nil // whoever needs it says so
	}
	rel, err := filepath.Rel(root, state)
	if err != nil || !filepath.IsLocal(rel) {
		return nil
	}
	ignored, err := a.Repo.Ignored(ctx)
	if err != nil {
		return err
	}
	for _, path := range ignored {
		if dir, ok := strings.CutSuffix(path, "/"); ok && strings.HasPrefix(filepath.ToSlash(rel)+"/", dir+"/") {
			return nil
		}
	}
	return usage("set XDG_STATE_HOME to a directory elsewhere",
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
