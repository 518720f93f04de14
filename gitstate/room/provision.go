package room

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

	"github.com/wfs-dev/wfs/internal/durable"
	"github.com/wfs-dev/wfs/session"
)

// Provisioned is what was brought into a new work tree that git does not bring: paths from its top.
type Provisioned struct {
	// a directory of which git tracks nothing stands for all that is in it
	Copied  []string       `json:"copied,omitempty"`
	Linked  []string       `json:"linked,omitempty"`
	Skipped []session.Skip `json:"skipped,omitempty"`
}

// ErrCannotLink says that a path may not be linked to.
var ErrCannotLink = errors.New("cannot be linked")

// Provision brings untracked and ignored files of the work tree into another one, by its top directory: copies of what patterns match, and
// links. What is in the other one already stays as it is. Links are never followed, neither here nor there.
func (s *Set) Provision(ctx context.Context, into string, copies, links []string) (Provisioned, error) {
	p := provisioner{from: s}
	var err error
	if p.source, err = filepath.EvalSymlinks(s.Root); err != nil {
		return p.done, err
	}
	if p.dst, err = os.OpenRoot(into); err != nil {
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
	from   *Set
	source string // the real path of from's top
	dst    *os.Root
	done   Provisioned
}

func (p *provisioner) skip(name, why string) {
	p.done.Skipped = append(p.done.Skipped, session.Skip{Path: name, Why: why})
}

// tracked reports whether git tracks a path, or anything below it.
func (p *provisioner) tracked(ctx context.Context, name string) (bool, error) {
	out, err := p.from.list(ctx, "ls-files", "-z", "--", ":(top,literal)"+name)
	return len(out) > 0, err
}

func (p *provisioner) link(ctx context.Context, name string) error {
	cannot := func(why error) error { return fmt.Errorf("link: %s %w: %w", name, ErrCannotLink, why) }
	file := p.from.live(name)
	if _, err := os.Lstat(file); errors.Is(err, fs.ErrNotExist) {
		p.skip(name, "is not in the main work tree")
		return nil
	}
	if tracked, err := p.tracked(ctx, name); err != nil {
		return err
	} else if tracked {
		return cannot(errors.New("git tracks it, or something in it"))
	}
	target, err := filepath.EvalSymlinks(file)
	if err != nil {
		return cannot(err)
	}
	if target == p.source || !durable.Inside(target, p.source) || durable.Inside(target, filepath.Join(p.source, ".git")) {
		return cannot(fmt.Errorf("it leads out of the main work tree, to %s", target))
	}
	// Where installed packages usually point back to a project's own files.
	for _, pattern := range []string{"*", "@*/*", "lib/*/site-packages/*", "Lib/site-packages/*"} {
		entries, _ := filepath.Glob(filepath.Join(escapeGlob(target), pattern))
		for _, e := range entries {
			if to := p.leads(e); to != "" && !durable.Inside(to, target) {
				rel, _ := filepath.Rel(target, e)
				return &LeadsBackError{session.LeadsBack{Path: path.Join(name, filepath.ToSlash(rel)), To: to}}
			}
		}
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

// leads returns where a link leads to in the main work tree, or that work tree when a file tells Python to look for
// modules there, "" for neither.
func (p *provisioner) leads(file string) string {
	if _, err := os.Readlink(file); err == nil {
		if to, err := filepath.EvalSymlinks(file); err == nil && durable.Inside(to, p.source) {
			return to
		}
	} else if leadsPython(filepath.Base(file)) && namesTree(file, p.source, p.from.Root) != "" {
		return p.source
	}
	return ""
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
	names, err := p.from.list(ctx, "ls-files", "-o", "-z", "--", ":(top,glob)"+pattern,
		":(top,glob)"+pattern+"/**")
	if err != nil {
		return err
	}
	if len(names) == 0 {
		p.skip(pattern, "no untracked file of the main work tree has this name")
		return nil
	}
	tracked, err := p.tracked(ctx, pattern)
	if err != nil {
		return err
	}
	info, err := os.Lstat(p.from.live(pattern))
	whole := err == nil && info.IsDir() && !tracked
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
	from, file := p.from.live(name), filepath.FromSlash(name)
	info, err := os.Lstat(from)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil // deleted meanwhile
	}
	if err != nil {
		return false, err
	}
	target := ""
	switch mode := info.Mode(); {
	case mode&fs.ModeSymlink != 0:
		if target, err = os.Readlink(from); err != nil {
			return false, err
		}
		if !filepath.IsAbs(target) && !filepath.IsLocal(filepath.Join(filepath.Dir(file), target)) {
			p.skip(name, "a link out of the work tree, to "+target)
			return false, nil
		}
	case !mode.IsRegular():
		p.skip(name, "neither a file nor a link")
		return false, nil
	}
	if filepath.IsAbs(target) && (durable.Inside(target, p.source) || durable.Inside(target, p.from.Root)) {
		return false, &LeadsBackError{session.LeadsBack{Path: name, To: target}}
	}
	if ok, err := p.free(name); err != nil || !ok {
		return false, err
	}
	if target != "" { // what it leads to is not looked at, such as the system's Python
		return true, p.dst.Symlink(target, file)
	}
	if to := p.leads(from); to != "" {
		return false, &LeadsBackError{session.LeadsBack{Path: name, To: to}}
	}
	in, err := os.Open(from)
	if err != nil {
		return false, err
	}
	defer in.Close()
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

// Loose lists paths that git in this work tree would add, out of some that checkpoints leave out.
func (s *Set) Loose(ctx context.Context, paths []string) ([]string, error) {
	if len(paths) == 0 {
		return nil, nil
	}
	args := []string{"ls-files", "-o", "--exclude-standard", "--directory", "-z", "--"}
	for _, p := range paths {
		args = append(args, ":(top,literal)"+p)
	}
	return s.list(ctx, args...)
}
