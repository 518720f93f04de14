package object

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/wfs-dev/wfs/gitstate/gitcmd"
	"github.com/wfs-dev/wfs/session"
)

// TreeChange is a difference between two trees at one path, as git lists it.
type TreeChange struct {
	session.Change
	OldMode, NewMode string // ModeNone if that tree has no file there
	OldID, NewID     string
}

// Changes lists the differences between two trees, without renames, sorted by path as in git. "" is the empty tree.
func (r *Store) Changes(ctx context.Context, from, to session.Tree) ([]session.Change, error) {
	list, err := r.DiffTrees(ctx, from, to)
	return PlainChanges(list), err
}

// PlainChanges returns the changes without modes and ids.
func PlainChanges(list []TreeChange) []session.Change {
	var changes []session.Change
	for _, c := range list {
		changes = append(changes, c.Change)
	}
	return changes
}

// EverySubmodule makes git compare submodules like all other entries. Without it, git reads submodule.<name>.ignore
// from the configuration and from the .gitmodules of the work tree. An agent can set that, and git fails if it cannot
// parse the .gitmodules.
const EverySubmodule = "--ignore-submodules=none"

// DiffTrees lists the differences between two trees with modes and ids, without renames. "" is the empty tree.
func (r *Store) DiffTrees(ctx context.Context, from, to session.Tree) ([]TreeChange, error) {
	from, to = r.OrEmpty(from), r.OrEmpty(to)
	if from == to {
		return nil, nil
	}
	out, err := r.Git.AskOfObjects(ctx, "diff-tree", EverySubmodule, "-r", "-z", "--raw", "--no-renames",
		"--full-index",
		"--no-abbrev",
		string(from), string(to))
	if err != nil {
		return nil, err
	}
	return ParseRaw(out)
}

// ParseRaw parses git's output for `--raw -z`: for each change ":<mode> <mode> <id> <id> <status>" and the path, each
// followed by a NUL byte.
func ParseRaw(out []byte) ([]TreeChange, error) {
	fields := gitcmd.SplitZ(out)
	if len(fields)%2 != 0 {
		return nil, fmt.Errorf("git diff-tree: the output ends early")
	}
	changes := make([]TreeChange, 0, len(fields)/2)
	for i := 0; i < len(fields); i += 2 {
		f := strings.Fields(strings.TrimPrefix(fields[i], ":"))
		if len(f) != 5 || len(f[4]) != 1 {
			return nil, fmt.Errorf("git diff-tree: unexpected answer %q", fields[i])
		}
		changes = append(changes, TreeChange{session.Change{Path: fields[i+1], Status: f[4]}, f[0], f[1], f[2], f[3]})
	}
	return changes, nil
}

// NewFiles returns the paths, below root, of the files that changes add or modify. It omits symbolic links and
// submodules.
func NewFiles(root string, changes []TreeChange) (files []string) {
	for _, c := range changes {
		if c.NewMode != ModeNone && c.NewMode != ModeLink && c.NewMode != ModeGitlink {
			files = append(files, filepath.Join(root, filepath.FromSlash(c.Path)))
		}
	}
	return files
}
