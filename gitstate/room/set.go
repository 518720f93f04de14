// Package room makes rooms: directories that hold one tree of a repository, with installed packages, and nothing else
// of a work tree. Gates run there. It also brings to a new work tree what git does not bring.
package room

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"

	"github.com/wfs-dev/wfs/session"
)

// Set are the rooms of a repository. Packages and further files are copied from one of its work trees.
type Set struct {
	Root      string // the top of that work tree
	CommonDir string // the repository's git directory
	Memory    string // where notes about rooms are kept, away from commands that run there
	Format    string // of objects: "sha1" or "sha256"
	Git       Git
	// Head is the commit that the work tree is on, "" for none, and its date.
	Head func(ctx context.Context) (commit session.Commit, at int64, err error)
	// Worktrees are the top directories of all work trees.
	Worktrees func(ctx context.Context) ([]string, error)
}

// Git runs a git process.
type Git func(ctx context.Context, c Call, args ...string) ([]byte, error)

// Call says how a git process is run.
type Call struct {
	Dir    string // the top of the files, "" for the work tree's
	GitDir string // a private git directory, "" for the repository's
	Index  string // a private index
	Stdin  []byte
	OkExit []int // exit codes besides 0 that are answers
}

// userDir is the directory in the work tree with the configuration, which is no part of a judged tree.
const userDir = ".wfs"

// modeGitlink is the mode of a submodule in a tree.
const modeGitlink = "160000"

func (s *Set) live(rel string) string { return filepath.Join(s.Root, filepath.FromSlash(rel)) }

func (s *Set) memory(name string) string { return filepath.Join(s.Memory, name) }

// Forget removes the notes about a room.
func (s *Set) Forget(name string) error { return os.RemoveAll(s.memory(name)) }

// list is the output of a git command that prints a list with -z.
func (s *Set) list(ctx context.Context, args ...string) ([]string, error) {
	out, err := s.Git(ctx, Call{}, args...)
	return splitZ(out), err
}

// splitZ splits git's NUL-terminated lists.
func splitZ(out []byte) []string {
	out = bytes.TrimSuffix(out, []byte{0})
	if len(out) == 0 {
		return nil
	}
	return strings.Split(string(out), "\x00")
}

// escapeGlob makes a path match itself alone.
func escapeGlob(dir string) string {
	return strings.NewReplacer(`*`, `[*]`, `?`, `[?]`, `[`, `[[]`).Replace(dir)
}
