package gitstate

import (
	"context"
	"os"
	"path/filepath"

	"github.com/wfs-dev/wfs/gitstate/gitcmd"
)

// RepairLinked connects linked work trees again after the repository was moved: those whose .git file leads to
// where its git directory was, and to nothing there. A work tree that moved along, as with a directory that
// holds both, is looked for at the same relative path. It returns the paths of those that it connected.
func (r *Repo) RepairLinked(ctx context.Context, from string) ([]string, error) {
	linked, err := r.Linked(ctx)
	if err != nil {
		return nil, err
	}
	var found []string
	for _, t := range linked {
		if !t.Gone {
			continue
		}
		places := []string{t.Path}
		if rel, err := filepath.Rel(from, t.Path); err == nil {
			places = append(places, filepath.Join(r.Git.CommonDir, rel))
		}
		for _, place := range places {
			to, err := gitcmd.LeadsTo(place)
			if err != nil || filepath.Dir(filepath.Dir(to)) != filepath.Clean(from) {
				continue
			}
			if _, err := os.Lstat(to); gitcmd.Absent(err) {
				found = append(found, place)
				break
			}
		}
	}
	if len(found) == 0 {
		return nil, nil
	}
	_, err = r.Git.Run(ctx, gitcmd.Opts{Write: true}, append([]string{"worktree", "repair"}, found...)...)
	return found, err
}

// LostRepository is the git directory that a directory's linked work tree belongs to, when that is not there;
// "" otherwise.
func LostRepository(dir string) (root, gitDir string) {
	for root = filepath.Clean(dir); ; root = filepath.Dir(root) {
		if _, err := os.Lstat(filepath.Join(root, ".git")); err == nil || root == filepath.Dir(root) {
			break
		}
	}
	to, err := gitcmd.LeadsTo(root)
	if err != nil || filepath.Base(filepath.Dir(to)) != "worktrees" {
		return root, ""
	}
	if _, err := os.Lstat(to); !gitcmd.Absent(err) {
		return root, ""
	}
	return root, filepath.Dir(filepath.Dir(to))
}
