// Package screen updates a few lines at the bottom of a terminal, while other lines scroll away above them.
package screen

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
)

// Line is one line of a block.
type Line struct {
	Text    string // may hold colours, but nothing that moves the cursor
	Columns int    // its width
}

// Block is a block of lines at the bottom. The cursor always stays at the beginning of the line below the block, so if
// the process dies, its text remains and the prompt appears under it. Every change is a single write.
type Block struct {
	mu     sync.Mutex
	out    io.Writer
	size   func() (columns, rows int)
	frame  func(columns int) []Line
	shown  []Line
	hidden bool
}

// New returns a block that shows nothing yet. size returns the current size of the terminal, or 0 columns if it cannot
// be drawn on; then all writes pass through, and the block stays as it is. frame returns the lines, none wider than
// columns. It runs while the block is locked, so it must not write to the block.
func New(out io.Writer, size func() (columns, rows int), frame func(columns int) []Line) *Block {
	return &Block{out: out, size: size, frame: frame}
}

// Draw updates the block. It writes nothing if nothing has changed.
func (b *Block) Draw() {
	b.mu.Lock()
	defer b.mu.Unlock()
	_ = b.draw(nil)
}

// Write inserts whole lines above the block. Text without a final newline, such as a bell, passes through unchanged.
func (b *Block) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !bytes.HasSuffix(p, []byte("\n")) {
		return b.out.Write(p)
	}
	return len(p), b.draw(p)
}

// Hide removes the block until Show. Writes in the meantime pass through.
func (b *Block) Hide() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.hidden = true
	_ = b.draw(nil)
}

// Show draws the block again at the cursor. The text on the screen stays.
func (b *Block) Show() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.hidden, b.shown = false, nil
	_ = b.draw(nil)
}

// These make a terminal show a whole change at once (DEC private mode 2026). Terminals without that mode ignore them.
const (
	beginUpdate = "\x1b[?2026h"
	endUpdate   = "\x1b[?2026l"
)

// draw writes lines that scroll away, and the block below them.
func (b *Block) draw(above []byte) error {
	columns, rows := b.size()
	if columns == 0 {
		b.shown = nil // another process has written to the terminal since
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
	if n := height(b.shown, columns); n > 0 { // at 0 the sequence would move by one
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

// height returns the number of rows of lines that were drawn when the terminal was wider. Nearly all terminals wrap
// lines again when they become narrower.
func height(lines []Line, columns int) int {
	n := len(lines)
	for _, line := range lines {
		if line.Columns > columns {
			n += (line.Columns - 1) / columns
		}
	}
	return n
}
