package gitstate

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/gitstate/gitcmd"
	"github.com/wfs-dev/wfs/internal/durable"
	"github.com/wfs-dev/wfs/session"
)

// ErrInTheWay says that a move would destroy something that no snapshot has.
var ErrInTheWay = errors.New("a file is in the way that is not in any snapshot")

// MoveTree brings the work tree from the plan's snapshot to its target, except for `.wfs`. HEAD, the index and the refs
// stay. Interrupted, or after an error, it can be planned and carried out again from a new snapshot; the caller has
// made the present one reachable, and holds the work tree's lock.
//
// Git does it, as a checkout between two throw-away commits in a private git directory. A checkout looks at every file
// before it touches the first one: it refuses files that are not as its index has them, and files that its index does
// not have at all; --no-overwrite-ignore makes it refuse ignored ones, and directories with ignored files in them, too
// (plain checkout and `read-tree -u` delete those without a word, `reset --hard` deletes all of them). It compares stat
// data, and content where a file changed in the same tick of the clock as the index, so the private index keeps the
// time of the one that it was copied from. What it does not save are nested repositories in the place of a submodule;
// those are looked for first.
//
// The bytes that the plan's Raw does not have, and no snapshot, are looked for once more, and those of RawTo
// are written at the end: git does not write these files, not even for a moment, because a filter may refuse
// to.
func (r *Repo) MoveTree(ctx context.Context, m session.Move) error {
	durable.Hit(durable.MoveFiles)
	if len(m.InTheWay) > 0 {
		return inTheWay(m.InTheWay)
	}
	target, err := r.withUserDir(ctx, m.To, m.From)
	if err != nil {
		return err
	}
	changes, err := r.diffTrees(ctx, m.From, target)
	if err != nil {
		return err
	}
	back, err := r.toWrite(ctx, m.RawTo, target)
	if err != nil {
		return err
	}
	if len(changes) == 0 && len(back) == 0 {
		return r.endMove()
	}
	// The plan may be minutes old: somebody read it.
	w, err := r.survey(ctx, changes)
	if err != nil {
		return err
	}
	if err := w.look(changes); err != nil {
		return err
	}
	if found := w.found(); len(found) > 0 {
		return fmt.Errorf("%w: %w", session.ErrTouched, inTheWay(found)) // the plan had none
	}
	lay, err := r.lying(ctx, changes, back)
	if err != nil {
		return err
	}
	if raw, err := r.rawOf(ctx, endangered(changes, back)); err != nil {
		return err
	} else if raw != m.Raw {
		return fmt.Errorf("moving the work tree: %w", session.ErrTouched)
	}
	dir := filepath.Join(r.Git.PrivateDir(), "move")
	fromTree, toTree, spared := m.From, target, map[string]bool{}
	if len(back) > 0 {
		if fromTree, toTree, err = r.sparing(ctx, spared, back, m.From, target); err != nil {
			return err
		}
	}
	from, to, err := r.throwAway(ctx, fromTree, toTree)
	if err != nil {
		return err
	}
	if err := r.makeGitDir(dir, string(from)); err != nil {
		return err
	}
	if err := r.letIn(ctx, dir, m.Index, m.To); err != nil {
		return err
	}
	if err := r.fillMoveIndex(ctx, dir, fromTree); err != nil {
		return err
	}
	flagged := slices.DeleteFunc(w.flagged, func(p string) bool { return spared[p] })
	if err := r.lookAgain(ctx, dir, flagged); err != nil {
		return err
	}
	if err := r.beginMove(m.From, target); err != nil {
		return err
	}
	durable.Hit(durable.MovePlanned)
	for _, c := range changes {
		if w.torn[c.Path] {
			if err := os.Remove(w.file(c.Path)); err != nil && !gitcmd.Absent(err) {
				return err
			}
		}
	}
	if err := r.checkout(ctx, dir, to); err != nil {
		return err
	}
	durable.Hit(durable.MoveHalf)
	if err := r.verifyMove(ctx, dir, unspared(changes, spared), w.fold); err != nil {
		return err
	}
	if back, err = r.toWrite(ctx, m.RawTo, target); err == nil {
		err = r.writeRaw(ctx, back, lay)
	}
	if err == nil {
		err = r.writeOut(changes, back)
	}
	if err != nil {
		return err
	}
	if err := r.endMove(); err != nil {
		return err
	}
	durable.Hit(durable.MoveTree)
	return nil
}

