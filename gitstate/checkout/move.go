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

// moving is a move that is being carried out.
type moving struct {
	session.Move
	mover   *Mover
	target  session.Tree        // To, with the `.wfs` of From
	changes []object.TreeChange // from From to target
	back    []raw.File          // whose bytes are written at the end
	lay     map[string]string   // what lies in their places
	spared  map[string]bool     // files that git is not to write
	way     *way
	dir     string         // the private git directory
	to      session.Commit // that is checked out there
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

// recheck looks once more for what is in the way: the plan may be minutes old, somebody read it.
func (v *moving) recheck(ctx context.Context) error {
	var err error
	if v.way, err = v.mover.survey(ctx, v.changes); err != nil {
		return err
	}
	if err := v.way.look(v.changes); err != nil {
		return err
	}
	if found := v.way.found(); len(found) > 0 {
		return fmt.Errorf("%w: %w", session.ErrTouched, inTheWay(found)) // the plan had none
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

// arrange makes the private git directory in which git carries the move out.
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

// complete checks what git has done, and does what git does not.
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

// Checkout has git check a commit out, with the index and the HEAD of a private git directory.
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

// ThrowAway makes a commit of each tree: a checkout takes commits. The same trees make the same commits.
func (r *Mover) ThrowAway(ctx context.Context, from, to session.Tree) (a, b session.Commit, err error) {
	const ident = "wfs <wfs@localhost>"
	first := r.Objects.NewCommit(string(from), nil, ident, 0, "wfs: before a move")
	second := r.Objects.NewCommit(string(to), []session.Commit{session.Commit(first.ID)}, ident, 0, "wfs: after a move")
	return session.Commit(first.ID), session.Commit(second.ID), r.Objects.WriteObjects(ctx, first, second)
}

// FillIndex makes the index that a move starts from. The one that the snapshot was made with knows every file's
// stat data; without it, every file is read.
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
	// Exit 1 says that some files differ: in .wfs, or ones that the checkout will then refuse to touch.
	_, err := r.Git.Run(ctx, gitcmd.Opts{GitDir: dir, Write: true, OkExit: []int{1}}, "update-index", "-q", "--refresh")
	return err
}

// verify checks that every change was made. Git only warns about a file that it cannot delete. What changed besides
// is somebody else's work and no concern of the move.
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

// undeleted lists files that should have been deleted: those that are as before, and others.
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

// unwritten lists files that should have been written and are not as the target has them.
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
		// A file whose content does not survive its filters looks changed to git as soon as it is written.
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

// sameFile compares the file at a change's place with what git would write there.
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
