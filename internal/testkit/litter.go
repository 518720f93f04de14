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

// Litter lists files in and next to a repository that commands should have removed.
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
