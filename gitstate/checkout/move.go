package checkout

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/gitstate/gitcmd"
	"github.com/wfs-dev/wfs/gitstate/object"
	"github.com/wfs-dev/wfs/gitstate/raw"
	"github.com/wfs-dev/wfs/internal/durable"
	"github.com/wfs-dev/wfs/session"
)

// ErrInTheWay is the error for a move that would destroy a file that no snapshot has.
var ErrInTheWay = errors.New("a file is in the way that is not in any snapshot")

// MoveTree moves the files of the work tree from the plan's snapshot to its target, except for `.wfs`. It does not
// change HEAD, the index or refs. After an interruption or an error, the move can be planned and run again from a new
// snapshot. Before the call, the caller makes the present snapshot reachable from a ref and takes the work tree's lock.
//
// Git changes the files: MoveTree checks out between two temporary commits in a private git directory. Before a
// checkout changes the first file, it compares all of them: it refuses if a file is not as in its index, or is not in
// the index at all. With --no-overwrite-ignore it also refuses to delete ignored files, and directories that contain
// them. (A plain checkout and `read-tree -u` silently delete these, `reset --hard` deletes all of them.) A checkout
// compares stat data, and the contents of a file that changed in the same tick of the clock as the index. So the
// private index, which is a copy, keeps the time of its original. A checkout does not protect a nested repository in
// the place of a submodule, so wfs looks for these first.
//
// If a file has bytes that neither the plan's Raw nor a snapshot has, the move stops with session.ErrTouched. At the
// end wfs itself writes the files of RawTo: git never writes them, because a filter may refuse to.
func (r *Mover) MoveTree(ctx context.Context, m session.Move) error {
	durable.Hit(durable.MoveFiles)
	if len(m.InTheWay) > 0 {
		return inTheWay(m.InTheWay)
	}
	v, err := r.changesOf(ctx, m)
	if err != nil {
		return err
	}
	if len(v.changes) == 0 && len(v.back) == 0 {
		return r.endMove()
	}
	if err := v.recheck(ctx); err != nil {
		return err
	}
	if err := v.arrange(ctx); err != nil {
		return err
	}
	if err := r.Begin(m.From, v.target); err != nil {
		return err
	}
	durable.Hit(durable.MovePlanned)
	if err := v.way.removeTorn(v.changes); err != nil {
		return err
	}
	if err := r.Checkout(ctx, v.dir, v.to); err != nil {
		return err
	}
	durable.Hit(durable.MoveHalf)
	if err := v.complete(ctx); err != nil {
		return err
	}
	durable.Hit(durable.MoveTree)
	return nil
}

// moving is a move in progress.
type moving struct {
	session.Move
	mover   *Mover
	target  session.Tree        // the plan's target tree (To), with `.wfs` of the tree From
	changes []object.TreeChange // differences between From and target
	back    []raw.File          // files whose exact bytes wfs writes at the end
	lay     map[string]string   // present content at the paths of back
	spared  map[string]bool     // files that git must not write
	way     *way
	dir     string         // the private git directory
	to      session.Commit // the commit to check out there
}

func (r *Mover) changesOf(ctx context.Context, m session.Move) (*moving, error) {
	v := &moving{Move: m, mover: r, spared: map[string]bool{}, dir: filepath.Join(r.Git.PrivateDir(), "move")}
	var err error
	if v.target, err = r.Objects.WithUserDir(ctx, m.To, m.From); err != nil {
		return nil, err
	}
	if v.changes, err = r.Objects.DiffTrees(ctx, m.From, v.target); err != nil {
		return nil, err
	}
	v.back, err = r.RawBytes.ToWrite(ctx, m.RawTo, v.target)
	return v, err
}

// recheck looks again for files in the way: since the plan was made, the user may have read it for minutes and edited
// files.
func (v *moving) recheck(ctx context.Context) error {
	var err error
	if v.way, err = v.mover.survey(ctx, v.changes); err != nil {
		return err
	}
	if err := v.way.look(v.changes); err != nil {
		return err
	}
	if found := v.way.found(); len(found) > 0 {
		return fmt.Errorf("%w: %w", session.ErrTouched, inTheWay(found)) // the plan was made without files in the way
	}
	if v.lay, err = v.mover.RawBytes.Lying(ctx, v.changes, v.back); err != nil {
		return err
	}
	raw, err := v.mover.RawBytes.Of(ctx, raw.Endangered(v.changes, v.back))
	if err == nil && raw != v.Raw {
		err = fmt.Errorf("moving the work tree: %w", session.ErrTouched)
	}
	return err
}

