package durable

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// ErrNotRegular is returned for a path that is not a regular file: a directory, symbolic link, FIFO, socket or device.
var ErrNotRegular = errors.New("not a regular file")

// ErrTooLarge is returned for a file that is larger than the caller's limit.
var ErrTooLarge = errors.New("file is too large")

// ReadFile returns the content of a regular file of at most limit bytes. Errors wrap fs.ErrNotExist, ErrNotRegular or
// ErrTooLarge, or are those of the system. It never blocks: opening a FIFO returns at once. It does not follow a
// symbolic link as the last element.
func ReadFile(path string, limit int64) ([]byte, error) {
	data, size, err := read(path, limit)
	if err == nil && size > limit {
		return nil, tooLarge(path, size, limit)
	}
	return data, err
}

// ReadBeginning is ReadFile that returns the first limit bytes of a larger file.
func ReadBeginning(path string, limit int64) ([]byte, error) {
	data, _, err := read(path, limit)
	return data[:min(int64(len(data)), limit)], err
}

// read reads at most one byte more than limit, and returns the file's size.
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

// openRegular opens path with flag if it is a regular file. With os.O_CREATE the file gets mode 0600.
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
