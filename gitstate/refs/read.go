package refs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"

	"github.com/wfs-dev/wfs/gitstate/gitcmd"
	"github.com/wfs-dev/wfs/gitstate/object"
	"github.com/wfs-dev/wfs/internal/durable"
	"github.com/wfs-dev/wfs/session"
)

// Remote returns the name of the remote to which the user would push: origin, or the only remote, or "" if neither
// exists.
func (r *Refs) Remote(ctx context.Context) (string, error) {
	out, err := r.Git.Ask(ctx, "remote")
	if err != nil {
		return "", err
	}
	names := strings.Fields(string(out))
	switch {
	case slices.Contains(names, "origin"):
		return "origin", nil
	case len(names) == 1:
		return names[0], nil
	}
	return "", nil
}

// CheckBranchName returns an error if no branch can have that name.
func (r *Refs) CheckBranchName(ctx context.Context, name string) error {
	if strings.HasPrefix(name, "-") || strings.Contains(name, "@{") || name == "HEAD" { // as for git switch -c
		return fmt.Errorf("%q is not a valid branch name", name)
	}
	_, err := r.Git.Ask(ctx, "check-ref-format", "refs/heads/"+name)
	return err
}

// RefsBelow returns the commits of the refs below a directory (such as "refs/wfs-deleted/auth"), by their full names.
func (r *Refs) RefsBelow(ctx context.Context, dir string) (map[string]session.Commit, error) {
	return r.List(ctx, dir, func(string) bool { return true })
}

// If the repository stores its refs in files, wfs reads them without a git process. It reads the file of a loose ref
// before packed-refs, and the loose ref counts if both have it: git writes packed-refs before it removes the loose
// files.

// maxSymbolic limits a chain of symbolic refs, as in git.
const maxSymbolic = 5

// Ref returns the commit of a ref, given by its full name, or "" if the ref does not exist. It follows symbolic refs. A
// ref that cannot be read is an error.
func (r *Refs) Ref(ctx context.Context, name string) (session.Commit, error) {
	if !plainRefName(name) {
		return "", fmt.Errorf("%q is not a full ref name", name)
	}
	if !r.Git.ReadsDirectly() {
		refs, err := r.forEachRef(ctx, name)
		return refs[name], err
	}
	target := name
	for range maxSymbolic {
		next, commit, err := r.ReadRef(target)
		if err != nil || next == "" {
			return commit, err
		}
		target = next
	}
	return "", fmt.Errorf("%s: %w: it leads in a circle", name, ErrBrokenRef)
}

// ReadRef reads one ref. It returns its commit, or the name of the next ref if it is a symbolic ref.
func (r *Refs) ReadRef(name string) (next string, commit session.Commit, err error) {
	path := r.refPath(name)
	data, err := gitcmd.ReadBounded(path, gitcmd.MaxRef)
	if err == nil {
		return r.parseRef(name, data)
	}
	if errors.Is(err, durable.ErrNotRegular) || errors.Is(err, durable.ErrTooLarge) || errors.Is(err, syscall.ELOOP) {
		return "", "", fmt.Errorf("%s: %w: %w", name, ErrBrokenRef, err)
	}
	// EISDIR: the path may be a directory, which git removes as soon as it is empty.
	if !gitcmd.Absent(err) && !errors.Is(err, syscall.EISDIR) {
		if info, statErr := os.Stat(path); statErr != nil || !info.IsDir() {
			return "", "", err
		}
	}
	packed, err := r.packedRefs()
	if err != nil {
		return "", "", err
	}
	end := bytes.Index(packed, []byte(" "+name+"\n"))
	if end < 0 {
		return "", "", nil
	}
	line := packed[bytes.LastIndexByte(packed[:end], '\n')+1 : end]
	return r.parseRef(name, line)
}

// refPath returns the path of a loose ref's file. Except for a few kinds, work trees share all refs.
func (r *Refs) refPath(name string) string {
	dir := r.Git.CommonDir
	for _, own := range []string{"refs/bisect/", "refs/worktree/", "refs/rewritten/"} {
		if strings.HasPrefix(name, own) {
			dir = r.Git.GitDir
		}
	}
	return filepath.Join(dir, filepath.FromSlash(name))
}

// parseRef parses the content of a ref's file: either an object id, or "ref:" with the name of another ref.
func (r *Refs) parseRef(name string, data []byte) (next string, commit session.Commit, err error) {
	text := strings.TrimRight(string(data), " \t\r\n")
	if next, ok := strings.CutPrefix(text, "ref:"); ok {
		if next = strings.TrimLeft(next, " \t"); plainRefName(next) {
			return next, "", nil
		}
	} else if len(text) == r.Objects.IDLength() && gitcmd.IsHex(text) && text != r.Objects.Zero() {
		return "", session.Commit(text), nil
	}
	return "", "", fmt.Errorf("%s: %w: it holds %q", name, ErrBrokenRef, Cut(text, 60))
}

// packedRefs returns the content of the packed-refs file, nil if there is none.
func (r *Refs) packedRefs() ([]byte, error) {
	data, err := gitcmd.ReadBounded(filepath.Join(r.Git.CommonDir, "packed-refs"), gitcmd.MaxPackedRefs)
	if gitcmd.Absent(err) {
		return nil, nil
	}
	return data, err
}

