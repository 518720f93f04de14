package gitstate

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/gitstate/gitcmd"
	"github.com/wfs-dev/wfs/internal/durable"
	"github.com/wfs-dev/wfs/session"
)

// editedSubmodules names those submodules of a private index that have edits or new files which are not
// committed there: a gitlink holds nothing of them.
func (r *Repo) editedSubmodules(ctx context.Context, index string, gitlinks []string) ([]session.Skip, error) {
	args := []string{"status", "--porcelain=v2", "-z", "--no-renames", "--ignore-submodules=none",
		"--untracked-files=normal", "--"}
	none := len(args)
	for _, p := range gitlinks {
		if isRepository(filepath.Join(r.Git.Root, filepath.FromSlash(p))) {
			args = append(args, ":(top,literal)"+p)
		}
	}
	if len(args) == none {
		return nil, nil
	}
	out, err := r.Git.Run(ctx, gitcmd.Opts{Env: gitcmd.WithIndex(index)}, args...)
	if err != nil {
		return nil, err
	}
	var skipped []session.Skip
	for _, line := range gitcmd.SplitZ(out) { // "1 XY SCMU mode mode mode id id path": C, M, U say what of the submodule changed
		f := strings.SplitN(line, " ", 9)
		if len(f) == 9 && f[0] == "1" && len(f[2]) == 4 && (f[2][2] == 'M' || f[2][3] == 'U') {
			skipped = append(skipped, session.Skip{Path: f[8], Why: "a submodule with changes that are not committed in it"})
		}
	}
	return skipped, nil
}

// stagedSubmodules returns those gitlinks of the user's own index that the .gitmodules of a private one names: what
// `git submodule add` leaves.
func (r *Repo) stagedSubmodules(ctx context.Context, index string) (map[string]bool, error) {
	x, err := r.readIndex(ctx, r.Git.IndexPath())
	if err != nil {
		return nil, err
	}
	user := x.info().gitlinks
	const none = 128 // there is no .gitmodules, or it cannot be read
	out, err := r.Git.Run(ctx, gitcmd.Opts{Env: gitcmd.WithIndex(index), OkExit: []int{1, none}}, "config", "-z", "--blob",
		":.gitmodules", "--get-regexp", `^submodule\..*\.path$`)
	if err != nil {
		return nil, err
	}
	made := map[string]bool{}
	for _, line := range gitcmd.SplitZ(out) {
		if _, p, _ := strings.Cut(line, "\n"); slices.Contains(user, p) {
			made[p] = true
		}
	}
	return made, nil
}

// Nested returns the outermost directory on the way to a path of the work tree, or at it, that is a repository
// of its own, "" for none. Links are not followed.
func (r *Repo) Nested(path string) string {
	for i := range len(path) + 1 {
		if i < len(path) && path[i] != '/' {
			continue
		}
		info, err := r.lstat(path[:i])
		if err != nil || !info.IsDir() {
			return ""
		}
		if isRepository(filepath.Join(r.Git.Root, filepath.FromSlash(path[:i]))) {
			return path[:i]
		}
	}
	return ""
}

// isRepository reports whether git takes a directory of the work tree for a repository of its own, and so
// neither adds nor moves what is in it. One whose .git leads nowhere is an ordinary directory to git, with
// files like all others. What cannot be read counts as a repository.
func isRepository(dir string) bool {
	path := filepath.Join(dir, ".git")
	info, err := os.Stat(path)
	switch {
	case gitcmd.Absent(err):
		return false
	case err != nil:
		return true
	case info.IsDir():
		return isGitDir(path)
	case !info.Mode().IsRegular():
		return false
	}
	data, err := gitcmd.ReadFile(path)
	if err != nil {
		return !errors.Is(err, durable.ErrTooLarge) // it holds one path
	}
	to, ok := strings.CutPrefix(string(data), "gitdir: ")
	if to = strings.TrimRight(to, "\r\n"); !ok || to == "" {
		return false
	}
	if !filepath.IsAbs(to) {
		to = filepath.Join(dir, to)
	}
	return isGitDir(to)
}

// isGitDir is git's own test: there are HEAD, objects and refs, the latter two in the common directory if there is one.
func isGitDir(dir string) bool {
	if _, err := os.Lstat(filepath.Join(dir, "HEAD")); err != nil {
		return !gitcmd.Absent(err)
	}
	common := dir
	if data, err := gitcmd.ReadFile(filepath.Join(dir, "commondir")); err == nil {
		common = strings.TrimRight(string(data), "\r\n")
		if !filepath.IsAbs(common) {
			common = filepath.Join(dir, common)
		}
	}
	for _, name := range []string{"objects", "refs"} {
		if _, err := os.Stat(filepath.Join(common, name)); err != nil {
			return !gitcmd.Absent(err)
		}
	}
	return true
}
