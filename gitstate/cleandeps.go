package gitstate

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/wfs-dev/wfs/internal/durable"
	"github.com/wfs-dev/wfs/session"
)

// What packages are installed into, beside files of the project. A directory with a pyvenv.cfg is one as well.
var dependencyDirs = []string{"node_modules", "vendor", "bower_components", ".bundle", ".pnp.cjs", ".pnp.js", ".pnp.loader.mjs", ".pnp.data.json", ".pythonlibs", "__pypackages__", "deps", "Pods", ".yarn"}

// What Yarn keeps in a .yarn of which the project has a part.
var yarnParts = []string{"cache", "unplugged", "install-state.gz", "build-state.yml"}

// maxFurther bounds the files that are copied besides dependencies.
const maxFurther = 20000

var errTooMany = fmt.Errorf("more than %d files are to be brought to a clean tree", maxFurther)

// CleanTree makes a directory hold a tree, as Materialise does, with copies of the dependency directories that the work
// tree has beside those files. further are patterns of other untracked and ignored files to bring.
//
// The copies are sealed: a directory in which one was changed is made anew. Whether one was changed since can be asked.
//
// What manifests name beside the work tree is found beside the clean one by links: the directory above is theirs.
//
// What leads back to the work tree is told in LeadsBack, such as a virtual environment, which knows its own place. env
// is the environment of the gates that will run there.
func (r *Repo) CleanTree(ctx context.Context, dir string, tree session.Tree, further, env []string) (session.CleanTree, error) {
	b, err := r.bringer(ctx, dir, tree)
	c := b.clean
	if err != nil {
		return *c, err
	}
	names, err := r.untrackedBy(ctx, further)
	if err != nil {
		return *c, err
	}
	m := r.materialiser(dir)
	b.m = m
	if b.had = readSeal(m.seal()); b.had.changed(dir) != "" {
		if err := m.anew(); err != nil {
			return *c, err
		}
	}
	err = m.lay(ctx, tree, func(t *treeNames) func(string) bool {
		b.tracked = t.links
		b.find(t.files, t.dirs, names)
		return b.keep
	})
	if m.before == nil { // nothing of before is there
		b.had = seal{}
	}
	if err == nil && b.over {
		err = errTooMany
	}
	if err == nil {
		err = b.bring(ctx)
	}
	if err == nil {
		err = b.tellApart(ctx)
	}
	if err == nil {
		err = b.linkOutside()
	}
	if err == nil {
		err = b.look()
	}
	if err == nil {
		b.lookOutside(env)
	}
	c.Further = slices.Sorted(maps.Keys(b.further))
	c.Provided, c.Digest = b.provided(), b.sum.text()
	c.Changed = func() string { return b.brought.changed(dir) }
	return *c, err
}

// bringer finds out where this work tree is, and others.
func (r *Repo) bringer(ctx context.Context, dir string, tree session.Tree) (*bringer, error) {
	c := &session.CleanTree{Root: dir, Tree: tree, Live: []string{r.root}}
	b := &bringer{repo: r, clean: c, sum: newSum(), roots: map[string]string{}}
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
	return slices.DeleteFunc(splitZ(out), func(name string) bool { return strings.HasSuffix(name, "/") }), err // nested repositories
}

// bringer brings what git does not have from the work tree to a clean one.
type bringer struct {
	repo   *Repo
	clean  *session.CleanTree
	real   string   // the work tree's own real path
	others []string // real paths of the repository's other work trees

	files, dirs map[string]bool   // of the tree
	roots       map[string]string // dependency directories and files that are brought, and where their real place is
	further     map[string]bool   // files that were asked for
	above       map[string]bool   // directories above those
	build       map[string]bool   // directories that stay as gates left them
	links       []string          // that were brought, from the top
	tracked     []string          // the tree's own links
	sum         *sum
	over        bool // more was asked for than is brought
	made        bool // packages are installed there, and not brought

	m       *materialiser
	had     seal      // what was brought before
	brought seal      // and now
	changed int64     // when the last copy was made, in nanoseconds
	when    time.Time // the time that copies get, zero before the first
}

// find looks for what is to be brought, beside the files of a tree.
func (b *bringer) find(files, dirs map[string]bool, further []string) {
	b.files, b.dirs = files, dirs
	b.build = map[string]bool{}
	look := func(dir string) {
		entries, _ := os.ReadDir(filepath.Join(b.repo.root, filepath.FromSlash(dir)))
		for _, e := range entries {
			rel := strings.TrimPrefix(dir+"/"+e.Name(), "/")
			if files[rel] || dirs[rel] || e.Name() == ".git" {
				continue
			}
			if beside, ok := buildDirs[e.Name()]; ok && files[strings.TrimPrefix(dir+"/"+beside, "/")] {
				b.build[rel] = true
				continue
			}
			if b.isDependency(rel, e) {
				if real, err := filepath.EvalSymlinks(b.live(rel)); err == nil {
					b.roots[rel] = real
				}
			}
		}
	}
	look("")
	for dir := range dirs {
		look(dir)
	}
	b.ask(further)
}

