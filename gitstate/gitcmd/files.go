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

// inodeOf tells a file that was replaced from one that was left alone.
func inodeOf(info fs.FileInfo) uint64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(st.Ino)
	}
	return 0
}

// DeviceOf is the file system that a file is in.
func DeviceOf(info fs.FileInfo) uint64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(st.Dev)
	}
	return 0
}

// linksOf is how many names a file has.
func linksOf(info fs.FileInfo) uint64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(st.Nlink)
	}
	return 1
}

// Writable reports whether names can be made and removed in a directory.
func Writable(dir string) bool {
	return !errors.Is(unix.Access(dir, unix.W_OK|unix.X_OK), syscall.EACCES)
}

// Absent reports whether a path is not there, a file in place of one of its directories included.
func Absent(err error) bool { return durable.Absent(err) }

func IsHex(s string) bool { return s != "" && strings.Trim(s, "0123456789abcdef") == "" }

func IgnoreAbsent(err error) error {
	if Absent(err) {
		return nil
	}
	return err
}

// ThoseThere returns those of some paths of the index, marked or not, that are there as files. Of a directory that
// is not there, as most are outside of a sparse checkout, only the first path is looked for.
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

// Lstat looks at a path of the work tree. Below a symbolic link there is nothing: what it leads to has another path.
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

func SameContent(a, b string) (bool, error) {
	info, err := os.Lstat(b)
	if err != nil || !info.Mode().IsRegular() {
		return false, nil
	}
	mine, err := os.Lstat(a)
	if err != nil || mine.Size() != info.Size() {
		return false, err
	}
	if os.SameFile(mine, info) && linksOf(info) == 1 { // mounted there: no other name of it
		return false, nil
	}
	x, err := os.Open(a)
	if err != nil {
		return false, err
	}
	defer x.Close()
	y, err := os.Open(b)
	if err != nil {
		return false, nil // unreadable there: not known to be the same
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

// MaxPackedRefs bounds that file, in bytes: two million refs.
const MaxPackedRefs = 256 << 20

// MaxRef bounds the file of a ref, in bytes.
const MaxRef = 4096

// ReadFile reads a file of git's whole that may have up to 16 MiB, as readBounded does.
func ReadFile(path string) ([]byte, error) { return ReadBounded(path, 16<<20) }

// ReadBounded reads a file of git's, which may be a symbolic link. It never waits for a FIFO and never fills
// the memory: the errors are durable.ErrNotRegular and durable.ErrTooLarge, or what the system said.
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
	return io.ReadAll(io.LimitReader(f, most))
}

// FileTime is now, by the clock of the file system, in nanoseconds; 0 when that cannot be told.
func (r *Git) FileTime() uint64 {
	path := filepath.Join(r.PrivateDir(), "clock")
	_ = os.Remove(path) // of a killed command
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

// FileAge is how long ago a file was changed, by the clock of the file system.
func (r *Git) FileAge(info os.FileInfo) time.Duration {
	return time.Duration(int64(r.FileTime()) - info.ModTime().UnixNano())
}
