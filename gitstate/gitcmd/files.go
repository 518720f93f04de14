package gitcmd

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/wfs-dev/wfs/internal/durable"
)

// inodeOf returns a file's inode number. If it changes, the file was replaced.
func inodeOf(info fs.FileInfo) uint64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(st.Ino)
	}
	return 0
}

// DeviceOf returns the number of the file system on which a file is.
func DeviceOf(info fs.FileInfo) uint64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(st.Dev)
	}
	return 0
}

// linksOf returns the number of a file's hard links.
func linksOf(info fs.FileInfo) uint64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(st.Nlink)
	}
	return 1
}

// Writable reports whether files can be created and removed in a directory.
func Writable(dir string) bool {
	return !errors.Is(unix.Access(dir, unix.W_OK|unix.X_OK), syscall.EACCES)
}

// Absent reports whether an error means that a path does not exist, or that one of its parents is a file.
func Absent(err error) bool { return durable.Absent(err) }

// IsHex reports whether s consists of lower-case hexadecimal digits.
func IsHex(s string) bool { return s != "" && strings.Trim(s, "0123456789abcdef") == "" }

// IgnoreAbsent returns nil if an error means that a path does not exist, otherwise the error.
func IgnoreAbsent(err error) error {
	if Absent(err) {
		return nil
	}
	return err
}

// ThoseThere returns those of the paths that exist in the work tree and are not directories. paths should be sorted:
// then, if a directory is missing (as is common in a sparse checkout), only the first path in it is checked.
func (r *Git) ThoseThere(paths []string) (there []string) {
	gone := "/"
	for _, p := range paths {
		if strings.HasPrefix(p, gone) {
			continue
		}
		if info, err := r.Lstat(p); err == nil {
			if !info.IsDir() {
				there = append(there, p)
			}
			continue
		}
		for dir := filepath.ToSlash(filepath.Dir(p)); dir != "."; dir = filepath.ToSlash(filepath.Dir(dir)) {
			if _, err := r.Lstat(dir); err == nil {
				break
			}
			gone = dir + "/"
		}
	}
	return there
}

// Lstat returns the FileInfo of a path in the work tree. A path below a symbolic link counts as missing, because a file
// in the link's target has a path of its own.
func (r *Git) Lstat(name string) (fs.FileInfo, error) {
	for i, c := range name {
		if c != '/' {
			continue
		}
		info, err := os.Lstat(filepath.Join(r.Root, filepath.FromSlash(name[:i])))
		if err == nil && !info.IsDir() {
			err = fs.ErrNotExist
		}
		if err != nil {
			return nil, err
		}
	}
	return os.Lstat(filepath.Join(r.Root, filepath.FromSlash(name)))
}

// SameContent reports whether b is a regular file with the same content as the file a.
func SameContent(a, b string) (bool, error) {
	info, err := os.Lstat(b)
	if err != nil || !info.Mode().IsRegular() {
		return false, nil
	}
	mine, err := os.Lstat(a)
	if err != nil || mine.Size() != info.Size() {
		return false, err
	}
	if os.SameFile(mine, info) && linksOf(info) == 1 { // a is mounted at b; b is no second name of it
		return false, nil
	}
	x, err := os.Open(a)
	if err != nil {
		return false, err
	}
	defer x.Close()
	y, err := os.Open(b)
	if err != nil {
		return false, nil // unreadable: the content may differ
	}
	defer y.Close()
	var bx, by [64 << 10]byte
	for {
		n, errX := io.ReadFull(x, bx[:])
		m, errY := io.ReadFull(y, by[:])
		if !bytes.Equal(bx[:n], by[:m]) {
			return false, nil
		}
		if errX != nil || errY != nil {
			if errX == io.EOF || errX == io.ErrUnexpectedEOF {
				errX = nil
			}
			return errX == nil, errX
		}
	}
}

// MaxPackedRefs limits the size of packed-refs, in bytes: two million refs.
const MaxPackedRefs = 256 << 20

// MaxRef limits the size of the file of a ref, in bytes.
const MaxRef = 4096

// ReadFile reads a file of git of at most 16 MiB, as ReadBounded does.
func ReadFile(path string) ([]byte, error) { return ReadBounded(path, 16<<20) }

// ReadBounded reads a file of git, which may be a symbolic link, if it has at most `most` bytes. It never waits for a
// FIFO and never fills the memory: for special and for larger files, the error wraps durable.ErrNotRegular or
// durable.ErrTooLarge.
func ReadBounded(path string, most int64) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, err
	case info.IsDir():
		return nil, &os.PathError{Op: "read", Path: path, Err: syscall.EISDIR}
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s: %w", path, durable.ErrNotRegular)
	case info.Size() > most:
		return nil, fmt.Errorf("%s: %w: %d bytes, the limit is %d", path, durable.ErrTooLarge, info.Size(), most)
	}
	b := bytes.NewBuffer(make([]byte, 0, info.Size()+1+bytes.MinRead))
	_, err = b.ReadFrom(io.LimitReader(f, most))
	return b.Bytes(), err
}

// FileTime returns the present time by the clock of the file system, in nanoseconds, or 0 if it cannot be read.
func (r *Git) FileTime() uint64 {
	path := filepath.Join(r.PrivateDir(), "clock")
	_ = os.Remove(path) // left by a killed command
	if durable.MkdirAll(r.PrivateDir()) != nil {
		return 0
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return 0
	}
	defer os.Remove(path)
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return 0
	}
	return uint64(st.ModTime().UnixNano())
}

// FileAge returns the time since a file was modified, by the clock of the file system.
func (r *Git) FileAge(info os.FileInfo) time.Duration {
	return time.Duration(int64(r.FileTime()) - info.ModTime().UnixNano())
}
