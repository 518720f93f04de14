package gitcmd

import (
	"context"
	"path/filepath"
	"strings"
)

// LinkedPath returns the top directory of a linked work tree by its git directory, "" when that does not say.
func LinkedPath(gitDir string) (string, error) {
	link, err := ReadFile(filepath.Join(gitDir, "gitdir"))
	if err != nil {
		if Absent(err) {
			err = nil
		}
		return "", err
	}
	path := filepath.FromSlash(strings.TrimSpace(string(link)))
	if path == "" {
		return "", nil
	}
	if !filepath.IsAbs(path) { // git 2.48 can write it so
		path = filepath.Join(gitDir, path)
	}
	return filepath.Dir(path), nil
}

// MainWorktree is the top of the main work tree, "" when the repository is bare. Where that cannot be known,
// because git's directory lies elsewhere, it is that directory, as git has it.
func (r *Git) MainWorktree(ctx context.Context) (string, error) {
	if r.GitDir == r.CommonDir {
		return r.Root, nil
	}
	out, err := r.Run(ctx, Opts{OkExit: []int{1}}, "config", "--file", filepath.Join(r.CommonDir, "config"), "-z",
		"--get-regexp", `^core\.(bare|worktree)$`)
	if err != nil {
		return "", err
	}
	path := r.CommonDir
	if filepath.Base(path) == ".git" {
		path = filepath.Dir(path)
	}
	for _, entry := range SplitZ(out) {
		key, value, set := strings.Cut(entry, "\n")
		switch {
		case key == "core.worktree" && value != "": // a repository whose git directory lies elsewhere, as a submodule's
			if path = filepath.FromSlash(value); !filepath.IsAbs(path) {
				path = filepath.Join(r.CommonDir, path)
			}
		case key == "core.bare" && (!set || Truth(value)):
			return "", nil
		}
	}
	return path, nil
}
