package durable

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// ErrReplaced is returned if another process deleted, replaced or wrote to the open file. Data appended to a deleted
// file would be lost, and after another process's write the file's content is unknown.
var ErrReplaced = errors.New("file was deleted, replaced or changed by another process")

// Appender appends to one file durably. Only one goroutine may use it.
type Appender struct {
	f    *os.File
	info fs.FileInfo // identity of the open file
	size int64       // the size that the file should have
	err  error       // the first failure; after it every write fails
}

// OpenAppend opens the file at `path` for appending. If the file is missing, OpenAppend creates it durably, with mode
// 0600.
func OpenAppend(path string) (*Appender, error) {
	const flag = os.O_WRONLY | os.O_APPEND
	f, err := openRegular(path, flag)
	created := errors.Is(err, fs.ErrNotExist)
	if created {
		f, err = openRegular(path, flag|os.O_CREATE)
	}
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && created {
		err = SyncDir(filepath.Dir(path))
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return &Appender{f: f, info: info, size: info.Size()}, nil
}

// Append writes data at the end of the file, and returns when the data is on the disk. After an error it is unknown how
// much was written, so every later call returns the same error.
func (a *Appender) Append(data []byte) error {
	if a.err == nil {
		a.err = a.append(data)
	}
	return a.err
}

func (a *Appender) append(data []byte) error {
	if now, err := os.Lstat(a.f.Name()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	} else if err != nil || !os.SameFile(a.info, now) || now.Size() != a.size {
		return fmt.Errorf("%s: %w", a.f.Name(), ErrReplaced)
	}
	a.size += int64(len(data))
	if _, err := a.f.Write(data); err != nil {
		return err
	}
	return flush(a.f)
}

// Close closes the file. It does not sync, because Append has made all data durable.
func (a *Appender) Close() error { return a.f.Close() }
