package gitstate

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/wfs-dev/wfs/session"
)

// What packages are installed into, beside files of the project. A directory with a pyvenv.cfg is one as well.
var dependencyDirs = []string{"node_modules", "vendor", "bower_components", ".bundle", ".pnp.cjs", ".pnp.js",
	".pnp.loader.mjs", ".pnp.data.json", ".pythonlibs", "__pypackages__", "deps", "Pods", ".yarn"}

// What Yarn keeps in a .yarn of which the project has a part.
var yarnParts = []string{"cache", "unplugged", "install-state.gz", "build-state.yml"}

// installersNotes are what installers write down for themselves, which is no part of what is installed: it changes
// when the same is installed again.
var installersNotes = []string{".package-lock.json", ".yarn-integrity", ".yarn-state.yml", ".modules.yaml",
	".pnpm-workspace-state.json", "install-state.gz"}

// maxFurther bounds the files that are copied besides dependencies.
const maxFurther = 20000

var errTooMany = fmt.Errorf("more than %d files are to be brought to a clean tree", maxFurther)

// bringer finds out where this work tree is, and others.
func (r *Repo) bringer(ctx context.Context, dir string, tree session.Tree) (*bringer, error) {
	c := &session.CleanTree{Root: dir, Tree: tree, Live: []string{r.root}}
	b := &bringer{repo: r, clean: c}
	var err error
	if b.real, err = filepath.EvalSymlinks(r.root); err != nil {
		return b, err
	}
	if b.real != r.root {
		c.Live = append(c.Live, b.real)
	}
	if trees, err := r.Worktrees(ctx); err == nil {
		for _, t := range trees {
			if p, err := filepath.EvalSymlinks(t.Path); err == nil && p != b.real {
				b.others = append(b.others, p)
			}
		}
	}
	return b, nil
}

// untrackedBy lists untracked files, ignored or not, that fit patterns.
func (r *Repo) untrackedBy(ctx context.Context, patterns []string) ([]string, error) {
	if len(patterns) == 0 {
		return nil, nil
	}
	args := []string{"ls-files", "-o", "-z", "--"}
	for _, p := range patterns {
		p = strings.TrimSuffix(p, "/")
		args = append(args, ":(top,glob)"+p, ":(top,glob)"+p+"/**")
	}
	out, err := r.git(ctx, gitOpts{}, args...)
	nested := func(name string) bool { return strings.HasSuffix(name, "/") }
	return slices.DeleteFunc(splitZ(out), nested), err
}

// bringer brings what git does not have from the work tree to a room.
type bringer struct {
	repo   *Repo
	clean  *session.CleanTree
	real   string   // the work tree's own real path
	others []string // real paths of the repository's other work trees

	judged  *treeNames      // beside whose files packages are looked for
	tree    *treeNames      // that is laid out
	further map[string]bool // files that were asked for
	above   map[string]bool // directories above those
	over    bool            // more was asked for than is brought
	cold    bool            // nothing stays that gates left

	m       *materialiser
	had     seal      // what was installed
	changed int64     // when the last copy was made, in nanoseconds
	when    time.Time // the time that copies get, zero before the first
}

// ask notes what is asked for besides, as far as it is not in the tree or in a dependency directory.
func (b *bringer) ask(further []string) {
	b.further, b.above = map[string]bool{}, map[string]bool{}
	for _, name := range further {
		if b.tree.files[name] || b.installed(name) {
			continue
		}
		if len(b.further) == maxFurther {
			b.over = true
			return
		}
		b.further[name] = true
		for d := path.Dir(name); d != "." && !b.above[d]; d = path.Dir(d) {
			b.above[d] = true
		}
	}
}

func (b *bringer) live(rel string) string {
	return filepath.Join(b.repo.root, filepath.FromSlash(rel))
}
func (b *bringer) at(rel string) string {
	return filepath.Join(b.clean.Root, filepath.FromSlash(rel))
}

// installed reports whether a path of the work tree is, or is in, what packages are installed into.
func (b *bringer) installed(name string) bool {
	for d := name; d != "."; d = path.Dir(d) {
		if b.had.has(d) || b.had.has(d+"/") {
			return true
		}
		if info, err := os.Lstat(b.live(d)); err == nil && b.isDependency(d, fs.FileInfoToDirEntry(info)) {
			return true
		}
	}
	return false
}

func (b *bringer) isDependency(rel string, e fs.DirEntry) bool {
	if path.Base(path.Dir(rel)) == ".yarn" && slices.Contains(yarnParts, e.Name()) {
		return true
	}
	if slices.Contains(dependencyDirs, e.Name()) || strings.HasSuffix(e.Name(), ".egg-info") {
		return true
	}
	if !e.IsDir() && e.Type()&fs.ModeSymlink == 0 {
		return false
	}
	_, err := os.Lstat(filepath.Join(b.live(rel), "pyvenv.cfg"))
	return err == nil
}

