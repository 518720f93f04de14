package gitstate

import (
	"context"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/session"
)

// Git can be told not to look at a file (git-update-index(1)): assume-unchanged and skip-worktree are how people keep
// settings of their own in a tracked file. `git add` then passes over its edits without a word, and a checkout takes a
// file that is assumed unchanged for what the index says and overwrites it. So such files are looked at here: what is
// not as the index has it is named as not held, and moves keep away from it.

const wayUnseen = "marked assume-unchanged or skip-worktree in git"

// unseen names the files that differ from a private index and that git does not look at. x is that index, nil when only
// git can read it. Files that are not there, as outside of a sparse checkout, have nothing to lose.
func (r *Repo) unseen(ctx context.Context, index string, x *index) ([]session.Skip, error) {
	marked, err := r.marked(ctx, index, x)
	marked = r.present(marked)
	if err != nil || len(marked) == 0 {
		return nil, err
	}
	open := index + ".open" // a copy in which git looks at everything
	if err := removeLeftovers(open); err != nil {
		return nil, err
	}
	defer os.Remove(open)
	if err := copyKeepingTime(index, open); err != nil {
		return nil, err
	}
	o := gitOpts{write: true, env: withIndex(open), stdin: []byte(strings.Join(marked, "\x00") + "\x00")}
	for _, bit := range []string{"--no-skip-worktree", "--no-assume-unchanged"} {
		if _, err := r.git(ctx, o, "-c", "core.splitIndex=false", "update-index", bit, "-z", "--stdin"); err != nil {
			return nil, err
		}
	}
	// The first of them compares what the second is not told apart from by stat data alone.
	if _, err := r.git(ctx, gitOpts{write: true, env: o.env, okExit: []int{1}}, "-c", "core.splitIndex=false", "update-index", "-q", "--refresh"); err != nil {
		return nil, err
	}
	out, err := r.git(ctx, gitOpts{env: o.env}, "diff-files", "--name-only", "--ignore-submodules", "-z")
	if err != nil {
		return nil, err
	}
	var skipped []session.Skip
	for _, p := range splitZ(out) {
		if slices.Contains(marked, p) {
			skipped = append(skipped, session.Skip{Path: p, Why: wayUnseen})
		}
	}
	return skipped, nil
}

// present returns those of some sorted paths at which there is a file: with a directory in its place git takes a file out
// of the index, marked or not. Of a directory that is not there, as most are
// outside of a sparse checkout, only the first path is looked for.
func (r *Repo) present(paths []string) (there []string) {
	gone := "/"
	for _, p := range paths {
		if strings.HasPrefix(p, gone) {
			continue
		}
		if info, err := r.lstat(p); err == nil {
			if !info.IsDir() {
				there = append(there, p)
			}
			continue
		}
		for dir := path.Dir(p); dir != "."; dir = path.Dir(dir) {
			if _, err := r.lstat(dir); err == nil {
				break
			}
			gone = dir + "/"
		}
	}
	return there
}

// marked lists the paths of an index that git does not look at.
func (r *Repo) marked(ctx context.Context, index string, x *index) ([]string, error) {
	var list []string
	if x != nil {
		for _, e := range x.entries {
			if e.unseen {
				list = append(list, string(e.name))
			}
		}
		return list, nil
	}
	out, err := r.git(ctx, gitOpts{env: withIndex(index)}, "ls-files", "-v", "-z")
	for _, line := range splitZ(out) { // "S path" is skip-worktree, a small letter assume-unchanged
		if tag, p, ok := strings.Cut(line, " "); ok && (tag == "S" || tag == strings.ToLower(tag)) {
			list = append(list, p)
		}
	}
	return list, err
}
