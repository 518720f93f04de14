package gitstate

import (
	"context"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/gitstate/gitcmd"
	"github.com/wfs-dev/wfs/internal/durable"
)

// nestedWork names the repositories of submodules that are removed with a linked work tree, in it or in its git
// directory, and those around tracked files in it, if they hold something that is perhaps nowhere else. What
// the other work tree has of the same submodules counts for tags only.
func (r *Repo) nestedWork(ctx context.Context, other *Repo) ([]string, error) {
	x, err := r.readIndex(ctx, r.Git.IndexPath())
	if err != nil {
		return nil, err
	}
	out, err := r.Git.Run(ctx, gitcmd.Opts{}, "ls-files", "-z")
	if err != nil {
		return nil, err
	}
	var list []string
	seen := map[string]bool{} // git directories
	for _, name := range append(x.info().gitlinks, directoriesOf(gitcmd.SplitZ(out))...) {
		dir := filepath.Join(r.Git.Root, filepath.FromSlash(name))
		if !isRepository(dir) {
			continue
		}
		gitDir := gitDirOf(dir)
		seen[gitDir] = true
		if !r.pushed(ctx, gitDir, dir, r.counterpart(gitDir, other)) {
			list = append(list, name)
		}
	}
	modules := filepath.Join(r.Git.GitDir, "modules")
	err = filepath.WalkDir(modules, func(dir string, d fs.DirEntry, err error) error {
		if err != nil && dir == modules && gitcmd.Absent(err) {
			return fs.SkipAll
		}
		if err != nil || !d.IsDir() || !isGitDir(dir) {
			return err
		}
		if real, err := filepath.EvalSymlinks(dir); err == nil && seen[real] {
			return fs.SkipDir
		}
		if rel, err := filepath.Rel(modules, dir); err == nil && !r.pushed(ctx, dir, "", r.counterpart(dir, other)) {
			list = append(list, filepath.ToSlash(rel)) // not checked out any more, but its commits are there
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
func (r *Repo) counterpart(gitDir string, other *Repo) string {
	modules, err := filepath.EvalSymlinks(filepath.Join(r.Git.GitDir, "modules"))
	if err != nil || r.Git.GitDir == other.Git.GitDir {
		return ""
	}
	rel, err := filepath.Rel(modules, gitDir)
	theirs := filepath.Join(other.Git.GitDir, "modules", rel)
	if err != nil || !filepath.IsLocal(rel) || !isGitDir(theirs) {
		return ""
	}
	return theirs
}

// pushed reports whether a submodule's repository holds nothing but what came from its remotes, by what it
// knows of them: no commit, in reflogs and stashes neither, no file that is not committed, ignored ones and
// those that git was told not to look at included, and no submodule or work tree of its own. dir is where it is
// checked out, "" for nowhere. Nobody knows which tags a remote has: those that the repository in other, "" for
// none, has as well are not lost. What cannot be read is not pushed.
func (r *Repo) pushed(ctx context.Context, gitDir, dir, other string) bool {
	if gitDir == "" {
		return false
	}
	for _, more := range []string{"modules", "worktrees"} {
		if left, err := os.ReadDir(filepath.Join(gitDir, more)); len(left) > 0 || err != nil && !gitcmd.Absent(err) {
			return false
		}
	}
	at := r.nestedIn(gitDir, dir)
	tags, err := at.nestedTags(ctx)
	if err != nil {
		return false
	}
	var theirs map[string]string
	if other != "" {
		if theirs, err = r.nestedIn(other, "").nestedTags(ctx); err != nil {
			return false
		}
	}
	var own strings.Builder
	for name, tag := range tags {
		id, commit := strings.CutSuffix(tag, commitTag)
		switch {
		case theirs[name] == tag:
		case !commit:
			return false // of a file, say: no branch of a remote leads to it
		default:
			own.WriteString(id + "\n")
		}
	}
	out, err := at.Git.Run(ctx, gitcmd.Opts{GitDir: gitDir, Stdin: []byte(own.String())}, "rev-list", "--max-count=1",
		"--stdin", "--exclude=refs/tags/*", "--all", "--reflog", "HEAD", "--not", "--remotes")
	if err != nil || len(out) > 0 {
		return false
	}
	if dir == "" {
		return true
	}
	out, err = at.Git.Run(ctx, gitcmd.Opts{GitDir: gitDir}, "status", "--porcelain", "--untracked-files=normal",
		"--ignored=traditional", everySubmodule)
	if err != nil || len(out) > 0 {
		return false
	}
	if same, err := r.readsAsCommitted(ctx, at); err != nil || !same {
		return false
	}
	inner, err := at.readIndex(ctx, filepath.Join(gitDir, "index"))
	if err != nil {
		return false
	}
	for _, name := range inner.info().gitlinks { // with a git directory of their own in it, or there would be modules
		if in := filepath.Join(dir, filepath.FromSlash(name)); isRepository(in) && !r.pushed(ctx, gitDirOf(in), in, "") {
			return false
		}
	}
	return true
}

func (r *Repo) nestedIn(gitDir, dir string) *Repo {
	if dir == "" {
		dir = gitDir
	}
	return &Repo{Git: &gitcmd.Git{Root: dir, CommonDir: gitDir, GitDir: gitDir, Env: r.Git.Env, UserEnv: r.Git.UserEnv}}
}

// commitTag ends what nestedTags says of a tag that leads to a commit.
const commitTag = " commit"

// nestedTags returns the object of each tag of a nested repository and what kind of thing it leads to.
func (r *Repo) nestedTags(ctx context.Context) (map[string]string, error) {
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
func (r *Repo) readsAsCommitted(ctx context.Context, at *Repo) (bool, error) {
	index := filepath.Join(r.Git.PrivateDir(), durable.TempPrefix+"nested")
	if err := removeLeftovers(index); err != nil {
		return false, err
	}
	defer os.Remove(index)
	o := gitcmd.Opts{GitDir: at.Git.GitDir, Env: gitcmd.WithIndex(index)}
	if _, err := at.Git.Run(ctx, o, "-c", "core.splitIndex=false", "read-tree", "HEAD"); err != nil {
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
