package gitstate

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/internal/durable"
	"github.com/wfs-dev/wfs/session"
)

// SetUpTree makes a directory hold a tree, as Materialise does, with what a command has installed there. setUp runs
// that command, in the directory, when it has not been run there yet, or when what it made was changed. What it made
// is sealed, and stays from one tree to the next. name tells the directory from others of the repository. further are
// patterns of untracked and ignored files of the work tree to bring.
//
// Whoever calls it lets nobody else use the directory meanwhile.
func (r *Repo) SetUpTree(
	ctx context.Context, dir, name string, tree session.Tree, further, env []string, setUp func() error,
) (session.CleanTree, error) {
	b, err := r.bringer(ctx, dir, tree)
	if err != nil {
		return *b.clean, err
	}
	names, err := r.untrackedBy(ctx, further)
	if err != nil {
		return *b.clean, err
	}
	b.made = true
	b.m = &materialiser{repo: r, dir: dir, private: r.setUpMemory(name)}
	b.had = readSeal(b.m.seal())
	if !b.had.has("") || b.had.changed(dir) != "" {
		if err := b.m.anew(); err != nil {
			return *b.clean, err
		}
	}
	if err := b.layAround(ctx, tree, names); err != nil {
		return *b.clean, err
	}
	if !b.had.has("") {
		if err := b.setUp(ctx, tree, names, setUp); err != nil {
			return *b.clean, err
		}
	}
	b.brought = maps.Clone(b.had)
	if err := errors.Join(b.bringAsked(), b.tellApart(ctx)); err != nil {
		return *b.clean, err
	}
	b.lookOutside(env)
	b.clean.Further = slices.Sorted(maps.Keys(b.further))
	if sum := b.sum.text(); sum != "" {
		b.clean.Digest = fmt.Sprintf("%s %x %s", name, b.had[""].own.inode, sum)
	}
	b.clean.Changed = func() string { return b.had.changed(dir) }
	return *b.clean, nil
}

// ForgetSetUp removes what is remembered of such a directory.
func (r *Repo) ForgetSetUp(name string) error { return os.RemoveAll(r.setUpMemory(name)) }

func (r *Repo) setUpMemory(name string) string { return filepath.Join(r.StateDir(), "rooms", name) }

// installing are files that say what is to be installed. Where a package manager has a lock file, its manifest says
// nothing more.
var installing = regexp.MustCompile(`(^|/)(go\.sum|(package-lock|npm-shrinkwrap|packages\.lock)\.json|pnpm-lock\.yaml|` +
	`bun\.lockb?|(Cargo|Gemfile|Pipfile|Podfile|composer|deno|mix|pdm|poetry|pubspec|uv|yarn)\.lock|` +
	`pyproject\.toml|setup\.(py|cfg)|[^/]*requirements[^/]*\.(txt|in)|environment\.ya?ml|` +
	`\.npmrc|\.yarnrc(\.yml)?|\.python-version|\.nvmrc|\.node-version|\.tool-versions)$`)

// Installing is a digest of the files of a tree that say what is to be installed.
func (r *Repo) Installing(ctx context.Context, tree session.Tree) (string, error) {
	out, err := r.git(ctx, gitOpts{}, "ls-tree", "-r", "-z", string(tree))
	if err != nil {
		return "", err
	}
	locked := false
	var manifests []string
	h := sha256.New()
	for _, line := range splitZ(out) {
		_, name, _ := strings.Cut(line, "\t")
		if installing.MatchString(name) {
			locked = locked || strings.Contains(name, "lock") || strings.Contains(name, "shrinkwrap")
			fmt.Fprintf(h, "%q\n", line)
		} else if path.Base(name) == "package.json" {
			manifests = append(manifests, line)
		}
	}
	if !locked {
		fmt.Fprintf(h, "%q\n", manifests)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// layAround lays the tree out, and leaves alone what is sealed, what builders left, and what is asked for besides.
func (b *bringer) layAround(ctx context.Context, tree session.Tree, names []string) error {
	err := b.m.lay(ctx, tree, func(t *treeNames) func(string) bool {
		b.files, b.dirs, b.tracked = t.files, t.dirs, t.links
		if b.m.before == nil { // nothing of before is there
			b.had = seal{}
		}
		b.ask(names)
		return func(rel string) bool {
			return b.had.has(rel) || b.had.has(rel+"/") || b.builds(rel) || b.further[rel] || b.above[rel]
		}
	})
	if err == nil && b.over {
		err = errTooMany
	}
	if err != nil {
		return err
	}
	return b.linkOutside()
}

// setUp runs the command, lays out anew what it changed of the tree, and seals what it made.
func (b *bringer) setUp(ctx context.Context, tree session.Tree, names []string, run func() error) error {
	durable.Hit(durable.CleanSetUp)
	if err := run(); err != nil {
		return err
	}
	if err := b.seal(""); err != nil {
		return err
	}
	if err := b.look(); err != nil {
		return err
	}
	if l := b.clean.LeadsBack; l != nil {
		return fmt.Errorf("%s leads to %s", l.Path, l.To)
	}
	h := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(b.had)) {
		fmt.Fprintf(h, "%q %v\n", name, b.had[name].own)
	}
	b.had[""] = sealedFile{own: fileState{inode: binary.BigEndian.Uint64(h.Sum(nil))}, loose: true}
	b.m.passTick(b.changed)
	if err := b.layAround(ctx, tree, names); err != nil {
		return err
	}
	return b.had.write(b.m.seal())
}

// seal notes what is in a directory, whose name ends in a slash, and not in the tree.
func (b *bringer) seal(dir string) error {
	entries, err := os.ReadDir(b.at(dir))
	if err != nil {
		return err
	}
	for _, e := range entries {
		name := dir + e.Name()
		switch {
		case b.files[name] && !e.IsDir(), caches[e.Name()], b.builds(name):
			continue
		case e.IsDir():
			if !b.dirs[name] {
				b.had[name+"/"] = sealedFile{}
				if _, err := os.Lstat(filepath.Join(b.at(name), "pyvenv.cfg")); err == nil {
					b.roots[name] = b.at(name)
				}
			}
			if err := b.seal(name + "/"); err != nil {
				return err
			}
			continue
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		if e.Type()&fs.ModeSymlink != 0 {
			b.links = append(b.links, name)
		}
		f := sealedFile{own: fileStateOf(info)}
		b.had[name], b.changed = f, max(b.changed, f.own.changed)
	}
	return nil
}

// builds reports whether a directory is one that builders keep.
func (b *bringer) builds(rel string) bool {
	beside, ok := buildDirs[path.Base(rel)]
	return ok && b.files[strings.TrimPrefix(path.Dir(rel)+"/"+beside, "./")]
}
