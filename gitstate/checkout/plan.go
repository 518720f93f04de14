package checkout

import (
	"bytes"
	"context"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/gitstate/gitcmd"
	"github.com/wfs-dev/wfs/gitstate/object"
	"github.com/wfs-dev/wfs/session"
)

// Reasons why a file is in the way of a move, as shown to users.
const (
	wayIgnored    = "git ignores it, so it is in no snapshot"
	WayUnknown    = "it is not in the snapshot"
	wayHeldOut    = "it is excluded from checkpoints"
	wayRepository = "it holds a repository of its own, which wfs does not touch"
	wayClosed     = "its directory cannot be written to"
)

// PlanMove computes the changes that move the work tree from a snapshot to a tree, and the files in the way. It writes
// only objects.
//
// A file is in the way if the move would overwrite or delete it although the snapshot does not have it: a move writes
// only to paths that are free, or whose content the snapshot has. PlanMove looks at the work tree itself. So an ignored
// directory is not in the way, but an ignored file is, if the target has something at its path. PlanMove need not read
// the session's exclude file (its list of paths that checkpoints leave out), because the snapshot does not have these
// files either. `.wfs` is never part of a move. raw is the tree of those files in the target whose bytes differ from
// the bytes that a checkout writes, "" for none; see Raw.
func (r *Mover) PlanMove(ctx context.Context, from session.Snapshot, to, raw session.Tree) (session.Move, error) {
	m := session.Move{From: from.Tree, To: to, RawTo: raw}
	target, err := r.Objects.WithUserDir(ctx, to, from.Tree)
	if err != nil {
		return m, err
	}
	changes, err := r.Objects.DiffTrees(ctx, from.Tree, target)
	if err != nil || len(changes) == 0 {
		return m, err
	}
	m.Changes = object.PlainChanges(changes)
	w, err := r.survey(ctx, changes)
	if err != nil {
		return m, err
	}
	w.skipped(from.Skipped)
	if err := w.look(changes); err != nil {
		return m, err
	}
	m.InTheWay = w.found()
	return m, r.explain(ctx, m.InTheWay, from.HeldOut)
}

// explain replaces the reason of files in the way, if they are excluded from checkpoints or ignored by git.
func (r *Mover) explain(ctx context.Context, found []session.Skip, held []session.Held) error {
	var ask bytes.Buffer
	for i, s := range found {
		switch {
		case s.Why != WayUnknown:
		case slices.ContainsFunc(held,
			func(h session.Held) bool { return session.IsWithin(s.Path, strings.TrimSuffix(h.Path, "/")) }):
			found[i].Why = wayHeldOut
		default:
			ask.WriteString(s.Path + "\x00")
		}
	}
	if ask.Len() == 0 {
		return nil
	}
	// Exit 1 means "none of them"; 128 means a path behind a symbolic link, which gets no explanation.
	out, err := r.Git.Run(ctx, gitcmd.Opts{Stdin: ask.Bytes(), OkExit: []int{1, 128}}, "check-ignore", "-z", "--stdin")
	for _, p := range gitcmd.SplitZ(out) {
		for i := range found {
			if found[i].Path == p {
				found[i].Why = wayIgnored
			}
		}
	}
	return err
}

// way collects the files that are in the way of a move. If the file system ignores case, the keys of known, skips and
// above are in lower case.
type way struct {
	root    string
	fold    func(string) string
	known   map[string]bool // paths that the move deletes or replaces; the snapshot has their content
	torn    map[string]bool // files that an interrupted move has begun to write
	places  map[string]place
	opened  map[string]bool // by directory: whether files can be created in it
	skips   map[string]session.Skip
	above   map[string]session.Skip // directories that contain a skipped path
	blocked map[string]session.Skip // by path
	flagged []string                // files that git is set to ignore
	arrived map[string]bool         // files in flagged that an earlier move has already written
}

func (r *Mover) survey(ctx context.Context, changes []object.TreeChange) (*way, error) {
	w := &way{root: r.Git.Root, fold: func(s string) string { return s }, known: map[string]bool{},
		places: map[string]place{}, opened: map[string]bool{},
		skips: map[string]session.Skip{}, above: map[string]session.Skip{}, blocked: map[string]session.Skip{}}
	out, err := r.Git.Run(ctx, gitcmd.Opts{OkExit: []int{1}}, "config", "--type=bool", "--get", "core.ignoreCase")
	if err != nil {
		return nil, err
	}
	if strings.TrimSpace(string(out)) == "true" {
		w.fold = strings.ToLower
	}
	for _, c := range changes {
		if c.OldMode != object.ModeNone {
			w.known[w.fold(c.Path)] = true
		}
	}
	if w.torn, err = r.tornFiles(ctx, changes); err != nil {
		return nil, err
	}
	w.flagged, w.arrived, err = r.flagged(ctx, changes)
	return w, err
}

// skipped records the paths that the snapshot could not save.
func (w *way) skipped(skips []session.Skip) {
	for _, s := range skips {
		p := strings.TrimSuffix(s.Path, "/")
		if w.torn[p] || w.arrived[p] {
			continue
		}
		p = w.fold(p)
		w.skips[p] = s
		for dir := path.Dir(p); dir != "."; dir = path.Dir(dir) {
			w.above[dir] = s
		}
	}
}

