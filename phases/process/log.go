package process

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/wfs-dev/wfs/internal/safetext"
)

// DefaultMaxLog limits the log of a run, in bytes.
const DefaultMaxLog = 16 << 20

// minMaxLog is the smallest limit of a log. It leaves space for the line that marks the cut.
const minMaxLog = 4 << 10

const cutLine = "\n[… %015d bytes of output were cut here …]\n"

// Log is a file with the output of a program. If the output exceeds the limit, the log keeps the first half of the
// limit and the last quarter or more, and cuts the middle out. The file is readable at any time, even after wfs was
// killed. A log that cannot be written must not stop a run: Write never fails, and Close returns the error.
type Log struct {
	f    *os.File
	max  int64
	size int64
	cut  int64
	err  error
}

// NewLog creates a log at a path, and replaces an existing file. `most` is the approximate limit in bytes.
func NewLog(path string, most int64) (*Log, error) {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	if err := f.Chmod(0o600); err != nil { // the umask may have removed permissions
		f.Close()
		return nil, err
	}
	if most <= 0 {
		most = DefaultMaxLog
	}
	return &Log{f: f, max: max(most, minMaxLog)}, nil
}

func (l *Log) Write(p []byte) (int, error) {
	if l.err == nil {
		n, err := l.f.WriteAt(p, l.size)
		l.size += int64(n)
		l.err = err
	}
	if l.err == nil && l.size > l.max {
		l.err = l.compact()
	}
	return len(p), nil
}

// compact cuts out the middle of the file by moving its end forward. It runs only once per quarter of the limit, so
// that even endless output is written just twice.
func (l *Log) compact() error {
	head, keep := l.max/2, l.max/4
	from, to := l.size-keep, head+int64(len(fmt.Sprintf(cutLine, 0)))
	if l.cut == 0 {
		l.cut = from - head
	} else {
		l.cut += from - to
	}
	if _, err := l.f.WriteAt(fmt.Appendf(nil, cutLine, l.cut), head); err != nil {
		return err
	}
	if _, err := io.Copy(io.NewOffsetWriter(l.f, to), io.NewSectionReader(l.f, from, keep)); err != nil {
		return err
	}
	l.size = to + keep
	return l.f.Truncate(l.size)
}

// Tail returns the end of the log, at most `most` bytes.
func (l *Log) Tail(most int64) string {
	text := make([]byte, min(most, l.size))
	n, _ := l.f.ReadAt(text, l.size-int64(len(text)))
	return string(text[:n])
}

// Close closes the log and returns the first error that occurred in writing.
func (l *Log) Close() error { return errors.Join(l.err, l.f.Close()) }

// MaxShown limits a line of output that is shown as progress, in characters.
const MaxShown = 200

// Shown returns the beginning of a text of an agent or the project on one line.
func Shown(s string) string { return safetext.Line(s, MaxShown) }

// MaxSaid limits a note or a question of an agent, in characters.
const MaxSaid = 2000
