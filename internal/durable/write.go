// Package durable keeps files and locks that survive a kill at any instruction and a power cut: after a call that
// writes has returned nil, what it wrote is on the disk; before that, the old content is.
//
// Files that it makes are for the user alone: mode 0600, directories 0700, whatever the umask is.
package durable

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// TempPrefix begins the name of every file that is still being written. One that is found later was left by a process
// that was killed, and holds nothing that anybody was told of.
const TempPrefix = ".tmp-"

// ErrNotPrivate is returned for a directory that is a symbolic link, is no directory, or that others may write to.
var ErrNotPrivate = errors.New("not a private directory")

// WriteFile puts data under path, durably and all at once: readers see the old file or the new one. perm is what the
// file gets, independent of the umask. On error the old file is there, or, when only the directory could not be
// synced, the new one that a power cut may take back; no temporary file is left either way.
func WriteFile(path string, data []byte, perm fs.FileMode) error {
	if err := replace(path, data, perm, true); err != nil {
		return err
	}
	return SyncDir(filepath.Dir(path))
}

// WriteCache is WriteFile for what can be made again: all at once, but a power cut may leave the old file, an empty
// one or none. It spares two waits for the disk.
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
			f.Close() // harmless when it is closed already
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
		// Never retried: after a failed fsync the kernel may have dropped the pages and say yes the second time.
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

// SyncFile makes durable what others wrote to the file at path, and its name.
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

// MkdirAll makes dir and its missing parents, mode 0700, and makes their names durable. A dir that exists must be a
// real directory: a symbolic link in its place is refused with ErrNotPrivate. Parents may be links.
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
	case errors.Is(err, fs.ErrExist): // another process was quicker; it may not have come to the sync yet
		if _, err := CheckDir(dir); err != nil {
			return err
		}
	case err != nil:
		return err
	default:
		if err := os.Chmod(dir, 0o700); err != nil { // the umask may have taken bits away
			return err
		}
	}
	return SyncDir(parent)
}

// CheckDir reports whether there is anything at dir. What is there must be a directory and no symbolic link, or the
// error is ErrNotPrivate: state that is written through a link lands where nobody looks for it.
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

// CheckPrivateDir is CheckDir for a directory whose files are believed: it must also belong to the user (or root, or
// whoever owns the directory that is named besides), and nobody else may write to it.
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
