package unsaved

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/gitstate/gitcmd"
	"github.com/wfs-dev/wfs/gitstate/object"
	"github.com/wfs-dev/wfs/internal/durable"
)

// nestedWork lists the nested repositories that would be removed with a linked work tree and may contain work that
// exists nowhere else: submodules, whose repositories are in the work tree or in its git directory, and repositories
// around tracked files. With the repository that the work tree `other` has for the same submodule, it only compares
// tags.
func (r *Finder) nestedWork(ctx context.Context, other *gitcmd.Git) ([]string, error) {
	x, err := r.Objects.ReadIndex(ctx, r.Git.IndexPath())
	if err != nil {
		return nil, err
	}
	out, err := r.Git.Ask(ctx, "ls-files", "-z")
	if err != nil {
		return nil, err
	}
	var list []string
	seen := map[string]bool{} // git directories of the nested repositories
	for _, name := range append(x.Info().Gitlinks, directoriesOf(gitcmd.SplitZ(out))...) {
		dir := filepath.Join(r.Git.Root, filepath.FromSlash(name))
		if !gitcmd.IsRepository(dir) {
			continue
		}
		gitDir := gitDirOf(dir)
		seen[gitDir] = true
		if !r.pushed(ctx, gitDir, dir, r.counterpart(gitDir, other)) {
			list = append(list, name)
		}
	}
	more, err := r.modulesLeft(ctx, other, seen)
	return append(list, more...), err
}

// modulesLeft lists submodules that are no longer checked out but still have a repository in the git directory. seen
// has the git directories of the others.
func (r *Finder) modulesLeft(ctx context.Context, other *gitcmd.Git, seen map[string]bool) (list []string, err error) {
	modules := filepath.Join(r.Git.GitDir, "modules")
	err = filepath.WalkDir(modules, func(dir string, d fs.DirEntry, err error) error {
		if err != nil && dir == modules && gitcmd.Absent(err) {
			return fs.SkipAll
		}
		if err != nil || !d.IsDir() || !gitcmd.IsGitDir(dir) {
			return err
		}
		if real, err := filepath.EvalSymlinks(dir); err == nil && seen[real] {
			return fs.SkipDir
		}
		if rel, err := filepath.Rel(modules, dir); err == nil && !r.pushed(ctx, dir, "", r.counterpart(dir, other)) {
			list = append(list, filepath.ToSlash(rel))
		}
		return fs.SkipDir
	})
	return list, err
}

// directoriesOf returns all parent directories of some paths, sorted, without the top directory.
func directoriesOf(paths []string) []string {
	dirs := map[string]bool{}
	for _, p := range paths {
		for p = path.Dir(p); p != "." && !dirs[p]; p = path.Dir(p) {
			dirs[p] = true
		}
	}
	return slices.Sorted(maps.Keys(dirs))
}

// gitDirOf returns the real path of a nested repository's git directory, "" if it cannot be read.
func gitDirOf(dir string) string {
	path := filepath.Join(dir, ".git")
	if to, err := gitcmd.LeadsTo(dir); err == nil {
		path = to
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return ""
	}
	return real
}

// counterpart returns the git directory that another work tree has for the same submodule, "" if it has none. gitDir is
// the submodule's git directory in this work tree.
func (r *Finder) counterpart(gitDir string, other *gitcmd.Git) string {
	modules, err := filepath.EvalSymlinks(filepath.Join(r.Git.GitDir, "modules"))
	if err != nil || r.Git.GitDir == other.GitDir {
		return ""
	}
	rel, err := filepath.Rel(modules, gitDir)
	theirs := filepath.Join(other.GitDir, "modules", rel)
	if err != nil || !filepath.IsLocal(rel) || !gitcmd.IsGitDir(theirs) {
		return ""
	}
	return theirs
}

// pushed reports whether a submodule's repository contains only what its remotes have, as far as the repository knows
// them. It must have no other commits, not even in reflogs and stashes; no uncommitted files, including ignored files
// and files whose changes git ignores; and no submodules or work trees of its own. dir is the submodule's work tree, ""
// if there is none. The tags that a remote has are not known, so only tags that the repository `other` ("" for none)
// has, too, count as pushed. If something cannot be read, the result is false.
func (r *Finder) pushed(ctx context.Context, gitDir, dir, other string) bool {
	if gitDir == "" {
		return false
	}
	for _, more := range []string{"modules", "worktrees"} {
		if left, err := os.ReadDir(filepath.Join(gitDir, more)); len(left) > 0 || err != nil && !gitcmd.Absent(err) {
			return false
		}
	}
	at := r.nestedIn(gitDir, dir)
	own, err := r.ownTags(ctx, at, other)
	if err != nil {
		return false
	}
	out, err := at.Git.Run(ctx, gitcmd.Opts{GitDir: gitDir, Stdin: []byte(own)}, "rev-list", "--max-count=1",
		"--stdin", "--exclude=refs/tags/*", "--all", "--reflog", "HEAD", "--not", "--remotes")
	if err != nil || len(out) > 0 {
		return false
	}
	return dir == "" || r.untouched(ctx, at, dir)
}

