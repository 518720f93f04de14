package screen

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// Page draws lines over a whole terminal, on its alternate screen: what was there before comes back when the page is
// hidden. Every change is a single write of the lines that differ, so that it is small enough for a slow connection.
type Page struct {
	mu            sync.Mutex
	out           io.Writer
	on            bool
	columns, rows int
	shown         []string
}

// NewPage returns a page that is not shown yet.
func NewPage(out io.Writer) *Page { return &Page{out: out} }

// These sequences switch to the alternate screen and back, hide and show the cursor, and turn the marks around pasted
// text on and off.
const (
	enterPage = "\x1b[?1049h\x1b[?25l\x1b[?2004h"
	leavePage = "\x1b[?2004l\x1b[?25h\x1b[?1049l"
)

// Show switches to the alternate screen. The next Draw draws all lines.
func (p *Page) Show() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.on {
		p.on, p.columns = true, 0
		_, _ = io.WriteString(p.out, enterPage)
	}
}

// Hide switches back to the normal screen. It may be called more than once.
func (p *Page) Hide() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.on {
		p.on = false
		_, _ = io.WriteString(p.out, leavePage)
	}
}

// Draw shows lines, from the top of a terminal of the given size. The texts may contain colours, but no sequence that
// moves the cursor, and must not be wider than the terminal. A hidden page draws nothing.
func (p *Page) Draw(columns, rows int, lines []string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.on {
		return nil
	}
	var s strings.Builder
	if columns != p.columns || rows != p.rows { // the terminal may have moved what was drawn
		s.WriteString("\x1b[H\x1b[J")
		p.columns, p.rows, p.shown = columns, rows, make([]string, rows)
	}
	for i := range p.shown {
		text := ""
		if i < len(lines) {
			text = lines[i]
		}
		if text != p.shown[i] {
			fmt.Fprintf(&s, "\x1b[%d;1H\x1b[K%s", i+1, text)
			p.shown[i] = text
		}
	}
	if s.Len() == 0 {
		return nil
	}
	_, err := io.WriteString(p.out, beginUpdate+s.String()+endUpdate)
	return err
}

// Keys makes a terminal pass on each key at once and not display it; Ctrl-C and Ctrl-Z still work. `restore` undoes
// that; it may be called more than once.
func Keys(f *os.File) (restore func()) {
	return changed(f, func(t *unix.Termios) {
		t.Lflag &^= unix.ECHO | unix.ICANON
		t.Cc[unix.VMIN], t.Cc[unix.VTIME] = 0, 0
	})
}

// ReadKeys reads what was typed, after Keys. It returns "" if nothing is typed within a time, and io.EOF if the
// terminal is gone. It does not block in a read, because one that began before Keys would wait for a whole line.
func ReadKeys(f *os.File, within time.Duration) (string, error) {
	fds := []unix.PollFd{{Fd: int32(f.Fd()), Events: unix.POLLIN}}
	n, err := unix.Poll(fds, int(within.Milliseconds()))
	if err != nil || n == 0 {
		return "", nil // EINTR, or nothing was typed
	}
	buf := make([]byte, 4<<10)
	if n, _ = unix.Read(int(f.Fd()), buf); n > 0 {
		return string(buf[:n]), nil
	}
	if fds[0].Revents&(unix.POLLHUP|unix.POLLERR|unix.POLLNVAL) != 0 {
		return "", io.EOF
	}
	return "", nil
}
