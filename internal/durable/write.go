// Package durable writes files and holds locks so that they survive a power cut, and a kill at any instruction. When a
// function that writes has returned nil, the new data is on the disk; until then, the old content is.
//
// All files that it creates are private to the user: it sets modes 0600 and 0700 whatever the umask is.
package durable

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// TempPrefix begins the name of a file while it is being written. If such a file remains, its writer was killed before
// it reported the content as written.
const TempPrefix = ".tmp-"

// ErrNotPrivate is returned if a path is a symbolic link, is not a directory, or can be written to by other users.
var ErrNotPrivate = errors.New("not a private directory")

// WriteFile writes data to `path`, durably and atomically: a reader sees either the old file or the new one. The file
// has mode `perm`, whatever the umask is. After an error the old file remains, with one exception: if only the
// directory could not be synced, the new file is there, but a power cut may undo it. No temporary file remains.
func WriteFile(path string, data []byte, perm fs.FileMode) error {
	if err := replace(path, data, perm, true); err != nil {
		return err
	}
	return SyncDir(filepath.Dir(path))
}

// WriteCache writes data that can be recreated. Like WriteFile it is atomic, but it does not wait for the disk: after a
// power cut the file may be the old one, empty or missing.
func WriteCache(path string, data []byte, perm fs.FileMode) error {
	return replace(path, data, perm, false)
}

func replace(path string, data []byte, perm fs.FileMode, sync bool) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), TempPrefix+"*") // opens with O_EXCL
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			f.Close() // no effect if the file is closed already
			os.Remove(f.Name())
		}
	}()
	if err := f.Chmod(perm); err != nil {
		return err
	}
	if _, err := f.Write(data); err != nil {
		return err
	}
	if sync {
		// A failed fsync is never retried: the kernel may have dropped the data, and would report success the second
		// time.
		if err := flush(f); err != nil {
			return err
		}
	}
	if err := f.Close(); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

// Truncate durably cuts the file at `path` to `size` bytes.
func Truncate(path string, size int64) error {
	f, err := openRegular(path, os.O_RDWR)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := f.Truncate(size); err != nil {
		return err
	}
	return flush(f)
}

// SyncFile makes the file at `path` durable, content and name, as other processes have written it.
func SyncFile(path string) error {
	f, err := openRegular(path, os.O_RDWR)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := flush(f); err != nil {
		return err
	}
	return SyncDir(filepath.Dir(path))
}

// MkdirAll durably creates `dir` and its missing parents, with mode 0700. If `dir` exists, it must be a real directory;
// if it is a symbolic link, the error is ErrNotPrivate. Parents may be symbolic links.
func MkdirAll(dir string) error {
	dir = filepath.Clean(dir)
	if found, err := CheckDir(dir); found || err != nil {
		return err
	}
	parent := filepath.Dir(dir)
	if _, err := os.Stat(parent); errors.Is(err, fs.ErrNotExist) && parent != dir {
		if err := MkdirAll(parent); err != nil {
			return err
		}
	}
	switch err := os.Mkdir(dir, 0o700); {
	case errors.Is(err, fs.ErrExist): // another process created it, but may not have synced it
		if _, err := CheckDir(dir); err != nil {
			return err
		}
	case err != nil:
		return err
	default:
		if err := os.Chmod(dir, 0o700); err != nil { // the umask may have removed permissions
			return err
		}
	}
	return SyncDir(parent)
}

// CheckDir reports whether `dir` exists. If it is a symbolic link, or not a directory, the error is ErrNotPrivate: wfs
// would write its state through the link to a place where no reader looks for it.
func CheckDir(dir string) (found bool, err error) {
	info, err := os.Lstat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case err != nil:
		return false, err
	case info.Mode()&fs.ModeSymlink != 0:
		return true, fmt.Errorf("%w: %s is a symbolic link", ErrNotPrivate, dir)
	case !info.IsDir():
		return true, fmt.Errorf("%w: %s is not a directory", ErrNotPrivate, dir)
	}
	return true, nil
}

// CheckPrivateDir checks a directory whose files wfs trusts. In addition to CheckDir, it requires that no other user
// may write to `dir`, and that `dir` belongs to the user, to root, or to the owner of one of the directories in
// `besides`.
func CheckPrivateDir(dir string, besides ...string) (found bool, err error) {
	if found, err := CheckDir(dir); !found || err != nil {
		return found, err
	}
	info, err := os.Lstat(dir)
	if err != nil {
		return true, err
	}
	var others []fs.FileInfo
	for _, b := range besides {
		if other, err := os.Stat(b); err == nil {
			others = append(others, other)
		}
	}
	return true, checkOwner(dir, info, others)
}