// ask notes what is asked for besides, as far as it is not in the tree or in a dependency directory.
func (b *bringer) ask(further []string) {
	b.further, b.above = map[string]bool{}, map[string]bool{}
	for _, name := range further {
		if b.files[name] || b.within(name) {
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

// within reports whether a path is in a dependency directory.
func (b *bringer) within(name string) bool {
	for d := name; d != "."; d = path.Dir(d) {
		if _, ok := b.roots[d]; ok || b.made && (b.had.has(d) || b.had.has(d+"/")) {
			return true
		}
	}
	return false
}

// keep is what Materialise leaves alone.
func (b *bringer) keep(rel string) bool {
	_, root := b.roots[rel]
	return root || b.build[rel] || b.further[rel] || b.above[rel]
}

func (b *bringer) provided() []string {
	return slices.Concat(slices.Sorted(maps.Keys(b.roots)), slices.Sorted(maps.Keys(b.further)))
}

func (b *bringer) bring(ctx context.Context) error {
	b.brought = make(seal, len(b.had))
	for _, rel := range slices.Sorted(maps.Keys(b.roots)) {
		if _, err := os.Lstat(filepath.Join(b.roots[rel], "pyvenv.cfg")); err == nil {
			b.found(rel, b.roots[rel])
			continue
		}
		if err := b.sync(ctx, b.roots[rel], rel); err != nil {
			return err
		}
		durable.Hit(durable.CleanBrought)
	}
	if err := b.bringAsked(); err != nil {
		return err
	}
	if err := b.dropGone(); err != nil || maps.Equal(b.had, b.brought) {
		return err
	}
	b.m.passTick(b.changed)
	return b.brought.write(b.m.seal())
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
			if rel := dir + "/" + e.Name(); !b.files[rel] && !b.dirs[rel] && !b.keep(rel) {
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

// dropGone removes what was brought and is not there any more. What was below something that is gone went with it.
func (b *bringer) dropGone() error {
	for rel := range b.had {
		name := strings.TrimSuffix(rel, "/")
		above := path.Dir(name) + "/"
		if b.brought.has(name) || b.brought.has(name+"/") || b.had.has(above) && !b.brought.has(above) {
			continue
		}
		if err := RemoveAll(b.at(name)); err != nil {
			return err
		}
	}
	return nil
}

// bringFurther brings one file that was asked for, as it is: what runs in the clean tree may write to it.
func (b *bringer) bringFurther(rel string) error {
	info, err := os.Lstat(b.live(rel))
	if absent(err) {
		return nil
	}
	if err != nil {
		return err
	}
	if info.Mode()&fs.ModeSymlink == 0 && !info.Mode().IsRegular() {
		return nil
	}
	if had, ok := b.had[rel]; ok {
		if now, err := os.Lstat(b.at(rel)); err != nil || fileStateOf(now) != had.own {
			delete(b.had, rel)
		}
	}
	if info.Mode()&fs.ModeSymlink != 0 {
		err = b.link(b.live(rel), rel)
	} else {
		err = b.file(b.live(rel), rel, info)
	}
	f := b.brought[rel]
	f.loose = true
	b.brought[rel] = f
	return err
}

// sync makes what is at a path of the clean tree the same as a file or directory elsewhere. What is as it was when it
// was brought is left alone: that it is so in the clean tree has been seen.
func (b *bringer) sync(ctx context.Context, from, rel string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	info, err := os.Lstat(from)
	if absent(err) {
		return nil // meanwhile
	}
	if err != nil {
		return err
	}
	switch mode := info.Mode(); {
	case mode&fs.ModeSymlink != 0:
		b.links = append(b.links, rel)
		return b.link(from, rel)
	case mode.IsRegular():
		return b.file(from, rel, info)
	case !mode.IsDir():
		return nil // a socket, or the like
	}
	b.sum.line(rel+"/", "") // it may be empty
	theirs, err := os.ReadDir(from)
	if err != nil {
		return err
	}
	if !b.had.has(rel + "/") {
		if err := errors.Join(RemoveAll(b.at(rel)), os.MkdirAll(b.at(rel), 0o755)); err != nil {
			return err
		}
	}
	b.brought[rel+"/"] = sealedFile{}
	for _, e := range theirs {
		if caches[e.Name()] {
			continue
		}
		if err := b.sync(ctx, from+string(filepath.Separator)+e.Name(), rel+"/"+e.Name()); err != nil {
			return err
		}
	}
	return nil
}

// link makes a link as it is elsewhere. One that leads out of the work tree, as to a package beside it, leads there
// too.
func (b *bringer) link(from, rel string) error {
	to, err := os.Readlink(from)
	if err != nil {
		return err
	}
	if !filepath.IsAbs(to) && !filepath.IsLocal(filepath.Join(filepath.FromSlash(path.Dir(rel)), to)) {
		to = filepath.Join(filepath.Dir(from), to)
	}
	b.sum.line(rel, to)
	if now, err := os.Readlink(b.at(rel)); err == nil && now == to && b.had.has(rel) {
		b.brought[rel] = b.had[rel]
		return nil
	}
	if err := errors.Join(RemoveAll(b.at(rel)), os.Symlink(to, b.at(rel))); err != nil {
		return err
	}
	return b.sealed(rel, fileState{})
}

// file makes a copy of a file.
func (b *bringer) file(from, rel string, info fs.FileInfo) error {
	b.sum.file(rel, info)
	source := fileStateOf(info)
	if had, ok := b.had[rel]; ok && had.source == source {
		if b.brought[rel] = had; had.leads {
			b.found(rel, b.real)
		}
		return nil
	}
	if err := errors.Join(RemoveAll(b.at(rel)), copyFile(from, b.at(rel), info.Mode())); err != nil {
		return err
	}
	if err := errors.Join(b.age(rel), b.sealed(rel, source)); err != nil || !saysWhere(rel) {
		return err
	}
	text, err := readSome(b.at(rel))
	if err == nil && b.clean.Names(text) {
		f := b.brought[rel]
		f.leads = true
		b.brought[rel] = f
		b.found(rel, b.real)
	}
	return err
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
	b.brought[rel], b.changed = f, max(b.changed, f.own.changed)
	return nil
}