// untouched reports whether all files of a nested repository, and of repositories nested in it, are committed and
// pushed.
func (r *Finder) untouched(ctx context.Context, at *Finder, dir string) bool {
	out, err := at.Git.Run(ctx, gitcmd.Opts{GitDir: at.Git.GitDir}, "status", "--porcelain", "--untracked-files=normal",
		"--ignored=traditional", object.EverySubmodule)
	if err != nil || len(out) > 0 {
		return false
	}
	if same, err := r.readsAsCommitted(ctx, at); err != nil || !same {
		return false
	}
	inner, err := at.Objects.ReadIndex(ctx, at.Git.IndexPath())
	if err != nil {
		return false
	}
	// check nested repositories that contain their git directory; others would have been found in modules
	for _, name := range inner.Info().Gitlinks {
		in := filepath.Join(dir, filepath.FromSlash(name))
		if gitcmd.IsRepository(in) && !r.pushed(ctx, gitDirOf(in), in, "") {
			return false
		}
	}
	return true
}

// errNoCommit means that a tag points to an object that is no commit, such as a file. Branches of a remote do not reach
// that.
var errNoCommit = errors.New("a tag that leads to no commit")

// ownTags lists the commits of those tags that the repository `other` ("" for none) does not have, one per line.
func (r *Finder) ownTags(ctx context.Context, at *Finder, other string) (string, error) {
	tags, err := at.nestedTags(ctx)
	if err != nil {
		return "", err
	}
	var theirs map[string]string
	if other != "" {
		if theirs, err = r.nestedIn(other, "").nestedTags(ctx); err != nil {
			return "", err
		}
	}
	var own strings.Builder
	for name, tag := range tags {
		if theirs[name] == tag {
			continue
		}
		id, commit := strings.CutSuffix(tag, commitTag)
		if !commit {
			return "", errNoCommit
		}
		own.WriteString(id + "\n")
	}
	return own.String(), nil
}

// nestedIn returns a Finder for a nested repository. If dir is "", the repository has no work tree.
func (r *Finder) nestedIn(gitDir, dir string) *Finder {
	if dir == "" {
		dir = gitDir
	}
	git := gitcmd.New(gitcmd.Place{Root: dir, CommonDir: gitDir, GitDir: gitDir, Env: r.Git.Env, UserEnv: r.Git.UserEnv})
	return &Finder{Git: git, Objects: object.New(git)}
}

// commitTag is the end of a value in nestedTags if the tag points to a commit.
const commitTag = " commit"

// nestedTags returns for each tag of a nested repository the id of its object, and the kind of object to which the tag
// points.
func (r *Finder) nestedTags(ctx context.Context) (map[string]string, error) {
	out, err := r.Git.Run(ctx, gitcmd.Opts{GitDir: r.Git.GitDir}, "for-each-ref",
		"--format=%(refname) %(objectname) %(if)%(*objecttype)%(then)%(*objecttype)%(else)%(objecttype)%(end)", "refs/tags")
	tags := map[string]string{}
	for line := range strings.Lines(string(out)) {
		if name, tag, ok := strings.Cut(strings.TrimSuffix(line, "\n"), " "); ok {
			tags[name] = tag
		}
	}
	return tags, err
}

// readsAsCommitted reports whether the existing files of a nested repository have the contents of its HEAD. It uses a
// temporary index: in that, git ignores the changes of no file, and reads every file.
func (r *Finder) readsAsCommitted(ctx context.Context, at *Finder) (bool, error) {
	index := filepath.Join(r.Git.PrivateDir(), durable.TempPrefix+"nested")
	if err := object.RemoveLeftovers(index); err != nil {
		return false, err
	}
	defer os.Remove(index)
	o := gitcmd.Opts{GitDir: at.Git.GitDir, Env: gitcmd.WithIndex(index)}
	if _, err := at.Git.Run(ctx, o, "read-tree", "HEAD"); err != nil {
		return false, err
	}
	out, err := at.Git.Run(ctx, o, "status", "--porcelain", "-z", "--no-renames", "--untracked-files=no",
		"--ignore-submodules=all")
	for _, line := range gitcmd.SplitZ(out) {
		if !strings.HasPrefix(line, " D") { // a missing file, as in a sparse checkout
			return false, err
		}
	}
	return err == nil, err
}
