package worktree

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/wfs-dev/wfs/gitstate/gitcmd"
	"github.com/wfs-dev/wfs/internal/durable"
)

// KeepWorktree makes git find a linked work tree that MoveWorktree has moved to `to`, so that everything in its git
// directory can still be used: index, reflog, and the repositories of its submodules. It detaches HEAD, so that other
// work trees can use the branch. It can be repeated. stays is false if git has no entry for the work tree, because its
// creation was interrupted.
func (r *Trees) KeepWorktree(ctx context.Context, n NewWorktree, to string) (stays bool, err error) {
	dir, link := r.Git.LinkedDir(n.Name), filepath.Join(to, ".git")
	entry, err := os.Stat(dir)
	own, _ := gitcmd.LeadsTo(to)
	ours, e := os.Stat(own)
	if err != nil || e != nil || !os.SameFile(entry, ours) { // no entry yet, or that of another work tree
		return false, os.RemoveAll(r.newGitDir(n.Name))
	}
	if err := durable.WriteFile(filepath.Join(dir, "gitdir"), []byte(filepath.ToSlash(link)+"\n"), 0o644); err != nil {
		return false, err
	}
	at := gitcmd.New(gitcmd.Place{Root: to, CommonDir: r.Git.CommonDir, GitDir: dir,
		Worktree: gitcmd.WorktreeID(dir, r.Git.CommonDir),
		Format:   r.Git.Format, Env: r.Git.Env, UserEnv: r.Git.UserEnv})
	head, err := at.Run(ctx, gitcmd.Opts{GitDir: dir}, "rev-parse", "--verify", "--quiet", "HEAD^{commit}")
	var none *gitcmd.GitError
	if err != nil && !errors.As(err, &none) {
		return false, err
	}
	if err == nil {
		if _, err := at.Run(ctx, gitcmd.Opts{GitDir: dir, Write: true}, "update-ref", "--no-deref", "-m", "wfs: kept in "+to,
			"HEAD", strings.TrimSpace(string(head))); err != nil {
			return false, err
		}
	}
	return true, leadModules(ctx, r.Git, filepath.Join(dir, "modules"), n.Path, to)
}

// leadModules corrects the paths of work trees in the repositories of submodules, after the surrounding work tree was
// moved.
func leadModules(ctx context.Context, git *gitcmd.Git, modules, from, to string) error {
	return filepath.WalkDir(modules, func(path string, d fs.DirEntry, err error) error {
		if err != nil && path == modules && gitcmd.Absent(err) {
			return fs.SkipAll
		}
		if err != nil || d.IsDir() || d.Name() != "config" && d.Name() != "config.worktree" ||
			!gitcmd.IsGitDir(filepath.Dir(path)) {
			return err
		}
		return leadModule(ctx, git, path, from, to)
	})
}

// leadModule corrects the path in one configuration file of a submodule's repository.
func leadModule(ctx context.Context, git *gitcmd.Git, path, from, to string) error {
	at := gitcmd.New(gitcmd.Place{Root: to, Env: git.Env, UserEnv: git.UserEnv})
	said, err := at.Run(ctx, gitcmd.Opts{OkExit: []int{1}}, "config", "--file", path, "--get", "core.worktree")
	tree := strings.TrimSuffix(string(said), "\n")
	if err != nil || tree == "" {
		return err
	}
	if !filepath.IsAbs(tree) {
		tree = filepath.Join(filepath.Dir(path), tree)
	}
	rel, err := filepath.Rel(from, tree)
	if err != nil || !filepath.IsLocal(rel) {
		return nil // not in the moved work tree, or corrected already
	}
	_, err = at.Run(ctx, gitcmd.Opts{Write: true}, "config", "--file", path, "core.worktree", filepath.Join(to, rel))
	return err
}
