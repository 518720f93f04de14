package snapshot

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/wfs-dev/wfs/gitstate/gitcmd"
	"github.com/wfs-dev/wfs/gitstate/object"
	"github.com/wfs-dev/wfs/gitstate/settings"
	"github.com/wfs-dev/wfs/internal/durable"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/session/codec"
)

// Git keeps objects permanently, and branches are pushed. So snapshots leave out ("hold out") large files, floods of
// new files, and files that look like keys or contain one, unless git already tracks them or the user has allowed them.
// wfs decides this before git writes a blob of such a file.

// filled reports whether tools, never people, fill directories of that name.
func filled(name string) bool {
	switch name {
	case "node_modules", "bower_components", ".pnpm-store", ".venv", ".tox", ".nox", "__pycache__", ".gradle",
		".terraform":
		return true
	}
	return false
}

// holding says how a snapshot treats the paths that may have changed.
type holding struct {
	rules   []byte         // content of the session's exclude file
	how     string         // option of `git add`: -A, or -u when there are no untracked files
	keep    []string       // paths to keep out of the snapshot
	held    []session.Held // the paths in keep with reasons, without those that git ignores
	ignored []string       // ignored paths; remembered so that git need not be asked again
	force   []string       // allowed paths below a held-out or ignored directory
	paths   []string       // paths that git has to look at
	doubted []string       // tracked files that git has to read, see looked.Doubted
	given   []session.Skip // tracked files that now contain a new key: git must not look at them
	unsure  bool           // git has to look at the whole work tree
}

// hold decides which files of the work tree to keep out of the private index x. head is the commit on which the work
// tree builds, "" for none; hold never keeps out files that head tracks.
func (r *Guard) hold(ctx context.Context, index string, x *object.Index, exclude string,
	head session.Commit) (h holding,
	err error) {
	if h.rules, err = rulesIn(exclude); err != nil {
		return h, err
	}
	rules, g := codec.SplitGuard(h.rules)
	found := r.Look(x, rules, g)
	if found.rules != nil {
		return h, found.rules
	}
	if err := r.Settings.CombineExcludes(ctx, h.rules); err != nil {
		return h, err
	}
	h.paths, h.doubted, h.unsure, h.force = found.Changed, found.Doubted, found.Unsure, r.forced(x, rules, g)
	h.how = "-A"
	var nothing []string // requested paths in which git found no file to add
	if len(found.Others) > 0 {
		s, err := r.sift(ctx, g, found.Others, index, x, head)
		if err != nil {
			return h, err
		}
		h.held, nothing = s.held, slices.Sorted(maps.Keys(s.empty))
		h.paths, h.unsure = append(h.paths, s.fresh...), h.unsure || s.more
	} else if len(x.Entries) > 0 {
		h.how = "-u" // there are no untracked files to look for
	}
	there := r.heldBefore(x, g)
	ignored, err := r.Settings.Ignores(ctx, slices.Concat(nothing, there))
	if err != nil {
		return h, err
	}
	h.remember(nothing, ignored)
	more, grown := g.Hold(h.held)
	h.keepOut(g, there, ignored)
	if !grown {
		return h, nil
	}
	h.rules = codec.WithGuard(rules, more)
	return h, r.Settings.CombineExcludes(ctx, h.rules) // so that git does not search the new directories either
}

// rulesIn reads a session's exclude file. If the path is "" or the file is missing, there are no rules.
func rulesIn(exclude string) ([]byte, error) {
	if exclude == "" {
		return nil, nil
	}
	rules, err := durable.ReadFile(exclude, settings.MaxRules)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return rules, err
}

// remember is called with paths in which git found no file to add, for example because a directory has a .gitignore of
// its own. It adds to h.ignored those that git ignores, and directories that tools fill, such as node_modules.
func (h *holding) remember(nothing []string, ignored map[string]bool) {
	for _, p := range nothing {
		if p = strings.TrimSuffix(p, "/"); ignored[p] || filled(path.Base(p)) {
			h.ignored = append(h.ignored, p+"/")
		}
	}
}

// keepOut collects the paths to keep out: those that this snapshot holds out, and those that earlier snapshots held out
// (in the guard) and that still exist (`there`).
func (h *holding) keepOut(g session.Guard, there []string, ignored map[string]bool) {
	for _, k := range h.held {
		h.keep = append(h.keep, k.Path)
	}
	for _, k := range g.Held {
		if !slices.Contains(there, k.Path) || slices.Contains(h.keep, k.Path) {
			continue
		}
		h.keep = append(h.keep, k.Path)
		if !ignored[k.Path] {
			h.held = append(h.held, k)
		}
	}
}

// heldBefore returns those held-out paths of a guard that still exist, that the index does not track, and that the user
// has not allowed.
func (r *Guard) heldBefore(x *object.Index, g session.Guard) (there []string) {
	for i := range g.Held {
		p := strings.TrimSuffix(g.Held[i].Path, "/")
		info, err := r.Git.Lstat(p)
		if file, _ := object.Find(x.Entries, 0, p); err != nil || file != nil {
			continue
		}
		if info.Mode().IsRegular() {
			g.Held[i].Bytes = info.Size()
		}
		if info.IsDir() && !r.holdsOther(x, g, p) {
			continue
		}
		there = append(there, g.Held[i].Path)
	}
	return there
}

