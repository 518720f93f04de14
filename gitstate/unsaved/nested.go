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

// nestedWork names the repositories of submodules that are removed with a linked work tree, in it or in its git
// directory, and those around tracked files in it, if they hold something that is perhaps nowhere else. What
// the other work tree has of the same submodules counts for tags only.
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
	seen := map[string]bool{} // git directories
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

// modulesLeft are the submodules that are not checked out any more, but whose commits are there. seen are the others.
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

// directoriesOf returns every directory on the way to some paths but the top, sorted.
func directoriesOf(paths []string) []string {
	dirs := map[string]bool{}
	for _, p := range paths {
		for p = path.Dir(p); p != "." && !dirs[p]; p = path.Dir(p) {
			dirs[p] = true
		}
	}
	return slices.Sorted(maps.Keys(dirs))
}

// gitDirOf returns the git directory of a repository that isRepository has found, without links, "" when it cannot be
// read.
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

// counterpart returns the git directory that another work tree has for the submodule whose git directory in this one is
// given, "" for none.
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

// pushed reports whether a submodule's repository holds nothing but what came from its remotes, by what it
// knows of them: no commit, in reflogs and stashes neither, no file that is not committed, ignored ones and
// those that git was told not to look at included, and no submodule or work tree of its own. dir is where it is
// checked out, "" for nowhere. Nobody knows which tags a remote has: those that the repository in other, "" for
// none, has as well are not lost. What cannot be read is not pushed.
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

// untouched reports whether the files of a nested repository, and those nested in it, are as they were committed and
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
	for _, name := range inner.Info().Gitlinks { // with a git directory of their own in it, or there would be modules
		in := filepath.Join(dir, filepath.FromSlash(name))
		if gitcmd.IsRepository(in) && !r.pushed(ctx, gitDirOf(in), in, "") {
			return false
		}
	}
	return true
}

// errNoCommit says that a tag leads to a file, say: no branch of a remote leads there.
var errNoCommit = errors.New("a tag that leads to no commit")

// ownTags lists the commits of tags that another repository, "" for none, has not, one a line.
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

func (r *Finder) nestedIn(gitDir, dir string) *Finder {
	if dir == "" {
		dir = gitDir
	}
	git := gitcmd.New(gitcmd.Place{Root: dir, CommonDir: gitDir, GitDir: gitDir, Env: r.Git.Env, UserEnv: r.Git.UserEnv})
	return &Finder{Git: git, Objects: object.New(git)}
}

// commitTag ends what nestedTags says of a tag that leads to a commit.
const commitTag = " commit"

// nestedTags returns the object of each tag of a nested repository and what kind of thing it leads to.
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

// readsAsCommitted reports whether the files of a nested repository that are there are those of its HEAD, by what is in
// them: with an index of our own, in which nothing is marked as not to be looked at, and no file as looked at already.
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
		if !strings.HasPrefix(line, " D") { // as outside of a sparse checkout
			return false, err
		}
	}
	return err == nil, err
}
