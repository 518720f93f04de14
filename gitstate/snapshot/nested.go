package snapshot

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/gitstate/gitcmd"
	"github.com/wfs-dev/wfs/session"
)

// Nested returns the outermost nested repository at or above a path of the work tree, as the path of its directory, or
// "" if there is none. It does not follow symbolic links.
func (r *Files) Nested(path string) string {
	for i := range len(path) + 1 {
		if i < len(path) && path[i] != '/' {
			continue
		}
		info, err := r.Git.Lstat(path[:i])
		if err != nil || !info.IsDir() {
			return ""
		}
		if gitcmd.IsRepository(filepath.Join(r.Git.Root, filepath.FromSlash(path[:i]))) {
			return path[:i]
		}
	}
	return ""
}

// editedSubmodules returns the submodules in a private index that contain edits or new files which are not committed in
// them: a gitlink does not save these.
func (r *Adder) editedSubmodules(ctx context.Context, index string, gitlinks []string) ([]session.Skip, error) {
	args := []string{"status", "--porcelain=v2", "-z", "--no-renames", "--ignore-submodules=none",
		"--untracked-files=normal", "--"}
	none := len(args)
	for _, p := range gitlinks {
		if gitcmd.IsRepository(filepath.Join(r.Git.Root, filepath.FromSlash(p))) {
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
	// "1 XY SCMU mode mode mode id id path": in the third field, S means submodule; C, M, U are the kinds of changes in
	// it
	for _, line := range gitcmd.SplitZ(out) {
		f := strings.SplitN(line, " ", 9)
		if len(f) == 9 && f[0] == "1" && len(f[2]) == 4 && (f[2][2] == 'M' || f[2][3] == 'U') {
			skipped = append(skipped, session.Skip{Path: f[8], Why: "a submodule with changes that are not committed in it"})
		}
	}
	return skipped, nil
}

// stagedSubmodules returns those gitlinks in the user's own index that the .gitmodules in a private index names: the
// user has run `git submodule add`.
func (r *Adder) stagedSubmodules(ctx context.Context, index string) (map[string]bool, error) {
	x, err := r.Objects.ReadIndex(ctx, r.Git.IndexPath())
	if err != nil {
		return nil, err
	}
	user := x.Info().Gitlinks
	const none = 128 // exit code: .gitmodules is missing or unreadable
	out, err := r.Git.Run(ctx, gitcmd.Opts{Env: gitcmd.WithIndex(index), OkExit: []int{1, none}}, "config", "-z",
		"--blob",
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
