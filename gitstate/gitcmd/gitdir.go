package gitcmd

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/wfs-dev/wfs/internal/durable"
)

// IsRepository reports whether git takes a directory of the work tree for a repository of its own, and so
// neither adds nor moves what is in it. One whose .git leads nowhere is an ordinary directory to git, with
// files like all others. What cannot be read counts as a repository.
func IsRepository(dir string) bool {
	path := filepath.Join(dir, ".git")
	info, err := os.Stat(path)
	switch {
	case Absent(err):
		return false
	case err != nil:
		return true
	case info.IsDir():
		return IsGitDir(path)
	case !info.Mode().IsRegular():
		return false
	}
	data, err := ReadFile(path)
	if err != nil {
		return !errors.Is(err, durable.ErrTooLarge) // it holds one path
	}
	to, ok := strings.CutPrefix(string(data), "gitdir: ")
	if to = strings.TrimRight(to, "\r\n"); !ok || to == "" {
		return false
	}
	if !filepath.IsAbs(to) {
		to = filepath.Join(dir, to)
	}
	return IsGitDir(to)
}

// IsGitDir is git's own test: there are HEAD, objects and refs, the latter two in the common directory if there is one.
func IsGitDir(dir string) bool {
	if _, err := os.Lstat(filepath.Join(dir, "HEAD")); err != nil {
		return !Absent(err)
	}
	common := dir
	if data, err := ReadFile(filepath.Join(dir, "commondir")); err == nil {
		common = strings.TrimRight(string(data), "\r\n")
		if !filepath.IsAbs(common) {
			common = filepath.Join(dir, common)
		}
	}
	for _, name := range []string{"objects", "refs"} {
		if _, err := os.Stat(filepath.Join(common, name)); err != nil {
			return !Absent(err)
		}
	}
	return true
}

// MakeGitDir makes a private git directory that shares refs, objects and configuration with the repository and has a
// HEAD and an index of its own, like that of a linked work tree. One that an interrupted command left is replaced.
func (r Place) MakeGitDir(dir, head string) error {
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	if err := durable.MkdirAll(filepath.Join(dir, "info")); err != nil {
		return err
	}
	// With a sparse checkout these say which files are there at all.
	for _, name := range []string{filepath.Join("info", "sparse-checkout"), "config.worktree"} {
		data, err := ReadFile(filepath.Join(r.GitDir, name))
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), data, 0o600)
		}
		if err != nil && !Absent(err) {
			return err
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "commondir"), []byte(r.CommonDir+"\n"), 0o600); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "HEAD"), []byte(head+"\n"), 0o600)
}

// Sparse reports whether the work tree is a sparse checkout.
func (r *Git) Sparse(ctx context.Context) (bool, error) {
	if _, err := os.Stat(filepath.Join(r.GitDir, "info", "sparse-checkout")); err != nil {
		return false, nil
	}
	out, err := r.Run(ctx, Opts{OkExit: []int{1}}, "config", "--type=bool", "--get", "core.sparseCheckout")
	return strings.TrimSpace(string(out)) == "true", err
}

// CopyKeepingTime copies an index. Its time says to git which files it need not read.
func CopyKeepingTime(from, to string) error {
	info, err := os.Stat(from)
	if err != nil {
		return err
	}
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	if err := os.WriteFile(to, data, 0o600); err != nil {
		return err
	}
	return os.Chtimes(to, info.ModTime(), info.ModTime())
}
