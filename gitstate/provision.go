package gitstate

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/wfs-dev/wfs/session"
)

// Provisioned is what was brought into a new work tree that git does not bring: paths from its top.
type Provisioned struct {
	Copied  []string       `json:"copied,omitempty"` // a directory of which git tracks nothing stands for all that is in it
	Linked  []string       `json:"linked,omitempty"`
	Skipped []session.Skip `json:"skipped,omitempty"`
}

// LeadsBackError says that what was to be copied or linked leads back to the main work tree: gates in the new one would
// judge the files there.
type LeadsBackError struct{ Path, To string }

func (e *LeadsBackError) Error() string {
	return fmt.Sprintf("%s leads back to %s: gates in the new work tree would judge the files there", e.Path, e.To)
}

// ErrCannotLink says that a path may not be linked to.
var ErrCannotLink = errors.New("cannot be linked")

// Provision brings untracked and ignored files of this work tree into another one: copies of what patterns match, and
// links. What is in the other one already stays as it is. Links are never followed, neither here nor there.
func (r *Repo) Provision(ctx context.Context, into *Repo, copies, links []string) (Provisioned, error) {
	p := provisioner{from: r, into: into}
	var err error
	if p.source, err = filepath.EvalSymlinks(r.root); err != nil {
		return p.done, err
	}
	if p.src, err = os.OpenRoot(r.root); err != nil {
		return p.done, err
	}
	defer p.src.Close()
	if p.dst, err = os.OpenRoot(into.root); err != nil {
		return p.done, err
	}
	defer p.dst.Close()
	for _, name := range links {
		if err := p.link(ctx, name); err != nil {
			return p.done, err
		}
	}
	for _, pattern := range copies {
		if err := p.copies(ctx, pattern); err != nil {
			return p.done, err
		}
	}
	return p.done, nil
}

type provisioner struct {
	from, into *Repo
	source     string // the real path of from's top
	src, dst   *os.Root
	done       Provisioned
}

func (p *provisioner) skip(name, why string) {
	p.done.Skipped = append(p.done.Skipped, session.Skip{Path: name, Why: why})
}

// tracked reports whether git tracks a path, or anything below it.
func (p *provisioner) tracked(ctx context.Context, name string) (bool, error) {
	out, err := p.from.git(ctx, gitOpts{}, "ls-files", "-z", "--", ":(top,literal)"+name)
	return len(out) > 0, err
}

func (p *provisioner) link(ctx context.Context, name string) error {
	if _, err := p.src.Lstat(name); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			p.skip(name, "is not in the main work tree")
			return nil
		}
		return fmt.Errorf("link: %s %w: %w", name, ErrCannotLink, err)
	}
	if tracked, err := p.tracked(ctx, name); err != nil {
		return err
	} else if tracked {
		return fmt.Errorf("link: %s %w: git tracks it, or something in it", name, ErrCannotLink)
	}
	target, err := filepath.EvalSymlinks(filepath.Join(p.from.root, filepath.FromSlash(name)))
	if err != nil {
		return fmt.Errorf("link: %s %w: %w", name, ErrCannotLink, err)
	}
	if target == p.source || !inside(target, p.source) || inside(target, filepath.Join(p.source, ".git")) {
		return fmt.Errorf("link: %s %w: it leads out of the main work tree, to %s", name, ErrCannotLink, target)
	}
	if err := p.leadsBack(name, target); err != nil {
		return err
	}
	if ok, err := p.free(name); err != nil || !ok {
		return err
	}
	if err := p.dst.Symlink(target, filepath.FromSlash(name)); err != nil {
		return err
	}
	p.done.Linked = append(p.done.Linked, name)
	return nil
}

// leadsBack looks where installed packages usually point back to a project's own files: packages of a workspace, and
// Python's editable installs.
func (p *provisioner) leadsBack(name, dir string) error {
	for _, pattern := range []string{"*", "@*/*"} {
		entries, _ := filepath.Glob(filepath.Join(escapeGlob(dir), pattern))
		for _, e := range entries {
			if info, err := os.Lstat(e); err != nil || info.Mode()&fs.ModeSymlink == 0 {
				continue
			}
			to, err := filepath.EvalSymlinks(e)
			if err == nil && inside(to, p.source) && !inside(to, dir) {
				rel, _ := filepath.Rel(dir, e)
				return &LeadsBackError{path.Join(name, filepath.ToSlash(rel)), to}
			}
		}
	}
	for _, pattern := range []string{"lib/*/site-packages", "Lib/site-packages"} {
		for _, file := range []string{"*.pth", "__editable__*.py"} {
			entries, _ := filepath.Glob(filepath.Join(escapeGlob(dir), filepath.FromSlash(pattern), file))
			for _, e := range entries {
				if text, err := os.ReadFile(e); err == nil && p.namesSource(text) {
					rel, _ := filepath.Rel(dir, e)
					return &LeadsBackError{path.Join(name, filepath.ToSlash(rel)), p.source}
				}
			}
		}
	}
	return nil
}

