package room

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/internal/durable"
	"github.com/wfs-dev/wfs/session"
)

// OwnEnviron returns the environment variables for commands in this work tree. If the user has activated a Python
// virtual environment of another work tree, and this work tree has one of its own at the same path, OwnEnviron
// activates its own: the other may import the project's modules from the other work tree.
func (s *Set) OwnEnviron(ctx context.Context, env []string) []string {
	active := ""
	for _, entry := range env {
		if value, is := strings.CutPrefix(entry, "VIRTUAL_ENV="); is {
			active = value
		}
	}
	own := s.ownEnvironment(ctx, active)
	if own == "" {
		return env
	}
	lead := session.CleanTree{Root: own, Live: []string{active}}
	env = slices.Clone(env)
	for i, entry := range env {
		if name, _, _ := strings.Cut(entry, "="); name == "VIRTUAL_ENV" || name == "PATH" {
			env[i] = lead.Lead(entry)
		}
	}
	return env
}

// ownEnvironment returns the virtual environment of this work tree that corresponds to one of another work tree, ""
// if there is none, or if it is only a link to a directory outside of this work tree.
func (s *Set) ownEnvironment(ctx context.Context, active string) string {
	above, err := filepath.EvalSymlinks(filepath.Dir(active))
	if err != nil || !filepath.IsAbs(active) {
		return ""
	}
	here, err := filepath.EvalSymlinks(s.Git.Root)
	trees, err2 := s.Trees.Worktrees(ctx)
	if err != nil || err2 != nil {
		return ""
	}
	top := "" // the innermost work tree around the environment
	for _, t := range trees {
		if dir, err := filepath.EvalSymlinks(t.Path); err == nil && durable.Inside(above, dir) && len(dir) > len(top) {
			top = dir
		}
	}
	rel, err := filepath.Rel(top, filepath.Join(above, filepath.Base(active)))
	if top == "" || top == here || err != nil {
		return ""
	}
	own := s.live(filepath.ToSlash(rel))
	if real, err := filepath.EvalSymlinks(own); err != nil || !durable.Inside(real, here) || !isEnvironment(own) {
		return ""
	}
	return own
}
