package room

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
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

	"github.com/wfs-dev/wfs/internal/durable"
	"github.com/wfs-dev/wfs/internal/lazyregexp"
	"github.com/wfs-dev/wfs/session"
)

// installDirs are the names of directories and files that package managers install in a project.
var installDirs = []string{"node_modules", "vendor", "bower_components", ".bundle", ".pnp.cjs", ".pnp.loader.mjs",
	"__pypackages__", "deps", "Pods", ".yarn"}

// installersNotes are files that installers write for their own use. They change even if the same packages are
// installed again, so wfs does not compare them.
var installersNotes = []string{".package-lock.json", ".yarn-integrity", ".yarn-state.yml", ".modules.yaml",
	".pnpm-workspace-state.json", "install-state.gz"}

// isInstalled reports whether a path of the work tree is a directory or file with installed packages. Parts of a .yarn
// directory may belong to the project itself.
func (s *Set) isInstalled(rel string) bool {
	return slices.Contains(installDirs, path.Base(rel)) || path.Base(path.Dir(rel)) == ".yarn" ||
		strings.HasSuffix(rel, ".egg-info") || isEnvironment(s.live(rel))
}

// isEnvironment reports whether a directory is a Python virtual environment. Such a directory contains its own absolute
// path, so it cannot be copied.
func isEnvironment(dir string) bool {
	_, err := os.Lstat(filepath.Join(dir, "pyvenv.cfg"))
	return err == nil
}

// Installed lists the paths in the work tree with installed packages, except for files of a tree.
func (s *Set) Installed(ctx context.Context, tree session.Tree) ([]string, error) {
	t, err := s.namesOf(ctx, tree)
	if err != nil {
		return nil, err
	}
	var tops []string
	for _, dir := range append(slices.Sorted(maps.Keys(t.dirs)), "") {
		entries, _ := os.ReadDir(s.live(dir))
		for _, e := range entries {
			rel := path.Join(dir, e.Name())
			if own := t.files[rel] || t.dirs[rel] || e.Name() == ".git"; !own && s.isInstalled(rel) {
				tops = append(tops, rel)
			}
		}
	}
	return tops, nil
}

// PackagesDigest returns a fingerprint of the installed packages in the work tree, except for files of a tree. If the
// same packages are installed again, it stays the same.
func (s *Set) PackagesDigest(ctx context.Context, tree session.Tree) (string, error) {
	return s.eachPackage(ctx, tree, func(from, _ string, _ fs.FileInfo) (string, error) { return from, nil })
}

// NoPackages returns the fingerprint that stands for no packages.
func NoPackages() string { return packagesDigest(sha256.New()) }

func packagesDigest(h hash.Hash) string { return hex.EncodeToString(h.Sum(nil)[:24]) }

// visitor is called for each file, link or directory of the installed packages. It returns the file whose content
// becomes part of the fingerprint.
type visitor func(from, rel string, info fs.FileInfo) (file string, err error)

// eachPackage calls visit for each file, link and directory of the installed packages, with its real path, and returns
// a fingerprint of them all. It skips caches. Of a virtual environment it visits only the top directory.
func (s *Set) eachPackage(ctx context.Context, tree session.Tree, visit visitor) (digest string, err error) {
	tops, err := s.Installed(ctx, tree)
	if err != nil {
		return "", err
	}
	h := sha256.New()
	for _, top := range tops {
		real, err := filepath.EvalSymlinks(s.live(top))
		if err != nil {
			continue
		}
		if err := visitPackage(ctx, h, real, top, visit); err != nil {
			return "", err
		}
	}
	return packagesDigest(h), nil
}

// visitPackage visits a package directory or file whose real path is real. top is its path in the work tree.
func visitPackage(ctx context.Context, h hash.Hash, real, top string, visit visitor) error {
	return filepath.WalkDir(real, func(from string, d fs.DirEntry, err error) error {
		if err != nil || ctx.Err() != nil {
			return errors.Join(ctx.Err(), ignoreAbsent(err)) // deleted during the walk
		}
		odd := d.Type()&^(fs.ModeDir|fs.ModeSymlink) != 0 // a socket, for example
		if odd || from != real && caches[d.Name()] {
			return skipped(d)
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		rel := path.Join(top, filepath.ToSlash(strings.TrimPrefix(from, real)))
		file, err := visit(from, rel, info)
		if err == nil {
			err = describe(h, file, from, rel, info)
		}
		if err == nil && d.IsDir() && isEnvironment(from) {
			return fs.SkipDir
		}
		return err
	})
}

func ignoreAbsent(err error) error {
	if durable.Absent(err) {
		return nil
	}
	return err
}

// skipped returns the error that makes a walk skip an entry.
func skipped(d fs.DirEntry) error {
	if d.IsDir() {
		return fs.SkipDir
	}
	return nil
}

// describe adds a file, link or directory to a fingerprint, without its times.
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

// copiedLink returns the target for a copy of the link at `from`. If a relative target is outside of the work tree, for
// example a package next to it, the result is absolute.
func copiedLink(from, rel string) (string, error) {
	to, err := os.Readlink(from)
	if err == nil && !filepath.IsAbs(to) &&
		!filepath.IsLocal(filepath.Join(filepath.FromSlash(path.Dir(rel)), to)) {
		to = filepath.Join(filepath.Dir(from), to)
	}
	return to, err
}

// copyFile copies a file to a path that does not exist. If the file system can, the two files share their blocks until
// one of them is changed.
func copyFile(from, to string, mode fs.FileMode) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode.Perm()|0o200)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}

// installing matches files that determine which packages are installed. A package.json determines them only if there is
// no lock file.
var installing = lazyregexp.New(`(^|/)(go\.sum|(package-lock|npm-shrinkwrap|packages\.lock)\.json|pnpm-lock\.yaml|` +
	`bun\.lockb?|(Cargo|Gemfile|Pipfile|Podfile|composer|deno|mix|pdm|poetry|pubspec|uv|yarn)\.lock|` +
	`pyproject\.toml|setup\.(py|cfg)|composer\.json|Gemfile|Pipfile|pnpm-workspace\.yaml|` +
	`([^/]*requirements[^/]*|requirements/[^/]+)\.(txt|in)|environment\.ya?ml|` +
	`\.npmrc|\.yarnrc(\.yml)?|\.python-version|\.nvmrc|\.node-version|\.tool-versions)$`)

// Installing returns a fingerprint of those files in a tree that determine which packages are installed.
func (s *Set) Installing(ctx context.Context, tree session.Tree) (string, error) {
	lines, err := s.treeLines(ctx, tree)
	if err != nil {
		return "", err
	}
	locked := false
	var manifests []string
	h := sha256.New()
	for _, line := range lines {
		_, name, _ := strings.Cut(line, "\t")
		if installing.MatchString(name) {
			base := path.Base(name)
			locked = locked || strings.Contains(base, "lock") || strings.Contains(base, "shrinkwrap")
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
