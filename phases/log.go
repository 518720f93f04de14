package phases

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/wfs-dev/wfs/internal/safetext"
)

// DefaultMaxLog bounds the log of one run, in bytes.
const DefaultMaxLog = 16 << 20

// minMaxLog leaves room for the line that says what was cut.
const minMaxLog = 4 << 10

const cutLine = "\n[… %015d bytes of output were cut here …]\n"

// boundedLog is a file of what was printed; what is written to it has no secrets. It keeps the beginning and
// the end: the beginning is half of the bound, the end between a quarter and a half. The file is readable at
// any time, also after the process was killed. A log that cannot be written must not stop a run: Write never
// fails, Close says what was wrong.
type boundedLog struct {
	f    *os.File
	max  int64
	size int64
	cut  int64
	err  error
}

func newLog(path string, most int64) (*boundedLog, error) {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	if err := f.Chmod(0o600); err != nil { // the umask may have taken bits away
		f.Close()
		return nil, err
	}
	if most <= 0 {
		most = DefaultMaxLog
	}
	return &boundedLog{f: f, max: max(most, minMaxLog)}, nil
}

func (l *boundedLog) Write(p []byte) (int, error) {
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

// compact moves the end of the file over its middle. It happens once in a quarter of the bound, so that a flood costs
// twice its writing.
func (l *boundedLog) compact() error {
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

// tail is the end of what was written, at most so many bytes.
func (l *boundedLog) tail(most int64) string {
	text := make([]byte, min(most, l.size))
	n, _ := l.f.ReadAt(text, l.size-int64(len(text)))
	return string(text[:n])
}

func (l *boundedLog) Close() error { return errors.Join(l.err, l.f.Close()) }

// maxShown is how many characters of one line of output are shown as progress.
const maxShown = 200

// progress reports output line by line, fit for a terminal.
type progress struct {
	report func(string)
	line   []byte
	long   bool // the rest of the line is passed over
}

func (p *progress) Write(b []byte) (int, error) {
	n := len(b)
	for len(b) > 0 {
		head, rest, ended := bytes.Cut(b, []byte{'\n'})
		if !p.long {
			p.line = append(p.line, head[:min(len(head), 4*maxShown)]...)
			p.long = len(p.line) >= 4*maxShown
		}
		if ended {
			p.flush()
		}
		b = rest
	}
	return n, nil
}

func (p *progress) flush() {
	if line := safetext.Line(string(p.line), maxShown); line != "" && p.report != nil {
		p.report(line)
	}
	p.line, p.long = p.line[:0], false
}
