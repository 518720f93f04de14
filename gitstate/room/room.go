package room

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/wfs-dev/wfs/gitstate/gitcmd"
	"github.com/wfs-dev/wfs/gitstate/object"
	"github.com/wfs-dev/wfs/internal/durable"
	"github.com/wfs-dev/wfs/session"
)

// Request describes a room.
type Request struct {
	Dir, Name string // directory of the room, and its name in the repository
	Tree      session.Tree
	Further   []string     // patterns of untracked and ignored files of the work tree to copy
	Env       []string     // environment of the gates that will run there
	SetUp     func() error // installs packages there; nil: copy them from the work tree
	Judged    session.Tree // installed packages are all that are not among its files
	Packages  string       // expected digest of the packages to copy
	Cold      bool         // without caches and builds of earlier gates
}

// maxFurther limits the number of files that are copied besides packages.
const maxFurther = 20000

type room struct {
	Request
	*layout
	clean  *session.CleanTree
	theirs []string // work trees: the real path of the live one first
	had    seal     // state of the installed packages, nil if there are none yet
	copies []string // further files of the work tree
	when   time.Time
}

// Make makes a directory hold a tree, with installed packages, and nothing else of the work tree. Packages are
// installed or copied once, are sealed, and stay for later trees. If they were changed in the room, they are installed
// again. session.ErrOtherPackages means that the packages in the work tree are not those that the request expects.
//
// The caller prevents all other use of the directory during the call.
func (s *Set) Make(ctx context.Context, q Request) (session.CleanTree, error) {
	b, err := s.newRoom(ctx, q)
	if err != nil {
		return session.CleanTree{}, err
	}
	b.had = readSeal(b.seal())
	if b.had == nil || b.had.changed(q.Dir) != "" {
		if b.had, err = nil, b.empty(); err != nil {
			return *b.clean, err
		}
	}
	err = b.fill(ctx)
	var leads *LeadsBackError
	if errors.As(err, &leads) && q.SetUp == nil {
		b.clean.LeadsBack = &leads.LeadsBack
		return *b.clean, nil
	}
	b.lookOutside(q.Env)
	b.clean.Changed = func() string { return b.had.changed(q.Dir) }
	b.clean.Absent = func() []string { return b.absent(ctx) }
	b.clean.Written = func() []string { return b.written(ctx) }
	return *b.clean, err
}

// fill writes the tree, packages and further files.
func (b *room) fill(ctx context.Context) error {
	err := b.layAround(ctx)
	// a layout that fails empties the directory, with the packages
	for try := 0; err == nil && b.had == nil && try < 2; try++ {
		err = b.install(ctx)
	}
	switch {
	case err != nil:
		return err
	case b.had == nil:
		return errors.New("the clean checkout could not be laid out")
	case b.Cold:
		if err := b.dropCaches(); err != nil {
			return err
		}
	}
	for _, rel := range b.copies {
		if err := b.copyFurther(rel); err != nil {
			return err
		}
	}
	return nil
}

func (s *Set) newRoom(ctx context.Context, q Request) (*room, error) {
	real, err := filepath.EvalSymlinks(s.Git.Root)
	if err != nil {
		return nil, err
	}
	b := &room{Request: q, layout: s.layout(q.Dir, q.Name), theirs: []string{real},
		clean: &session.CleanTree{Root: q.Dir, Tree: q.Tree, Live: slices.Compact([]string{s.Git.Root, real})}}
	trees, err := s.Trees.Worktrees(ctx)
	for _, t := range trees {
		if p, err := filepath.EvalSymlinks(t.Path); err == nil {
			b.theirs = append(b.theirs, p)
		}
	}
	b.theirs = append(b.theirs, s.Git.Root)
	if err != nil || len(q.Further) == 0 {
		return b, err
	}
	b.copies, err = s.untrackedBy(ctx, q.Further)
	return b, err
}

func (s *Set) layout(dir, name string) *layout {
	return &layout{set: s, dir: dir, private: s.memory(name)}
}

// layAround writes the tree, and keeps sealed files and files that builders left.
func (b *room) layAround(ctx context.Context) error {
	sealed := b.had.keeper()
	err := b.lay(ctx, b.Tree, func(t *treeNames, rel string) bool { return sealed(rel) || !b.Cold && t.builds(rel) })
	if b.anew { // nothing earlier is left
		b.had = nil
	}
	return err
}

// install brings packages into a room, seals them, and restores files of the tree that the installation changed.
func (b *room) install(ctx context.Context) error {
	durable.Hit(durable.CleanSetUp)
	switch {
	case b.SetUp != nil:
		if err := b.SetUp(); err != nil {
			return err
		}
	case b.Packages != NoPackages():
		if got, err := b.set.eachPackage(ctx, b.Judged, b.bringPackage); err != nil {
			return err
		} else if got != b.Packages {
			return session.ErrOtherPackages
		}
	}
	b.had = seal{}
	if err := b.sealBelow(""); err != nil {
		return err
	}
	durable.Hit(durable.CleanBrought)
	if err := errors.Join(b.passTick(), b.layAround(ctx)); err != nil || b.had == nil {
		return err
	}
	return b.had.write(b.seal())
}

// sealBelow records the state of the files in a directory, whose name ends in a slash, that are not in the tree. It
// returns an error if one of them points back to a work tree.
func (b *room) sealBelow(dir string) error {
	entries, err := os.ReadDir(b.at(dir))
	if err != nil {
		return err
	}
	for _, e := range entries {
		name := dir + e.Name()
		switch {
		case b.tree.files[name] && !e.IsDir(), caches[e.Name()], b.tree.builds(name):
			continue
		case e.IsDir():
			if !b.tree.dirs[name] {
				b.had[name+"/"] = ""
			}
			if err := b.sealBelow(name + "/"); err != nil {
				return err
			}
			continue
		}
		if to := b.leads(b.at(name), e.Type()); to != "" {
			return leadsBack(name, to)
		}
		if b.had[name], err = stateAt(b.at(name)); err != nil {
			return err
		}
	}
	return nil
}

