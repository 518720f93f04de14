package durable

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// ErrReplaced is returned when the file that is being appended to is no longer the one that its path names: somebody
// deleted or replaced it, and what would be appended could not be found again. Or somebody else wrote to it, and nobody
// knows what it holds.
var ErrReplaced = errors.New("file was deleted, replaced or changed by another process")

// Appender appends to one file, durably. It is for one goroutine.
type Appender struct {
	f    *os.File
	info fs.FileInfo // which file it is
	size int64       // what it must have
	err  error       // the first failure; nothing is written after it
}

// OpenAppend opens the file at path for appending. When there is none it makes one, mode 0600, whose name is durable on
// return.
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

// Append writes data behind the file's end and returns when it is on the disk. After an error nobody knows how much of
// it is there, so every later call returns the same error.
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

// Close closes the file. Everything that was appended is durable already.
func (a *Appender) Close() error { return a.f.Close() }