// packages calls visit for each file, link and directory of what is installed in the work tree, from where it really
// is, and for each virtual environment alone. Caches are left out.
func (b *bringer) packages(ctx context.Context, visit func(from, rel string, info fs.FileInfo) error) error {
	for _, dir := range append(slices.Sorted(maps.Keys(b.judged.dirs)), "") {
		entries, _ := os.ReadDir(b.live(dir))
		for _, e := range entries {
			rel := strings.TrimPrefix(dir+"/"+e.Name(), "/")
			own := b.judged.files[rel] || b.judged.dirs[rel] || e.Name() == ".git"
			if own || b.judged.builds(rel) || !b.isDependency(rel, e) {
				continue
			}
			if from, err := filepath.EvalSymlinks(b.live(rel)); err == nil {
				if err := b.below(ctx, from, rel, visit); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func (b *bringer) below(ctx context.Context, from, rel string,
	visit func(from, rel string, info fs.FileInfo) error) error {
	info, err := os.Lstat(from)
	if absent(err) {
		return ctx.Err() // meanwhile
	}
	if err := errors.Join(err, ctx.Err()); err != nil {
		return err
	}
	if t := info.Mode().Type(); t&^(fs.ModeDir|fs.ModeSymlink) != 0 {
		return nil // a socket, or the like
	}
	if err := visit(from, rel, info); err != nil || !info.IsDir() || isEnvironment(from) {
		return err
	}
	entries, err := os.ReadDir(from)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if caches[e.Name()] {
			continue
		}
		if err := b.below(ctx, filepath.Join(from, e.Name()), rel+"/"+e.Name(), visit); err != nil {
			return err
		}
	}
	return nil
}

// isEnvironment reports whether a directory is a virtual environment of Python's, which knows its own place.
func isEnvironment(dir string) bool {
	_, err := os.Lstat(filepath.Join(dir, "pyvenv.cfg"))
	return err == nil
}

// errOther says that what is installed in the work tree is not what was copied.
var errOther = errors.New("other packages")

// fits reports whether the packages that were copied are those that are wanted.
func (b *bringer) fits(ctx context.Context, q RoomRequest) bool {
	if !b.had.isFor(q.Key) || q.Packages != "" && q.Packages != b.had.packages() {
		return false
	}
	return !q.Fresh || b.differs(ctx) == nil
}

// differs returns errOther, or another error, when the work tree does not have the packages any more that were copied.
func (b *bringer) differs(ctx context.Context) error {
	n := 1 // and the entry without a name
	err := b.packages(ctx, func(from, rel string, info fs.FileInfo) error {
		n++
		name := rel
		if info.IsDir() && !isEnvironment(from) {
			name += "/"
		}
		had, ok := b.had[name]
		switch {
		case !ok:
			return errOther
		case info.Mode()&fs.ModeSymlink != 0:
			is, _ := os.Readlink(b.at(rel))
			if to, err := copiedLink(from, rel); err != nil || to != is {
				return errOther
			}
		case info.Mode().IsRegular() && had.source != fileStateOf(info):
			return errOther
		}
		return nil
	})
	if err == nil && n != len(b.had) {
		return errOther
	}
	return err
}

// copyPackages copies what is installed in the work tree, and adds all that it is to a digest.
func (b *bringer) copyPackages(ctx context.Context, h hash.Hash) error {
	return b.packages(ctx, func(from, rel string, info fs.FileInfo) error {
		switch mode := info.Mode(); {
		case mode&fs.ModeSymlink != 0:
			to, err := copiedLink(from, rel)
			if err := errors.Join(err, os.Symlink(to, b.at(rel)), b.sealed(rel, fileState{})); err != nil {
				return err
			}
		case mode.IsRegular():
			if err := b.copyPackage(from, rel, info); err != nil {
				return err
			}
		case isEnvironment(from):
			b.had[rel] = sealedFile{loose: true, leads: true}
		default:
			b.had[rel+"/"] = sealedFile{}
			if err := os.MkdirAll(b.at(rel), 0o755); err != nil {
				return err
			}
		}
		return describe(h, b.at(rel), from, rel, info)
	})
}

// installedNow is the digest that a copy of what is installed now would have, "" when nobody knows.
func (b *bringer) installedNow(ctx context.Context) string {
	h, s := sha256.New(), seal{}
	err := b.packages(ctx, func(from, rel string, info fs.FileInfo) error { return describe(h, from, from, rel, info) })
	if err != nil {
		return ""
	}
	s.complete(h.Sum(nil), "")
	return s.packages()
}

// describe adds a file, link or directory to a digest: what it is now, not when it was written. Installing the same
// again changes nothing. from is where it is installed, and file has its content.
func describe(h hash.Hash, file, from, rel string, info fs.FileInfo) error {
	if slices.Contains(installersNotes, path.Base(rel)) {
		return nil
	}
	fmt.Fprintf(h, "%q %v\n", rel, info.Mode())
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		to, err := copiedLink(from, rel)
		fmt.Fprintf(h, "%q\n", to)
		return err
	case !info.Mode().IsRegular():
		return nil
	}
	in, err := os.Open(file)
	if err != nil {
		return err
	}
	defer in.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, in); err != nil {
		return err
	}
	fmt.Fprintf(h, "%x\n", sum.Sum(nil))
	return nil
}

func (b *bringer) copyPackage(from, rel string, info fs.FileInfo) error {
	err := errors.Join(os.MkdirAll(filepath.Dir(b.at(rel)), 0o755), copyFile(from, b.at(rel), info.Mode()))
	if err != nil {
		return err
	}
	if err := errors.Join(b.age(rel), b.sealed(rel, fileStateOf(info))); err != nil || !saysWhere(rel) {
		return err
	}
	text, err := readSome(b.at(rel))
	if err == nil && b.clean.Names(text) {
		f := b.had[rel]
		f.leads = true
		b.had[rel] = f
	}
	return err
}

// copiedLink is where the copy of a link leads: one out of the work tree, as to a package beside it, leads there too.
func copiedLink(from, rel string) (string, error) {
	to, err := os.Readlink(from)
	if err == nil && !filepath.IsAbs(to) &&
		!filepath.IsLocal(filepath.Join(filepath.FromSlash(path.Dir(rel)), to)) {
		to = filepath.Join(filepath.Dir(from), to)
	}
	return to, err
}

// absent are files and directories of the work tree that are neither in the room nor installed.
func (b *bringer) absent(ctx context.Context) []string {
	out, _ := b.repo.git(ctx, gitOpts{}, "ls-files", "-o", "--directory", "--no-empty-directory", "-z", "--", ":/")
	return slices.DeleteFunc(splitZ(out), func(name string) bool {
		top := strings.TrimSuffix(name, "/")
		return b.tree.files[top] || b.tree.dirs[top] || b.further[top] || top == userDir || b.installed(top)
	})
}

// written are files of the room that are not as in its tree, and that git does not ignore. What cannot be read counts.
func (b *bringer) written(ctx context.Context) []string {
	var names []string
	for _, args := range [][]string{{"diff-files", "--name-only", "-z", "--ignore-submodules=all"},
		{"ls-files", "-o", "--exclude-standard", "--directory", "--no-empty-directory", "-z"}} {
		out, err := b.m.git(ctx, args...)
		if err != nil {
			return []string{err.Error()}
		}
		names = append(names, splitZ(out)...)
	}
	return slices.DeleteFunc(names, func(name string) bool {
		top := strings.TrimSuffix(name, "/")
		return b.further[top] || b.above[top] || b.had.has(name) || b.installed(top)
	})
}

// bringAsked brings what was asked for besides.
func (b *bringer) bringAsked() error {
	for _, dir := range slices.Sorted(maps.Keys(b.above)) {
		if info, err := os.Lstat(b.at(dir)); err != nil || !info.IsDir() { // such as a link that a gate left
			if err := errors.Join(RemoveAll(b.at(dir)), os.Mkdir(b.at(dir), 0o755)); err != nil {
				return err
			}
		}
		entries, err := os.ReadDir(b.at(dir))
		if err != nil {
			return err
		}
		for _, e := range entries { // what gates left beside what was asked for
			if rel := dir + "/" + e.Name(); !b.tree.files[rel] && !b.tree.dirs[rel] && !b.further[rel] && !b.above[rel] {
				if err := RemoveAll(b.at(rel)); err != nil {
					return err
				}
			}
		}
	}
	for _, rel := range slices.Sorted(maps.Keys(b.further)) {
		if err := b.bringFurther(rel); err != nil {
			return err
		}
	}
	return nil
}

// bringFurther brings one file that was asked for, as it is: what runs in the room may write to it.
func (b *bringer) bringFurther(rel string) error {
	info, err := os.Lstat(b.live(rel))
	switch {
	case absent(err):
		return nil
	case err != nil:
		return err
	case info.Mode()&fs.ModeSymlink != 0:
		to, err := copiedLink(b.live(rel), rel)
		return errors.Join(err, RemoveAll(b.at(rel)), os.Symlink(to, b.at(rel)))
	case info.Mode().IsRegular():
		return errors.Join(RemoveAll(b.at(rel)), copyFile(b.live(rel), b.at(rel), info.Mode()), b.age(rel))
	}
	return nil
}

// age gives a copy its time: one that is later than any before it there.
func (b *bringer) age(rel string) error {
	if b.when.IsZero() {
		info, err := os.Lstat(b.at(rel))
		if err != nil {
			return err
		}
		if b.when, err = b.m.later(info.ModTime()); err != nil {
			return err
		}
	}
	return os.Chtimes(b.at(rel), b.when, b.when)
}

// sealed notes how something was brought.
func (b *bringer) sealed(rel string, source fileState) error {
	info, err := os.Lstat(b.at(rel))
	if err != nil {
		return err
	}
	f := sealedFile{own: fileStateOf(info), source: source}
	b.had[rel], b.changed = f, max(b.changed, f.own.changed)
	return nil
}
