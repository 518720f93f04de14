// Package durable keeps files and locks that survive a kill at any instruction and a power cut: when a writing call has
// returned nil, its data is on the disk; before that, the old content is.
//
// Its files are private to the user: mode 0600, directories 0700, independent of the umask.
package durable

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// TempPrefix begins the name of every file that is still being written. Such a file that is found later is from a
// killed process, and its content was never reported as written.
const TempPrefix = ".tmp-"

// ErrNotPrivate is returned for a path that is a symbolic link or not a directory, or that others may write to.
var ErrNotPrivate = errors.New("not a private directory")

// WriteFile writes data to path, durably and atomically: readers see the old file or the new one. The file gets mode
// perm, independent of the umask. On error the old file remains; or, if only the directory could not be synced, the new
// file, which a power cut may undo. No temporary file remains.
func WriteFile(path string, data []byte, perm fs.FileMode) error {
	if err := replace(path, data, perm, true); err != nil {
		return err
	}
	return SyncDir(filepath.Dir(path))
}

// WriteCache is WriteFile for data that can be recreated. It is atomic, but a power cut may leave the old file, an
// empty one or none. It saves two waits for the disk.
func WriteCache(path string, data []byte, perm fs.FileMode) error {
	return replace(path, data, perm, false)
}

func replace(path string, data []byte, perm fs.FileMode, sync bool) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), TempPrefix+"*") // O_EXCL
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			f.Close() // harmless if already closed
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
		// Never retried: after a failed fsync the kernel may drop the pages and report success the second time.
		if err := flush(f); err != nil {
			return err
		}
	}
	if err := f.Close(); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

// Truncate cuts the file at path to size bytes, durably.
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

// SyncFile makes durable the data that other processes wrote to the file at path, and its name.
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

// MkdirAll creates dir and its missing parents, with mode 0700 and durable names. An existing dir must be a real
// directory: for a symbolic link it returns ErrNotPrivate. Parents may be links.
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
	case errors.Is(err, fs.ErrExist): // another process was faster; it may not have synced yet
		if _, err := CheckDir(dir); err != nil {
			return err
		}
	case err != nil:
		return err
	default:
		if err := os.Chmod(dir, 0o700); err != nil { // the umask may have cleared bits
			return err
		}
	}
	return SyncDir(parent)
}

// CheckDir reports whether dir exists. It must be a directory and not a symbolic link, or the error is ErrNotPrivate:
// state that is written through a link would be lost to its readers.
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

// CheckPrivateDir is CheckDir for a directory whose files are trusted. It must also belong to the user, to root, or to
// the owner of one of the directories in besides, and no other user may write to it.
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
