package durable

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// ErrNotRegular is returned if a path is not a regular file, but a directory, symbolic link, FIFO, socket or device.
var ErrNotRegular = errors.New("not a regular file")

// ErrTooLarge is returned if a file is larger than the caller allows.
var ErrTooLarge = errors.New("file is too large")

// ReadFile returns the content of a regular file of at most `limit` bytes. The error wraps fs.ErrNotExist,
// ErrNotRegular or ErrTooLarge, or comes from the system. ReadFile never blocks: opening a FIFO returns at once. If the
// last element of the path is a symbolic link, ReadFile does not follow it.
func ReadFile(path string, limit int64) ([]byte, error) {
	data, size, err := read(path, limit)
	if err == nil && size > limit {
		return nil, tooLarge(path, size, limit)
	}
	return data, err
}

// ReadBeginning does the same as ReadFile, but of a file that is larger than `limit` bytes it returns the first `limit`
// bytes.
func ReadBeginning(path string, limit int64) ([]byte, error) {
	data, _, err := read(path, limit)
	return data[:min(int64(len(data)), limit)], err
}

// read returns the content of a file, but at most one byte more than `limit`, and the file's size.
func read(path string, limit int64) (data []byte, size int64, err error) {
	f, err := openRegular(path, os.O_RDONLY)
	if err != nil {
		return nil, 0, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, 0, err
	}
	b := bytes.NewBuffer(make([]byte, 0, min(info.Size(), limit)+1+bytes.MinRead))
	if _, err := b.ReadFrom(io.LimitReader(f, limit+1)); err != nil { // it may grow during the read
		return nil, 0, err
	}
	return b.Bytes(), max(int64(b.Len()), info.Size()), nil
}

func tooLarge(path string, size, limit int64) error {
	return fmt.Errorf("%s: %w: %d bytes, the limit is %d", path, ErrTooLarge, size, limit)
}

// openRegular opens `path` with `flag`. If `path` is not a regular file, it returns ErrNotRegular. With os.O_CREATE a
// new file has mode 0600.
func openRegular(path string, flag int) (*os.File, error) {
	if info, err := os.Lstat(path); err == nil && !info.Mode().IsRegular() {
		return nil, notRegular(path, info)
	}
	f, err := open(path, flag)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = notRegular(path, info)
	}
	if err == nil && flag&os.O_CREATE != 0 && info.Mode().Perm() != 0o600 {
		err = f.Chmod(0o600)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

func notRegular(path string, info fs.FileInfo) error {
	return fmt.Errorf("%s: %w (%s)", path, ErrNotRegular, info.Mode().Type())
}