// List returns the refs below dir (such as "refs/heads") for whose names `want` returns true. If some cannot be read,
// it returns the others together with an error that names the unreadable ones.
func (r *Refs) List(ctx context.Context, dir string, want func(name string) bool) (map[string]session.Commit, error) {
	var names []string
	top := filepath.Join(r.Git.CommonDir, filepath.FromSlash(dir))
	err := filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
		if gitcmd.Absent(err) {
			return nil // removed after its directory was read
		}
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(r.Git.CommonDir, path)
		names = append(names, filepath.ToSlash(rel))
		return err
	})
	if err != nil {
		return nil, err
	}
	return r.read(ctx, names, dir, want)
}

// read reads the refs in `names`, and then the refs that packed-refs has below dir. It omits refs for which `want`
// returns false.
func (r *Refs) read(ctx context.Context, names []string, dir string, want func(string) bool,
) (map[string]session.Commit, error) {
	if !r.Git.ReadsDirectly() {
		refs, err := r.forEachRef(ctx, dir)
		maps.DeleteFunc(refs, func(name string, _ session.Commit) bool { return !want(name) })
		return refs, err
	}
	names = slices.DeleteFunc(names, func(name string) bool { return strings.HasSuffix(name, ".lock") || !want(name) })
	refs := make(map[string]session.Commit, len(names))
	var broken error
	var one sync.Mutex
	var wait sync.WaitGroup
	for part := range slices.Chunk(names, len(names)/runtime.GOMAXPROCS(0)+1) {
		wait.Go(func() {
			for _, name := range part {
				commit, err := r.Ref(ctx, name)
				one.Lock()
				refs[name], broken = commit, object.Join(broken, err)
				one.Unlock()
			}
		})
	}
	wait.Wait()
	packed, err := r.packedRefs()
	for line := range bytes.Lines(packed) {
		id, name, _ := strings.Cut(strings.TrimSpace(string(line)), " ")
		if _, loose := refs[name]; !loose && strings.HasPrefix(name, dir+"/") && want(name) {
			var e error
			_, refs[name], e = r.parseRef(name, []byte(id))
			broken = object.Join(broken, e)
		}
	}
	maps.DeleteFunc(refs, func(_ string, commit session.Commit) bool { return commit == "" })
	return refs, object.Join(broken, err)
}

// forEachRef lists refs with git: the ref with the name pattern, or the refs below that directory.
func (r *Refs) forEachRef(ctx context.Context, pattern string) (map[string]session.Commit, error) {
	out, warned, err := r.Git.RunBoth(ctx, gitcmd.Opts{}, "for-each-ref", "--format=%(objectname) %(refname)", pattern)
	if err != nil {
		return nil, err
	}
	refs := map[string]session.Commit{}
	for line := range strings.Lines(string(out)) {
		id, name, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		refs[name] = session.Commit(id)
	}
	// git skips refs that it cannot read, and prints a warning
	if bytes.Contains(warned, []byte("broken ref")) || bytes.Contains(warned, []byte("broken name")) {
		err = fmt.Errorf("%w: %s", ErrBrokenRef, bytes.TrimSpace(warned))
	}
	return refs, err
}

// plainRefName reports whether a ref name is safe as a file path. Git's own rules are stricter, but wfs only reads refs
// of these names.
func plainRefName(name string) bool {
	return strings.HasPrefix(name, "refs/") && !strings.Contains(name, "..") && !strings.Contains(name, "//") &&
		!strings.HasSuffix(name, "/") && !strings.HasSuffix(name, ".lock") && !strings.ContainsAny(name, "\\ :\x00\r\n")
}

func Cut(s string, n int) string { return s[:min(n, len(s))] }

// Pushed reports whether the last move of a remote-tracking branch was a push, according to its reflog.
func (r *Refs) Pushed(ctx context.Context, ref string) bool {
	out, err := r.Git.Run(ctx, gitcmd.Opts{OkExit: []int{1, gitcmd.GitDied}}, "reflog", "show", "-1", "--format=%gs", ref)
	return err == nil && strings.TrimSpace(string(out)) == "update by push"
}

// Unreachable returns those of the commits that exist but that no ref reaches.
func (r *Refs) Unreachable(ctx context.Context, commits []session.Commit) ([]session.Commit, error) {
	args := []string{"rev-list", "--ignore-missing"}
	for _, c := range commits {
		args = append(args, string(c))
	}
	out, err := r.Git.Ask(ctx, append(args, "--not", "--glob=refs/*")...) // --glob, since --all would include HEAD
	found := strings.Fields(string(out))
	return slices.DeleteFunc(slices.Clone(commits),
		func(c session.Commit) bool { return !slices.Contains(found, string(c)) }), err
}

// Previous returns the branch that HEAD was on before the present one, as `git switch -` finds it. It returns "" if git
// does not know it.
func (r *Refs) Previous(ctx context.Context) (string, error) {
	out, err := r.Git.Ask(ctx, "rev-parse", "--symbolic-full-name", "@{-1}")
	if failed := gitcmd.Failed(err); failed != nil {
		return "", nil
	}
	return strings.TrimSpace(string(out)), err
}
