// Package screen keeps a few lines up to date at the bottom of a terminal, while other output scrolls above them.
package screen

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
)

// Line is one line of a Block.
type Line struct {
	Text    string // may contain colours, but no sequence that moves the cursor
	Columns int    // number of columns of Text
}

// Block draws lines at the bottom of a terminal, below other output. The cursor is always at the beginning of the line
// below the block. Therefore, if the process dies, the block stays visible, and the shell's prompt appears below it.
// Every change is a single write.
type Block struct {
	mu     sync.Mutex
	out    io.Writer
	size   func() (columns, rows int)
	frame  func(columns int) []Line
	shown  []Line
	hidden bool
}

// New returns a block that is not drawn yet. `size` returns the terminal's current size, or 0 columns if the block
// cannot be drawn there. Then everything written to the block goes to `out`, and the drawn block is not updated.
// `frame` returns the lines to draw, none of them wider than `columns`. The block is locked while frame runs, so frame
// must not write to the block.
func New(out io.Writer, size func() (columns, rows int), frame func(columns int) []Line) *Block {
	return &Block{out: out, size: size, frame: frame}
}

// Draw draws the current lines. If they have not changed, it writes nothing.
func (b *Block) Draw() {
	b.mu.Lock()
	defer b.mu.Unlock()
	_ = b.draw(nil)
}

// Write writes whole lines above the block. Text that does not end in a newline, such as a bell, goes to the terminal
// unchanged.
func (b *Block) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !bytes.HasSuffix(p, []byte("\n")) {
		return b.out.Write(p)
	}
	return len(p), b.draw(p)
}

// Hide removes the block from the screen until Show is called. Meanwhile everything written goes to the terminal
// unchanged.
func (b *Block) Hide() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.hidden = true
	_ = b.draw(nil)
}

// Show draws the block at the cursor, below any other output.
func (b *Block) Show() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.hidden, b.shown = false, nil
	_ = b.draw(nil)
}

// With these sequences (DEC private mode 2026) a terminal displays a change at once and not step by step. Terminals
// that do not know the mode ignore them.
const (
	beginUpdate = "\x1b[?2026h"
	endUpdate   = "\x1b[?2026l"
)

// draw writes `above`, which scrolls away, and the block below it.
func (b *Block) draw(above []byte) error {
	columns, rows := b.size()
	if columns == 0 {
		b.shown = nil // output of other processes may follow the drawn block
	}
	var lines []Line
	if !b.hidden && columns > 0 && rows > 1 {
		lines = b.frame(columns)
		lines = lines[:min(len(lines), rows-1)]
	}
	if len(above) == 0 && slices.Equal(lines, b.shown) {
		return nil
	}
	if len(lines) == 0 && len(b.shown) == 0 {
		_, err := b.out.Write(above)
		return err
	}
	var s strings.Builder
	s.WriteString(beginUpdate)
	if n := height(b.shown, columns); n > 0 { // skipped for 0, because the terminal would move by one line
		s.WriteString(fmt.Sprintf("\x1b[%dA", n))
	}
	s.WriteString("\r\x1b[J")
	s.Write(above)
	for _, line := range lines {
		s.WriteString(line.Text + "\n")
	}
	s.WriteString(endUpdate)
	b.shown = lines
	_, err := io.WriteString(b.out, s.String())
	return err
}

// height returns the number of rows that lines occupy now if they were drawn when the terminal was wider. Nearly all
// terminals wrap lines that are too wide when the terminal becomes narrower.
func height(lines []Line, columns int) int {
	n := len(lines)
	for _, line := range lines {
		if line.Columns > columns {
			n += (line.Columns - 1) / columns
		}
	}
	return n
}
