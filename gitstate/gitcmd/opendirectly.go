package gitcmd

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// openDirectly finds the work tree like Open, but starts no git process. `known` is false if only git can tell, as in a
// repository with settings that are not usual.
func openDirectly(o Options) (r *Git, known bool, err error) {
	start, err := filepath.Abs(o.Dir)
	if err != nil {
		return nil, false, nil
	}
	for dir := start; ; dir = filepath.Dir(dir) {
		if dir == filepath.Dir(dir) {
			return nil, true, fmt.Errorf("%s: %w", start, ErrNotRepository)
		}
		gitDir := filepath.Join(dir, ".git")
		if info, err := os.Stat(gitDir); Absent(err) && !IsGitDir(dir) {
			continue
		} else if err != nil {
			return nil, false, nil // it may be in a bare repository
		} else if !info.IsDir() {
			if gitDir, err = LeadsTo(dir); err != nil {
				return nil, false, nil
			}
		}
		r = New(Place{Root: dir, GitDir: gitDir, CommonDir: gitDir, Format: "sha1", Env: QuietEnv(o.Env),
			UserEnv: CleanEnv(o.Env), Waits: o.Waits})
		if common, err := ReadFile(filepath.Join(gitDir, "commondir")); err == nil {
			if r.CommonDir = strings.TrimSpace(string(common)); !filepath.IsAbs(r.CommonDir) {
				r.CommonDir = filepath.Join(gitDir, r.CommonDir)
			}
		}
		r.Worktree = WorktreeID(r.GitDir, r.CommonDir)
		return r, IsGitDir(gitDir) && !r.Led() && r.ReadsDirectly(), nil
	}
}