// arrange creates the private git directory for the move.
func (v *moving) arrange(ctx context.Context) error {
	fromTree, toTree := v.From, v.target
	var err error
	if len(v.back) > 0 {
		if fromTree, toTree, err = v.mover.sparing(ctx, v.spared, v.back, v.From, v.target); err != nil {
			return err
		}
	}
	from, to, err := v.mover.ThrowAway(ctx, fromTree, toTree)
	if err != nil {
		return err
	}
	v.to = to
	if err := v.mover.Git.MakeGitDir(v.dir, string(from)); err != nil {
		return err
	}
	if err := v.mover.letIn(ctx, v.dir, v.Index, v.To); err != nil {
		return err
	}
	if err := v.mover.FillIndex(ctx, v.dir, fromTree); err != nil {
		return err
	}
	flagged := slices.DeleteFunc(v.way.flagged, func(p string) bool { return v.spared[p] })
	return v.mover.lookAgain(ctx, v.dir, flagged)
}

// complete checks git's work, and writes the files that git does not.
func (v *moving) complete(ctx context.Context) error {
	if err := v.verify(ctx); err != nil {
		return err
	}
	back, err := v.mover.RawBytes.ToWrite(ctx, v.RawTo, v.target)
	if err != nil {
		return err
	}
	if err := v.mover.RawBytes.Write(ctx, back, v.lay); err != nil {
		return err
	}
	if err := v.mover.writeOut(v.changes, back); err != nil {
		return err
	}
	return v.mover.endMove()
}

// Checkout runs `git checkout` of a commit, with the index and HEAD of a private git directory. If git refuses because
// a file has changed, the error wraps session.ErrTouched.
func (r *Mover) Checkout(ctx context.Context, dir string, to session.Commit) error {
	_, err := r.Git.Run(ctx, gitcmd.Opts{GitDir: dir, Write: true}, "checkout", "--quiet", "--no-overwrite-ignore",
		"--no-recurse-submodules", "--detach", string(to), "--")
	var refused *gitcmd.GitError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &refused) && refused.Exit == 1 && unexpected(refused.Stderr):
		return fmt.Errorf("moving the work tree: %w: %w", session.ErrTouched, err)
	}
	return fmt.Errorf("moving the work tree: %w", err)
}

// unexpected reports whether git refused a checkout because a file differs from its index or is not in the index.
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

// ThrowAway writes a temporary commit for each of two trees, because a checkout needs commits. The same trees always
// give the same commits.
func (r *Mover) ThrowAway(ctx context.Context, from, to session.Tree) (a, b session.Commit, err error) {
	const ident = "wfs <wfs@localhost>"
	first := r.Objects.NewCommit(string(from), nil, ident, 0, "wfs: before a move")
	second := r.Objects.NewCommit(string(to), []session.Commit{session.Commit(first.ID)}, ident, 0, "wfs: after a move")
	return session.Commit(first.ID), session.Commit(second.ID), r.Objects.WriteObjects(ctx, first, second)
}

// FillIndex creates the private index for a move from a tree. It copies the snapshot's index, which has the stat data
// of all files, if that index is of the same tree: without stat data, git would have to read every file.
func (r *Mover) FillIndex(ctx context.Context, dir string, from session.Tree) error {
	index := filepath.Join(dir, "index")
	if err := gitcmd.CopyKeepingTime(filepath.Join(r.Git.PrivateDir(), "index"), index); err == nil {
		out, err := r.Git.Run(ctx, gitcmd.Opts{GitDir: dir}, "write-tree")
		if err == nil && strings.TrimSpace(string(out)) == string(from) {
			return nil
		}
	}
	if err := os.Remove(index); err != nil && !gitcmd.Absent(err) {
		return err
	}
	if _, err := r.Git.Run(ctx, gitcmd.Opts{GitDir: dir, Write: true}, "read-tree",
		string(from)); err != nil {
		return err
	}
	// Exit 1 means that some files differ: files in .wfs, or files that the checkout will refuse to overwrite.
	_, err := r.Git.Run(ctx, gitcmd.Opts{GitDir: dir, Write: true, OkExit: []int{1}}, "update-index", "-q", "--refresh")
	return err
}