// bringPackage copies a file, link or directory of the installed packages from the work tree.
func (b *room) bringPackage(from, rel string, info fs.FileInfo) (string, error) {
	if info.IsDir() && isEnvironment(from) {
		return "", leadsBack(rel, b.set.live(rel))
	}
	return b.at(rel), b.bring(from, rel, info)
}

// bring copies a path to the room, with a later time than all files before it there.
func (b *room) bring(from, rel string, info fs.FileInfo) error {
	switch mode := info.Mode(); {
	case mode.IsDir():
		return os.MkdirAll(b.at(rel), 0o755)
	case mode&fs.ModeSymlink != 0:
		to, err := copiedLink(from, rel)
		return errors.Join(err, os.MkdirAll(filepath.Dir(b.at(rel)), 0o755), os.Symlink(to, b.at(rel)))
	case !mode.IsRegular():
		return nil
	}
	if b.when.IsZero() {
		now, err := b.clock()
		if err != nil {
			return err
		}
		if b.when, err = b.later(time.Unix(0, now)); err != nil {
			return err
		}
	}
	return errors.Join(os.MkdirAll(filepath.Dir(b.at(rel)), 0o755), copyFile(from, b.at(rel), info.Mode()),
		os.Chtimes(b.at(rel), b.when, b.when))
}

// copyFurther copies one requested file of the work tree: commands in the room may write to it.
func (b *room) copyFurther(rel string) error {
	info, err := os.Lstat(b.set.live(rel))
	if _, sealed := b.had[rel]; durable.Absent(err) || sealed || b.tree.files[rel] || b.set.installedAbove(rel) {
		return nil
	}
	if err == nil {
		err = b.bring(b.set.live(rel), rel, info)
	}
	if errors.Is(err, fs.ErrExist) { // a builder left a file there
		return nil
	}
	return err
}

// installedAbove reports whether a path of the work tree is in an installed package.
func (s *Set) installedAbove(rel string) bool {
	for ; rel != "."; rel = path.Dir(rel) {
		if s.isInstalled(rel) {
			return true
		}
	}
	return false
}

// dropCaches removes the caches of tools in installed packages. Compiled Python stays: Python can be configured to look
// elsewhere.
func (b *room) dropCaches() error {
	for name := range b.had {
		if !strings.HasSuffix(name, "/") {
			continue
		}
		for cache := range caches {
			if cache == "__pycache__" || cache == ".git" {
				continue
			}
			if err := durable.RemoveTree(b.at(name + cache)); err != nil {
				return err
			}
		}
	}
	return nil
}

// Bare reports whether a room with a tree would have all files of the work tree: apart from installed packages and
// files that match further, the work tree has no files that are not in the tree, ignored or not.
func (s *Set) Bare(ctx context.Context, tree session.Tree, further []string) (bool, error) {
	b, err := s.newRoom(ctx, Request{Further: further})
	if err != nil {
		return false, err
	}
	if b.tree, err = s.namesOf(ctx, tree); err != nil {
		return false, err
	}
	return len(b.absent(ctx)) == 0, ctx.Err()
}

// absent returns files and directories of the work tree that are neither in the room nor installed.
func (b *room) absent(ctx context.Context) []string {
	names, _ := b.set.list(ctx, "ls-files", "-o", "--directory", "--no-empty-directory", "-z", "--", ":/")
	return slices.DeleteFunc(names, func(name string) bool {
		top := strings.TrimSuffix(name, "/")
		return b.tree.files[top] || b.tree.dirs[top] || top == object.UserDir || b.own(top)
	})
}

// written returns files of the room that differ from its tree and that git does not ignore, or an error message if git
// fails.
func (b *room) written(ctx context.Context) []string {
	var names []string
	for _, args := range [][]string{{"diff-files", "--name-only", "-z", "--ignore-submodules=all"},
		{"ls-files", "-o", "--exclude-standard", "--directory", "--no-empty-directory", "-z"}} {
		out, err := b.git(ctx, gitcmd.Opts{}, args...)
		if err != nil {
			return []string{err.Error()}
		}
		names = append(names, gitcmd.SplitZ(out)...)
	}
	sealed := b.had.keeper()
	return slices.DeleteFunc(names, func(name string) bool {
		top := strings.TrimSuffix(name, "/")
		return sealed(top) || b.own(top)
	})
}

// own reports whether a path is installed or requested, or is a parent directory of a requested file.
func (b *room) own(top string) bool {
	return b.set.installedAbove(top) || slices.ContainsFunc(b.copies, func(name string) bool {
		return name == top || strings.HasPrefix(name, top+"/")
	})
}

// untrackedBy lists untracked files, ignored or not, that match patterns.
func (s *Set) untrackedBy(ctx context.Context, patterns []string) ([]string, error) {
	args := []string{"ls-files", "-o", "-z", "--"}
	for _, p := range patterns {
		p = strings.TrimSuffix(p, "/")
		args = append(args, ":(top,glob)"+p, ":(top,glob)"+p+"/**")
	}
	names, err := s.list(ctx, args...)
	// nested repositories
	names = slices.DeleteFunc(names, func(name string) bool { return strings.HasSuffix(name, "/") })
	if err == nil && len(names) > maxFurther {
		err = fmt.Errorf("more than %d files are to be copied to a clean checkout", maxFurther)
	}
	return names, err
}
