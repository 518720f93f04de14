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

// Request describes a room: a clean directory in which gates run.
type Request struct {
	Dir, Name string // directory of the room, and its name in the repository
	Tree      session.Tree
	Further   []string     // patterns of untracked and ignored files of the work tree to copy to the room
	Env       []string     // environment of the gates that will run there
	SetUp     func() error // installs packages in the room; if nil, they are copied from the work tree
	Judged    session.Tree // all installed packages that are not files of this tree are copied
	Packages  string       // expected fingerprint of the packages to copy
	Cold      bool         // without the caches and builds of earlier gates
}

// maxFurther limits the number of files that are copied in addition to packages.
const maxFurther = 20000

type room struct {
	Request
	*layout
	clean  *session.CleanTree
	theirs []string // real paths of the work trees, the live one first
	had    seal     // states of the installed packages, nil if none are installed yet
	copies []string // requested further files of the work tree
	when   time.Time
}

// Make makes a directory contain a tree, installed packages and the requested further files, and nothing else. It
// installs or copies packages once, seals them (see seal), and keeps them for later trees. If packages have changed in
// the room, it installs them again. The error session.ErrOtherPackages means that the packages in the work tree are not
// those that the request expects.
//
// The caller ensures that nothing else uses the directory during the call.
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
	// If lay fails at first, it empties the directory, including the packages: then install them again.
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

// layAround writes the tree to the room, and keeps sealed files and the output of builders.
func (b *room) layAround(ctx context.Context) error {
	sealed := b.had.keeper()
	err := b.lay(ctx, b.Tree, func(t *treeNames, rel string) bool { return sealed(rel) || !b.Cold && t.builds(rel) })
	if b.anew { // nothing of earlier layouts is left
		b.had = nil
	}
	return err
}

// install brings packages to the room and seals them. Then it restores files of the tree that the installation changed.
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

// sealBelow records the states of the files in a directory that are not in the tree. The directory's name ends in a
// slash. It returns an error if one of these files points back to a work tree.
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

// bringPackage is the visitor that copies a file, link or directory of the installed packages from the work tree to the
// room.
func (b *room) bringPackage(from, rel string, info fs.FileInfo) (string, error) {
	if info.IsDir() && isEnvironment(from) {
		return "", leadsBack(rel, b.set.live(rel))
	}
	return b.at(rel), b.bring(from, rel, info)
}

// bring copies a path to the room. The copy gets a later time than all files that the room has had.
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

// copyFurther copies one requested file of the work tree. It is a copy because commands in the room may write to it.
func (b *room) copyFurther(rel string) error {
	info, err := os.Lstat(b.set.live(rel))
	if _, sealed := b.had[rel]; durable.Absent(err) || sealed || b.tree.files[rel] || b.set.installedAbove(rel) {
		return nil
	}
	if err == nil {
		err = b.bring(b.set.live(rel), rel, info)
	}
	if errors.Is(err, fs.ErrExist) { // the output of a builder is in its place
		return nil
	}
	return err
}

// installedAbove reports whether a path of the work tree is, or is in, an installed package.
func (s *Set) installedAbove(rel string) bool {
	for ; rel != "."; rel = path.Dir(rel) {
		if s.isInstalled(rel) {
			return true
		}
	}
	return false
}

// dropCaches removes the caches of tools in installed packages. Compiled Python stays, because Python can be configured
// to look for it elsewhere.
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

// Bare reports whether a room with a tree would have all files of the work tree. It would if each file of the work
// tree, ignored or not, is in the tree, in an installed package, or matched by the patterns in further.
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

// absent returns files and directories of the work tree that its clean checkout lacks: untracked ones that are not
// installed packages.
func (b *room) absent(ctx context.Context) []string {
	names, _ := b.set.list(ctx, "ls-files", "-o", "--directory", "--no-empty-directory", "-z", "--", ":/")
	return slices.DeleteFunc(names, func(name string) bool {
		top := strings.TrimSuffix(name, "/")
		return b.tree.files[top] || b.tree.dirs[top] || top == object.UserDir || b.own(top)
	})
}

// written returns the files of the room that differ from its tree or were added to it, except those that git ignores.
// If git fails, it returns the error message instead.
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

// own reports whether a path is in an installed package, is a requested further file, or is a parent directory of one.
func (b *room) own(top string) bool {
	return b.set.installedAbove(top) || slices.ContainsFunc(b.copies, func(name string) bool {
		return name == top || strings.HasPrefix(name, top+"/")
	})
}

// untrackedBy lists the untracked files, ignored or not, that match patterns.
func (s *Set) untrackedBy(ctx context.Context, patterns []string) ([]string, error) {
	args := []string{"ls-files", "-o", "-z", "--"}
	for _, p := range patterns {
		p = strings.TrimSuffix(p, "/")
		args = append(args, ":(top,glob)"+p, ":(top,glob)"+p+"/**")
	}
	names, err := s.list(ctx, args...)
	// omit nested repositories
	names = slices.DeleteFunc(names, func(name string) bool { return strings.HasSuffix(name, "/") })
	if err == nil && len(names) > maxFurther {
		err = fmt.Errorf("more than %d files are to be copied to a clean checkout", maxFurther)
	}
	return names, err
}
