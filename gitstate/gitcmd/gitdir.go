package gitcmd

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/wfs-dev/wfs/internal/durable"
)

// IsRepository reports whether git treats a directory of the work tree as a nested repository, whose files it neither
// adds nor moves. If its .git names no git directory, the directory and its files are ordinary to git. If .git cannot
// be read, the directory counts as a repository.
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
		return !errors.Is(err, durable.ErrTooLarge) // a .git file that names a directory is short
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

// IsGitDir reports whether a directory is a git directory, by git's own test: HEAD, objects and refs must exist, the
// latter two in the common directory if the directory has one.
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

// MakeGitDir creates a private git directory with its own HEAD and index. Like that of a linked work tree, it shares
// refs, objects and configuration with the repository. An existing directory, which an interrupted command left, is
// replaced.
func (r Place) MakeGitDir(dir, head string) error {
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	if err := durable.MkdirAll(filepath.Join(dir, "info")); err != nil {
		return err
	}
	// In a sparse checkout, these files determine which files of the work tree exist.
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

// CopyKeepingTime copies an index together with its modification time: from that, git knows which files it need not
// read.
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
