package gitstate

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/internal/durable"
	"github.com/wfs-dev/wfs/session"
)

// What is once an object stays one, and branches are pushed. So files that look like keys or hold one, large files and
// floods of new files are held out of snapshots, as long as git does not track them and no person has allowed them. That is
// decided before git writes a blob of them.

// filled reports whether a directory of that name is filled by tools and never by hand.
func filled(name string) bool {
	switch name {
	case "node_modules", "bower_components", ".pnpm-store", ".venv", ".tox", ".nox", "__pycache__", ".gradle", ".terraform":
		return true
	}
	return false
}

// maxRules bounds a session's exclude file, in bytes.
const maxRules = 16 << 20

// holding is what a snapshot is to do about what git does not track.
type holding struct {
	rules   []byte         // the session's exclude file
	how     string         // of `git add`: -A, or -u when there is nothing that is not tracked
	keep    []string       // paths to be kept out
	held    []session.Held // those of them that were not held out before
	before  func() ([]session.Held, error)
	ignored []string       // found to be ignored: to be remembered, so that git need not be asked again
	force   []string       // allowed, and below something that is held out or ignored
	kept    []string       // what was held out before, and is there
	changed []string       // what git has to look at
	given   []session.Skip // tracked files that were given a key: git must not look at them
	unsure  bool           // it has to look at everything
}

// hold decides what of the work tree is kept out of a private index. x is that index, nil when only git can read it;
// head is the commit that the work tree builds on, "" for none: what that tracks is never held out.
func (r *Repo) hold(ctx context.Context, index string, x *index, exclude string, head session.Commit) (h holding, err error) {
	if exclude != "" {
		if h.rules, err = durable.ReadFile(exclude, maxRules); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return h, err
		}
	}
	rules, g := session.SplitGuard(h.rules)
	found := looked{suspects: []string{""}, others: true, unsure: true} // the whole work tree
	if x != nil {
		if found = r.look(x, rules, g); found.rules != nil {
			return h, found.rules
		}
	}
	if h.how = "-A"; !found.others && len(x.entries) > 0 {
		h.how = "-u" // git need not look for what is not there
	}
	h.changed, h.unsure = found.changed, found.unsure
	h.kept = found.held
	h.keep, h.force = found.held, r.forced(x, rules, g)
	h.before = soon(r, func() ([]session.Held, error) { return r.stillHeld(ctx, g, found.held) })
	if len(found.suspects) == 0 {
		return h, nil
	}
	ask := found.suspects
	if x != nil {
		ignored, err := r.ignoredNow(ctx, found.suspects)
		if err != nil {
			return h, err
		}
		h.ignored = slices.DeleteFunc(slices.Clone(ask), func(p string) bool { return !ignored[p] })
		ask = slices.DeleteFunc(slices.Clone(ask), func(p string) bool { return ignored[p] })
	}
	if len(ask) == 0 {
		return h, nil
	}
	if h.held, err = r.sift(ctx, h.rules, ask, index, x, head); err != nil {
		return h, err
	}
	for _, p := range ask { // one that holds its own .gitignore, as Python's environments do
		if p != "" && filled(path.Base(p)) && !slices.ContainsFunc(h.held, func(k session.Held) bool { return k.Path == p }) {
			h.ignored = append(h.ignored, p)
		}
	}
	for _, k := range h.held {
		h.keep = append(h.keep, k.Path)
	}
	if more, grown := g.Hold(h.held); grown { // so that git does not look into directories either
		h.rules = session.WithGuard(rules, more)
	}
	return h, nil
}

// stillHeld returns those things of a guard that lie at the given paths and that the repository's own rules do not
// ignore by now.
func (r *Repo) stillHeld(ctx context.Context, g session.Guard, paths []string) ([]session.Held, error) {
	if len(paths) == 0 {
		return nil, nil
	}
	ignored, err := r.ignoredNow(ctx, paths)
	if err != nil {
		return nil, err
	}
	var held []session.Held
	for _, h := range g.Held {
		if !slices.Contains(paths, h.Path) || ignored[h.Path] {
			continue
		}
		if info, err := r.lstat(strings.TrimSuffix(h.Path, "/")); err == nil && info.Mode().IsRegular() {
			h.Bytes = info.Size()
		}
		held = append(held, h)
	}
	return held, nil
}

