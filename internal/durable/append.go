package durable

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// ErrReplaced is returned if the open file is no longer the one at its path, because another process deleted or
// replaced it and new data would be lost. It is also returned if another process wrote to the file, so that its content
// is unknown.
var ErrReplaced = errors.New("file was deleted, replaced or changed by another process")

// Appender appends to one file, durably. It is for one goroutine.
type Appender struct {
	f    *os.File
	info fs.FileInfo // identity of the file
	size int64       // its expected size
	err  error       // the first failure; it stops all later writes
}

// OpenAppend opens the file at path for appending. If there is none, it creates one with mode 0600 and a durable name.
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

// Append writes data at the file's end and returns when it is on the disk. After an error it is unknown how much was
// written, so every later call returns the same error.
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

// Close closes the file. All appended data is durable already.
func (a *Appender) Close() error { return a.f.Close() }
