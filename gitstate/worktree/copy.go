package worktree

import (
	"os"

	"github.com/wfs-dev/wfs/gitstate/gitcmd"
)

// CopyOf returns the path of the linked work tree of which this directory is a copy, "" if it is not a copy. It is one
// if git's entry says that the work tree is elsewhere, and the work tree exists there. Git would confuse the two.
func (r *Trees) CopyOf() (string, error) {
	if r.Git.GitDir == r.Git.CommonDir {
		return "", nil
	}
	path, err := gitcmd.LinkedPath(r.Git.GitDir)
	if err != nil || path == "" || path == r.Git.Root || gone(path, r.Git.GitDir) {
		return "", err
	}
	there, err := os.Stat(path)
	if err != nil {
		return "", gitcmd.IgnoreAbsent(err)
	}
	here, err := os.Stat(r.Git.Root)
	if err != nil || os.SameFile(here, there) {
		return "", err
	}
	return path, nil
}