func (p *provisioner) namesSource(text []byte) bool {
	return strings.Contains(string(text), p.source) || strings.Contains(string(text), p.from.root)
}

// escapeGlob makes a path match itself alone.
func escapeGlob(dir string) string {
	return strings.NewReplacer(`*`, `[*]`, `?`, `[?]`, `[`, `[[]`).Replace(dir)
}

// free reports whether nothing is at a place of the new work tree, and makes the directories above it.
func (p *provisioner) free(name string) (bool, error) {
	if _, err := p.dst.Lstat(filepath.FromSlash(name)); err == nil {
		p.skip(name, "already exists in the new work tree")
		return false, nil
	} else if !errors.Is(err, fs.ErrNotExist) {
		return false, err
	}
	if dir := path.Dir(name); dir != "." {
		return true, p.dst.MkdirAll(filepath.FromSlash(dir), 0o777)
	}
	return true, nil
}

func (p *provisioner) copies(ctx context.Context, pattern string) error {
	out, err := p.from.git(ctx, gitOpts{}, "ls-files", "-o", "-z", "--", ":(top,glob)"+pattern, ":(top,glob)"+pattern+"/**")
	if err != nil {
		return err
	}
	names := splitZ(out)
	if len(names) == 0 {
		p.skip(pattern, "no untracked file of the main work tree has this name")
		return nil
	}
	whole := false // the pattern is a directory of which git tracks nothing
	if info, err := p.src.Lstat(filepath.FromSlash(pattern)); err == nil && info.IsDir() {
		tracked, err := p.tracked(ctx, pattern)
		if err != nil {
			return err
		}
		whole = !tracked
	}
	if whole {
		p.done.Copied = append(p.done.Copied, pattern)
	}
	for _, name := range names {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		copied, err := p.copy(name)
		if err != nil {
			return fmt.Errorf("copy: %s: %w", name, err)
		}
		if copied && !whole {
			p.done.Copied = append(p.done.Copied, name)
		}
	}
	return nil
}

// copy copies one file, or a link as a link.
func (p *provisioner) copy(name string) (bool, error) {
	if strings.HasSuffix(name, "/") {
		p.skip(name, "a nested repository")
		return false, nil
	}
	file := filepath.FromSlash(name)
	info, err := p.src.Lstat(file)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil // deleted meanwhile
	}
	if err != nil {
		return false, err
	}
	link := info.Mode()&fs.ModeSymlink != 0
	if !link && !info.Mode().IsRegular() {
		p.skip(name, "neither a file nor a link")
		return false, nil
	}
	if ok, err := p.free(name); err != nil || !ok {
		return false, err
	}
	if link {
		return p.copyLink(name)
	}
	in, err := p.src.Open(file)
	if err != nil {
		return false, err
	}
	defer in.Close()
	if base := path.Base(name); strings.HasSuffix(base, ".pth") || strings.HasPrefix(base, "__editable__") {
		text, err := p.src.ReadFile(file)
		if err != nil {
			return false, err
		}
		if p.namesSource(text) {
			return false, &LeadsBackError{name, p.source}
		}
	}
	out, err := p.dst.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, info.Mode().Perm())
	if err != nil {
		return false, err
	}
	_, err = io.Copy(out, in)
	if err := errors.Join(err, out.Close()); err != nil {
		return false, err
	}
	return true, p.dst.Chtimes(file, info.ModTime(), info.ModTime())
}

// copyLink makes the same link: one that stays inside by a relative way, or that leads to somewhere else altogether, as
// to the system's Python. What it leads to is not looked at.
func (p *provisioner) copyLink(name string) (bool, error) {
	target, err := p.src.Readlink(filepath.FromSlash(name))
	if err != nil {
		return false, err
	}
	switch {
	case filepath.IsAbs(target) && (inside(target, p.source) || inside(target, p.from.root)):
		return false, &LeadsBackError{name, target}
	case !filepath.IsAbs(target) && !filepath.IsLocal(filepath.Join(filepath.FromSlash(path.Dir(name)), target)):
		p.skip(name, "a link out of the work tree, to "+target)
		return false, nil
	}
	return true, p.dst.Symlink(target, filepath.FromSlash(name))
}

// Loose lists paths that git in this work tree would add, out of some that checkpoints leave out.
func (r *Repo) Loose(ctx context.Context, paths []string) ([]string, error) {
	if len(paths) == 0 {
		return nil, nil
	}
	args := []string{"ls-files", "-o", "--exclude-standard", "--directory", "-z", "--"}
	for _, p := range paths {
		args = append(args, ":(top,literal)"+p)
	}
	out, err := r.git(ctx, gitOpts{}, args...)
	return splitZ(out), err
}