// look finds the files that are in the way of the changes.
func (w *way) look(changes []object.TreeChange) error {
	for _, c := range changes {
		if w.isSkipped(c) {
			continue
		}
		if !w.open(path.Dir(c.Path)) {
			w.block(c.Path, wayClosed)
			continue
		}
		if kept, err := w.submodule(c); err != nil {
			return err
		} else if kept {
			continue
		}
		// reach is needed for a deletion, too: if a file is in the place of its directory, an undo could not restore
		// the deleted file
		at, err := w.reach(path.Dir(c.Path))
		if err == nil && at == directory && c.NewMode != object.ModeNone {
			err = w.lookAt(c)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// submodule blocks the change of a submodule that is checked out: git would leave its files behind, or delete them with
// its repository, and a snapshot never contains them. A submodule that is not checked out is an empty directory.
func (w *way) submodule(c object.TreeChange) (blocked bool, err error) {
	if c.OldMode != object.ModeGitlink {
		return false, nil
	}
	entries, err := os.ReadDir(w.file(c.Path))
	if len(entries) > 0 {
		w.block(c.Path, wayRepository)
	}
	return len(entries) > 0, gitcmd.IgnoreAbsent(err)
}

// open reports whether files can be created and removed in a directory; if the directory does not exist, in its nearest
// existing parent. It is checked before the move, because the move would otherwise fail half-way.
func (w *way) open(dir string) bool {
	ok, known := w.opened[dir]
	if !known {
		info, err := os.Lstat(w.file(dir))
		if dir != "." && (gitcmd.Absent(err) || err == nil && !info.IsDir()) {
			ok = w.open(path.Dir(dir))
		} else {
			ok = gitcmd.Writable(w.file(dir))
		}
		w.opened[dir] = ok
	}
	return ok
}

// isSkipped blocks a change if the snapshot could not save its path, a directory above it or a path below it.
func (w *way) isSkipped(c object.TreeChange) bool {
	for p := w.fold(c.Path); p != "."; p = path.Dir(p) {
		if s, ok := w.skips[p]; ok {
			w.block(strings.TrimSuffix(s.Path, "/"), s.Why)
			return true
		}
	}
	if s, ok := w.above[w.fold(c.Path)]; ok {
		w.block(strings.TrimSuffix(s.Path, "/"), s.Why)
		return true
	}
	return false
}

// place says what the work tree has at the path of a directory of the target.
type place int

const (
	directory place = iota
	free            // nothing, or a file that the move replaces; no file below could be lost
	taken
)

// reach says what is at a directory's path. If a file there must not be replaced, reach blocks it. It does not follow
// symbolic links.
func (w *way) reach(dir string) (place, error) {
	if dir == "." {
		return directory, nil
	}
	if at, ok := w.places[dir]; ok {
		return at, nil
	}
	at, err := w.reach(path.Dir(dir))
	if at == directory && err == nil {
		at, err = w.enter(dir)
	}
	w.places[dir] = at
	return at, err
}

func (w *way) enter(dir string) (place, error) {
	info, err := os.Lstat(w.file(dir))
	switch {
	case gitcmd.Absent(err):
		return free, nil
	case err != nil:
		return taken, err
	case !info.IsDir() && w.allowed(dir):
		return free, nil
	case !info.IsDir():
		return taken, nil
	}
	if gitcmd.IsRepository(w.file(dir)) {
		w.block(dir, wayRepository)
		return taken, nil
	}
	return directory, nil
}

// lookAt blocks the files that exist at the path of a change that writes a file, unless the snapshot has their content.
func (w *way) lookAt(c object.TreeChange) error {
	info, err := os.Lstat(w.file(c.Path))
	if gitcmd.Absent(err) {
		return nil
	}
	if err != nil {
		return err
	}
	if !info.IsDir() {
		w.allowed(c.Path)
		return nil
	}
	// A file replaces this directory: the snapshot must have everything in the directory.
	return filepath.WalkDir(w.file(c.Path), func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(w.root, file)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		if d.Name() == ".git" {
			w.block(path.Dir(rel), wayRepository)
			return fs.SkipDir
		}
		if !d.IsDir() {
			w.allowed(rel)
		}
		return nil
	})
}

// allowed reports whether the file at a path may be replaced, and blocks the path if not.
func (w *way) allowed(p string) bool {
	if w.known[w.fold(p)] || w.torn[p] {
		return true
	}
	w.block(p, WayUnknown)
	return false
}

func (w *way) file(p string) string { return filepath.Join(w.root, filepath.FromSlash(p)) }

func (w *way) block(p, why string) {
	if _, ok := w.blocked[p]; !ok {
		w.blocked[p] = session.Skip{Path: p, Why: why}
	}
}

// removeTorn removes files that an interrupted move has begun to write, if they are at paths of changes.
func (w *way) removeTorn(changes []object.TreeChange) error {
	for _, c := range changes {
		if !w.torn[c.Path] {
			continue
		}
		if err := os.Remove(w.file(c.Path)); err != nil && !gitcmd.Absent(err) {
			return err
		}
	}
	return nil
}

// found lists the files in the way, sorted by path.
func (w *way) found() []session.Skip {
	var list []session.Skip
	for _, s := range w.blocked {
		list = append(list, s)
	}
	slices.SortFunc(list, func(a, b session.Skip) int { return strings.Compare(a.Path, b.Path) })
	return list
}