func (r *Repo) checkout(ctx context.Context, dir string, to session.Commit) error {
	_, err := r.Git.Run(ctx, gitcmd.Opts{GitDir: dir, Write: true}, "-c", "core.splitIndex=false",
		"checkout", "--quiet", "--no-overwrite-ignore", "--no-recurse-submodules", "--detach", string(to), "--")
	var refused *gitcmd.GitError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &refused) && refused.Exit == 1 && unexpected(refused.Stderr):
		return fmt.Errorf("moving the work tree: %w: %w", session.ErrTouched, err)
	}
	return fmt.Errorf("moving the work tree: %w", err)
}

// unexpected reports whether git refuses a checkout because a file is not what its index says, or is not in it at all.
func unexpected(stderr string) bool {
	for _, s := range []string{"would be overwritten by checkout", "would be removed by checkout",
		"would lose untracked files", "not uptodate"} {
		if strings.Contains(stderr, s) {
			return true
		}
	}
	return false
}

func inTheWay(list []session.Skip) error {
	const shown = 5
	var b strings.Builder
	for i, s := range list {
		if i == shown {
			fmt.Fprintf(&b, " and %d more", len(list)-shown)
			break
		}
		fmt.Fprintf(&b, " %q (%s)", s.Path, s.Why)
	}
	return fmt.Errorf("%w:%s", ErrInTheWay, b.String())
}

// throwAway makes a commit of each tree: a checkout takes commits. The same trees make the same commits.
func (r *Repo) throwAway(ctx context.Context, from, to session.Tree) (a, b session.Commit, err error) {
	const ident = "wfs <wfs@localhost>"
	first := r.newCommit(string(from), nil, ident, 0, "wfs: before a move")
	second := r.newCommit(string(to), []session.Commit{session.Commit(first.id)}, ident, 0, "wfs: after a move")
	return session.Commit(first.id), session.Commit(second.id), r.writeObjects(ctx, first, second)
}

// makeGitDir makes a private git directory that shares refs, objects and configuration with the repository and has a
// HEAD and an index of its own, like that of a linked work tree. One that an interrupted command left is replaced.
func (r *Repo) makeGitDir(dir, head string) error {
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	if err := durable.MkdirAll(filepath.Join(dir, "info")); err != nil {
		return err
	}
	// With a sparse checkout these say which files are there at all.
	for _, name := range []string{filepath.Join("info", "sparse-checkout"), "config.worktree"} {
		data, err := gitcmd.ReadFile(filepath.Join(r.Git.GitDir, name))
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), data, 0o600)
		}
		if err != nil && !gitcmd.Absent(err) {
			return err
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "commondir"), []byte(r.Git.CommonDir+"\n"), 0o600); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "HEAD"), []byte(head+"\n"), 0o600)
}

// fillMoveIndex makes the index that a move starts from. The one that the snapshot was made with knows every file's
// stat data; without it, every file is read.
func (r *Repo) fillMoveIndex(ctx context.Context, dir string, from session.Tree) error {
	index := filepath.Join(dir, "index")
	if err := copyKeepingTime(filepath.Join(r.Git.PrivateDir(), "index"), index); err == nil {
		out, err := r.Git.Run(ctx, gitcmd.Opts{GitDir: dir}, "write-tree")
		if err == nil && strings.TrimSpace(string(out)) == string(from) {
			return nil
		}
	}
	if err := os.Remove(index); err != nil && !gitcmd.Absent(err) {
		return err
	}
	if _, err := r.Git.Run(ctx, gitcmd.Opts{GitDir: dir, Write: true}, "-c", "core.splitIndex=false", "read-tree",
		string(from)); err != nil {
		return err
	}
	// Exit 1 says that some files differ: in .wfs, or ones that the checkout will then refuse to touch.
	_, err := r.Git.Run(ctx, gitcmd.Opts{GitDir: dir, Write: true, OkExit: []int{1}}, "-c", "core.splitIndex=false",
		"update-index", "-q", "--refresh")
	return err
}

