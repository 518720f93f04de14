// Package room makes rooms: directories that contain one tree of a repository, with installed packages, and nothing
// else of a work tree. Gates run there. It also brings files that are not in git to new work trees.
package room

import (
	"context"
	"os"
	"path/filepath"
	"sync"

	"github.com/wfs-dev/wfs/gitstate/gitcmd"
	"github.com/wfs-dev/wfs/gitstate/object"
	"github.com/wfs-dev/wfs/gitstate/refs"
	"github.com/wfs-dev/wfs/gitstate/worktree"
	"github.com/wfs-dev/wfs/session"
)

// Set makes the rooms of a repository. It copies packages and further files from one work tree, the live one.
type Set struct {
	Git     *gitcmd.Git
	Objects *object.Store
	Refs    *refs.Refs
	Trees   *worktree.Trees

	mu     sync.Mutex
	config string // see plainConfig
}

func (s *Set) live(rel string) string { return filepath.Join(s.Git.Root, filepath.FromSlash(rel)) }

func (s *Set) memory(name string) string { return filepath.Join(s.Git.StateDir(), "rooms", name) }

// Forget removes the private files that wfs keeps about a room.
func (s *Set) Forget(name string) error { return os.RemoveAll(s.memory(name)) }

// list returns the elements of a list that a git command prints with -z.
func (s *Set) list(ctx context.Context, args ...string) ([]string, error) {
	out, err := s.Git.Run(ctx, gitcmd.Opts{}, args...)
	return gitcmd.SplitZ(out), err
}

// treeLines lists the files of a tree as git does: mode, kind, id, tab, path.
func (s *Set) treeLines(ctx context.Context, tree session.Tree) ([]string, error) {
	out, err := s.Git.AskOfObjects(ctx, "ls-tree", "-r", "-z", "--full-tree", string(tree))
	return gitcmd.SplitZ(out), err
}
