package testkit

import (
	"io/fs"
	"path/filepath"
	"regexp"
)

var (
	litterName = regexp.MustCompile(`^(wfs_)?tmp_|^\.tmp-|\.lock$|\.keep$|^packed-refs\.new$|^\.state-`)
	lockOfOurs = regexp.MustCompile(`^\.git/wfs/((packs|plans|heads-[0-9a-f])\.lock|worktrees/[^/]+/lock|sessions/[^/]+/[a-z-]+\.lock)$`)
)

// Litter lists the files in a repository, and in the directory around it, that wfs should have removed, such as
// temporary files and locks.
func Litter(repo string) (left []string) {
	_ = filepath.WalkDir(filepath.Dir(repo), func(path string, d fs.DirEntry, err error) error {
		name, _ := filepath.Rel(repo, path)
		if err == nil && litterName.MatchString(d.Name()) && !lockOfOurs.MatchString(name) {
			left = append(left, name)
		}
		return nil
	})
	return left
}