func copyKeepingTime(from, to string) error {
	info, err := os.Stat(from)
	if err != nil {
		return err
	}
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	if err := os.WriteFile(to, data, 0o600); err != nil {
		return err
	}
	return os.Chtimes(to, info.ModTime(), info.ModTime())
}

// verifyMove checks that every change was made. Git only warns about a file that it cannot delete. What changed besides
// is somebody else's work and no concern of the move.
func (r *Repo) verifyMove(ctx context.Context, dir string, changes []treeChange, fold func(string) string) error {
	made := map[string]treeChange{}
	for _, c := range changes {
		made[c.Path] = c
	}
	present := map[string]bool{}
	for _, c := range changes {
		if c.newMode != modeNone {
			present[fold(c.Path)] = true
		}
	}
	var wrong, stuck []string
	for _, c := range changes {
		if c.newMode != modeNone || present[fold(c.Path)] {
			continue
		}
		info, err := r.lstat(c.Path)
		if err == nil && !info.IsDir() {
			was := c
			was.newMode, was.newID = c.oldMode, c.oldID
			if same, err := r.sameFile(ctx, was, bytes.Equal); err != nil {
				return err
			} else if same {
				stuck = append(stuck, c.Path)
			} else {
				wrong = append(wrong, c.Path)
			}
		} else if err != nil && !gitcmd.Absent(err) {
			return err
		}
	}
	out, err := r.Git.Run(ctx, gitcmd.Opts{GitDir: dir}, "status", "--porcelain", "-z", "--no-renames", "--untracked-files=no",
		"--ignore-submodules=dirty")
	if err != nil {
		return err
	}
	for _, line := range gitcmd.SplitZ(out) { // "XY path"
		c, ok := made[line[min(3, len(line)):]]
		if !ok || c.newMode == modeNone {
			continue
		}
		// A file whose content does not survive its filters looks changed to git as soon as it is written.
		same, err := r.sameFile(ctx, c, bytes.Equal)
		if err != nil {
			return err
		}
		if !same {
			wrong = append(wrong, c.Path)
		}
	}
	if len(wrong) > 0 {
		return fmt.Errorf("the work tree is not what it was moved to: %q differ: %w", wrong[:min(5, len(wrong))],
			session.ErrTouched)
	}
	if len(stuck) > 0 {
		return fmt.Errorf("cannot delete %s: it or its directory may be protected",
			strings.Join(stuck[:min(5, len(stuck))], ", "))
	}
	return nil
}

// sameFile compares the file at a change's place with what git would write there.
func (r *Repo) sameFile(ctx context.Context, c treeChange, same func(want, have []byte) bool) (bool, error) {
	info, err := r.lstat(c.Path)
	if gitcmd.Absent(err) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	file := filepath.Join(r.Git.Root, filepath.FromSlash(c.Path))
	switch {
	case c.newMode == modeLink && info.Mode()&os.ModeSymlink != 0:
		link, err := os.Readlink(file)
		if err != nil {
			return false, err
		}
		_, want, err := r.object(ctx, c.newID)
		return err == nil && filepath.ToSlash(link) == string(want), err
	case c.newMode != modeLink && c.newMode != modeGitlink && info.Mode().IsRegular():
		have, err := os.ReadFile(file)
		if err != nil {
			return false, err
		}
		want, err := r.Git.Run(ctx, gitcmd.Opts{}, "cat-file", "--filters", "--path="+c.Path, c.newID)
		return err == nil && same(want, have), err
	}
	return false, nil
}

// lstat looks at a path of the work tree. Below a symbolic link there is nothing: what it leads to has another path.
func (r *Repo) lstat(name string) (fs.FileInfo, error) {
	for i, c := range name {
		if c != '/' {
			continue
		}
		info, err := os.Lstat(filepath.Join(r.Git.Root, filepath.FromSlash(name[:i])))
		if err == nil && !info.IsDir() {
			err = fs.ErrNotExist
		}
		if err != nil {
			return nil, err
		}
	}
	return os.Lstat(filepath.Join(r.Git.Root, filepath.FromSlash(name)))
}