// ignoredNow returns those of some untracked paths that the repository's and the user's rules ignore.
func (r *Repo) ignoredNow(ctx context.Context, paths []string) (map[string]bool, error) {
	var in bytes.Buffer
	for _, p := range paths {
		in.WriteString(strings.TrimSuffix(p, "/") + "\x00")
	}
	out, err := r.git(ctx, gitOpts{stdin: in.Bytes(), okExit: []int{1}}, "check-ignore", "--no-index", "-z", "--stdin")
	if err != nil {
		return nil, err
	}
	said := map[string]bool{}
	for _, p := range splitZ(out) {
		said[p], said[p+"/"] = true, true
	}
	return said, nil
}

// forced returns allowed paths that git would pass over: those below a directory that is held out, or that was ignored
// before.
func (r *Repo) forced(x *index, rules []byte, g session.Guard) []string {
	var force []string
	for _, a := range g.Allowed {
		out := slices.ContainsFunc(g.Held, func(h session.Held) bool { return h.IsDir() && strings.HasPrefix(a, h.Path) })
		for line := range bytes.Lines(rules) {
			if out {
				break
			}
			p := session.ExcludedPath(string(bytes.TrimSuffix(line, []byte("\n"))))
			out = strings.HasSuffix(p, "/") && strings.HasPrefix(a, p)
		}
		if !out || x != nil && x.tracks(a) {
			continue
		}
		if _, err := r.lstat(a); err == nil {
			force = append(force, a)
		}
	}
	return force
}

// tracks reports whether an index has an entry at a path or below it.
func (x *index) tracks(p string) bool {
	file, below := find(x.entries, 0, p)
	return file != nil || len(below) > 0
}

// sift asks git for the untracked files at and below some paths ("" for all), and returns what of them is to be held
// out. However many they are, only that is kept in memory.
func (r *Repo) sift(ctx context.Context, rules []byte, paths []string, index string, x *index, head session.Commit) ([]session.Held, error) {
	dirs, err := r.directoriesOf(ctx, head)
	if err != nil {
		return nil, err
	}
	_, g := session.SplitGuard(rules)
	s := sieve{guard: g, size: func(p string) int64 {
		info, err := os.Lstat(filepath.Join(r.root, filepath.FromSlash(p)))
		if err != nil || !info.Mode().IsRegular() {
			return 0
		}
		return info.Size()
	}, suspect: r.suspect, tracked: func(dir string) bool { return dirs[dir] || x != nil && x.tracks(dir) }}
	if err := r.combineExcludes(ctx, rules); err != nil {
		return nil, err
	}
	args := []string{"-c", "core.excludesFile=" + r.excludesPath(), "ls-files", "-o", "--exclude-standard", "-z", "--"}
	const most = 1000 // arguments; beyond it, git looks at everything
	if len(paths) <= most && paths[0] != "" {
		for _, p := range paths {
			args = append(args, ":(top,literal)"+strings.TrimSuffix(p, "/"))
		}
	}
	if err := r.gitStream(ctx, gitOpts{env: withIndex(index)}, nil, &s, args...); err != nil {
		return nil, err
	}
	held := s.end()
	old, err := r.inCommit(ctx, head, held)
	return slices.DeleteFunc(held, func(k session.Held) bool { return old[k.Path] }), err
}

// directoriesOf returns the paths of the directories of a commit.
func (r *Repo) directoriesOf(ctx context.Context, c session.Commit) (map[string]bool, error) {
	all := map[string]bool{}
	if c == "" {
		return all, nil
	}
	out, err := r.git(ctx, gitOpts{}, "ls-tree", "-r", "-d", "-z", "--name-only", "--full-tree", string(c))
	for _, p := range splitZ(out) {
		all[p] = true
	}
	return all, err
}

// inCommit returns those files that a commit has.
func (r *Repo) inCommit(ctx context.Context, c session.Commit, held []session.Held) (map[string]bool, error) {
	has := map[string]bool{}
	if c == "" {
		return has, nil
	}
	for some := range slices.Chunk(held, 500) {
		args := []string{"--literal-pathspecs", "ls-tree", "-z", "--full-tree", string(c), "--"}
		for _, h := range some {
			args = append(args, strings.TrimSuffix(h.Path, "/"))
		}
		out, err := r.git(ctx, gitOpts{}, args...)
		if err != nil {
			return nil, err
		}
		for _, line := range splitZ(out) { // "mode type id", a tab, the path
			if meta, p, _ := strings.Cut(line, "\t"); strings.Contains(meta, " blob ") {
				has[p] = true
			}
		}
	}
	return has, nil
}