// verify checks that every change was made: if git cannot delete a file, it only warns. Files that differ at other
// paths are edits by another process; verify ignores them.
func (v *moving) verify(ctx context.Context) error {
	changes, fold := unspared(v.changes, v.spared), v.way.fold
	present := map[string]bool{}
	for _, c := range changes {
		if c.NewMode != object.ModeNone {
			present[fold(c.Path)] = true
		}
	}
	deleted := slices.DeleteFunc(slices.Clone(changes), func(c object.TreeChange) bool { return present[fold(c.Path)] })
	stuck, wrong, err := v.mover.undeleted(ctx, deleted)
	if err != nil {
		return err
	}
	unlike, err := v.unwritten(ctx, changes)
	if err != nil {
		return err
	}
	if wrong = append(wrong, unlike...); len(wrong) > 0 {
		return fmt.Errorf("the work tree is not what it was moved to: %q differ: %w", wrong[:min(5, len(wrong))],
			session.ErrTouched)
	}
	if len(stuck) > 0 {
		return fmt.Errorf("cannot delete %s: it or its directory may be protected",
			strings.Join(stuck[:min(5, len(stuck))], ", "))
	}
	return nil
}

// undeleted lists the files that should have been deleted and exist: stuck have their old content, wrong have other
// content.
func (r *Mover) undeleted(ctx context.Context, deleted []object.TreeChange) (stuck, wrong []string, err error) {
	for _, c := range deleted {
		info, err := r.Git.Lstat(c.Path)
		if gitcmd.Absent(err) || err == nil && info.IsDir() {
			continue
		}
		if err != nil {
			return nil, nil, err
		}
		c.NewMode, c.NewID = c.OldMode, c.OldID
		same, err := r.sameFile(ctx, c, bytes.Equal)
		if err != nil {
			return nil, nil, err
		}
		if same {
			stuck = append(stuck, c.Path)
		} else {
			wrong = append(wrong, c.Path)
		}
	}
	return stuck, wrong, nil
}

// unwritten lists the files that should have been written and do not have the target's content.
func (v *moving) unwritten(ctx context.Context, changes []object.TreeChange) (wrong []string, err error) {
	made := map[string]object.TreeChange{}
	for _, c := range changes {
		if c.NewMode != object.ModeNone {
			made[c.Path] = c
		}
	}
	out, err := v.mover.Git.Run(ctx, gitcmd.Opts{GitDir: v.dir}, "status", "--porcelain", "-z", "--no-renames",
		"--untracked-files=no", "--ignore-submodules=dirty")
	if err != nil {
		return nil, err
	}
	for _, line := range gitcmd.SplitZ(out) { // "XY path"
		c, ok := made[line[min(3, len(line)):]]
		if !ok {
			continue
		}
		// If filters do not restore the same content when a file is added and checked out, git reports the file as
		// modified right after the checkout. So compare with the content that a checkout writes.
		same, err := v.mover.sameFile(ctx, c, bytes.Equal)
		if err != nil {
			return nil, err
		}
		if !same {
			wrong = append(wrong, c.Path)
		}
	}
	return wrong, nil
}

// sameFile compares the file at the path of a change with the content that git would write there for the change. It
// calls same to compare the bytes of regular files.
func (r *Mover) sameFile(ctx context.Context, c object.TreeChange, same func(want, have []byte) bool) (bool, error) {
	info, err := r.Git.Lstat(c.Path)
	if err != nil {
		return false, gitcmd.IgnoreAbsent(err)
	}
	file := filepath.Join(r.Git.Root, filepath.FromSlash(c.Path))
	switch isLink := info.Mode()&os.ModeSymlink != 0; {
	case isLink && c.NewMode == object.ModeLink:
		link, err := os.Readlink(file)
		if err != nil {
			return false, err
		}
		_, want, err := r.Objects.Read(ctx, c.NewID)
		return err == nil && filepath.ToSlash(link) == string(want), err
	case info.Mode().IsRegular() && c.NewMode != object.ModeLink && c.NewMode != object.ModeGitlink:
		have, err := os.ReadFile(file)
		if err != nil {
			return false, err
		}
		want, err := r.Git.Ask(ctx, "cat-file", "--filters", "--path="+c.Path, c.NewID)
		return err == nil && same(want, have), err
	}
	return false, nil
}