// holdsOther reports whether a directory contains a file that the index does not track and that the user has not
// allowed.
func (r *Guard) holdsOther(x *object.Index, g session.Guard, dir string) bool {
	found := errors.New("found")
	err := filepath.WalkDir(filepath.Join(r.Git.Root, filepath.FromSlash(dir)),
		func(name string, d fs.DirEntry, err error) error {
			rel := filepath.ToSlash(strings.TrimPrefix(name, r.Git.Root+string(filepath.Separator)))
			switch {
			case err != nil:
				return err
			case g.Allows(rel) && d.IsDir():
				return fs.SkipDir
			case d.IsDir(), g.Allows(rel):
				return nil
			}
			if file, _ := object.Find(x.Entries, 0, rel); file != nil {
				return nil
			}
			return found
		})
	return err != nil // an unreadable directory may contain such a file
}

// forced returns those allowed paths that git would skip because they are below a directory that is held out or that
// was found to be ignored. These need `git add -f`.
func (r *Guard) forced(x *object.Index, rules []byte, g session.Guard) []string {
	var force []string
	for _, a := range g.Allowed {
		out := slices.ContainsFunc(g.Held, func(h session.Held) bool { return h.IsDir() && strings.HasPrefix(a, h.Path) })
		for line := range bytes.Lines(rules) {
			if out {
				break
			}
			p := codec.ExcludedPath(string(bytes.TrimSuffix(line, []byte("\n"))))
			out = strings.HasSuffix(p, "/") && strings.HasPrefix(a, p)
		}
		if !out || x.Tracks(a) {
			continue
		}
		if _, err := r.Git.Lstat(a); err == nil {
			force = append(force, a)
		}
	}
	return force
}

// sift lists the untracked files at and below some paths with git, and selects those to hold out. It does not keep the
// whole list in memory, however many files there are.
func (r *Guard) sift(ctx context.Context, g session.Guard, paths []string, index string, x *object.Index,
	head session.Commit) (*sieve, error) {
	dirs := sync.OnceValues(func() (map[string]bool, error) { return r.directoriesOf(ctx, head) })
	s := &sieve{guard: g, size: func(p string) int64 {
		info, err := os.Lstat(filepath.Join(r.Git.Root, filepath.FromSlash(p)))
		if err != nil || !info.Mode().IsRegular() {
			return 0
		}
		return info.Size()
	}, suspect: r.Suspect, tracked: func(dir string) bool {
		all, _ := dirs()
		return all[dir] || x.Tracks(dir)
	}, empty: map[string]bool{}}
	for _, p := range paths {
		if strings.HasSuffix(p, "/") || keyLike(path.Base(p)) {
			s.empty[p] = true
		}
	}
	var warned bytes.Buffer
	if err := x.Store(); err != nil {
		return nil, err
	}
	if err := r.siftByGit(ctx, s, paths, index, &warned); err != nil {
		return nil, err
	}
	s.end()
	s.more = s.more || warned.Len() > 0 // a directory that git cannot open; `git add` names it
	if s.asked {
		if _, err := dirs(); err != nil {
			return nil, err
		}
	}
	old, err := r.inCommit(ctx, head, s.held)
	s.held = slices.DeleteFunc(s.held, func(k session.Held) bool {
		if old[k.Path] {
			s.fresh = append(s.fresh, k.Path)
		}
		return old[k.Path]
	})
	return s, err
}

// siftByGit runs `git ls-files` for the untracked files at and below some paths, and writes its output to s.
func (r *Guard) siftByGit(ctx context.Context, s *sieve, paths []string, index string, warned io.Writer) error {
	args := []string{"-c", "core.excludesFile=" + r.Settings.ExcludesPath(), "ls-files", "-o",
		"--exclude-standard", "-z", "--"}
	const most = 1000 // maximum of arguments; with more paths, git lists the whole work tree
	for _, p := range paths {
		if len(paths) <= most {
			args = append(args, ":(top,literal)"+strings.TrimSuffix(p, "/"))
		}
	}
	return r.Git.Stream(ctx, gitcmd.Opts{Env: gitcmd.WithIndex(index), Stderr: warned}, nil, s, args...)
}

// directoriesOf returns the paths of all directories of a commit.
func (r *Guard) directoriesOf(ctx context.Context, c session.Commit) (map[string]bool, error) {
	all := map[string]bool{}
	if c == "" {
		return all, nil
	}
	out, err := r.Git.Ask(ctx, "ls-tree", "-r", "-d", "-z", "--name-only", "--full-tree", string(c))
	for _, p := range gitcmd.SplitZ(out) {
		all[p] = true
	}
	return all, err
}

// inCommit returns which of the held-out files are files of a commit.
func (r *Guard) inCommit(ctx context.Context, c session.Commit, held []session.Held) (map[string]bool, error) {
	has := map[string]bool{}
	if c == "" {
		return has, nil
	}
	for some := range slices.Chunk(held, 500) {
		args := []string{"--literal-pathspecs", "ls-tree", "-z", "--full-tree", string(c), "--"}
		for _, h := range some {
			args = append(args, strings.TrimSuffix(h.Path, "/"))
		}
		out, err := r.Git.Ask(ctx, args...)
		if err != nil {
			return nil, err
		}
		for _, line := range gitcmd.SplitZ(out) { // "mode type id", a tab, the path
			if meta, p, _ := strings.Cut(line, "\t"); strings.Contains(meta, " blob ") {
				has[p] = true
			}
		}
	}
	return has, nil
}
