// Package screen keeps a few lines at the bottom of a terminal up to date, while other lines scroll away above them.
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
	Text    string // may hold colours, and nothing else that moves a terminal
	Columns int    // that it takes
}

// Block is those lines. The cursor always stands at the beginning of the line below them: a process that dies
// leaves text behind, and a prompt under it. Every change is one write.
type Block struct {
	mu     sync.Mutex
	out    io.Writer
	size   func() (columns, rows int)
	frame  func(columns int) []Line
	shown  []Line
	hidden bool
}

// New returns a block that shows nothing yet. size tells how large the terminal is now, 0 for one that cannot be drawn
// on: then what is written goes out as it is, and the block is left behind. frame makes the lines, none of them longer
// than so many columns. It is called with the block locked, so it must not write to it.
func New(out io.Writer, size func() (columns, rows int), frame func(columns int) []Line) *Block {
	return &Block{out: out, size: size, frame: frame}
}

// Draw brings the block up to date. Nothing is written when nothing has changed.
func (b *Block) Draw() {
	b.mu.Lock()
	defer b.mu.Unlock()
	_ = b.draw(nil)
}

// Write lets whole lines appear above the block. What has no end of a line is passed on as it is: a bell.
func (b *Block) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !bytes.HasSuffix(p, []byte("\n")) {
		return b.out.Write(p)
	}
	return len(p), b.draw(p)
}

// Hide takes the block away. It stays away until Show; what is written meanwhile goes out as it is.
func (b *Block) Hide() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.hidden = true
	_ = b.draw(nil)
}

// Show brings the block back, at the cursor: whatever is on the screen now stays there.
func (b *Block) Show() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.hidden, b.shown = false, nil
	_ = b.draw(nil)
}

// These make a terminal show all of a change at once, where it knows them (DEC private mode 2026); others pass
// them over.
const (
	beginUpdate = "\x1b[?2026h"
	endUpdate   = "\x1b[?2026l"
)

// draw writes lines that scroll away, and the block below them.
func (b *Block) draw(above []byte) error {
	columns, rows := b.size()
	if columns == 0 {
		b.shown = nil // whoever has the terminal now has written below it
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

// height is how many rows lines take that were drawn when the terminal was wider: nearly all of them break
// lines anew when they become narrower.
func height(lines []Line, columns int) int {
	n := len(lines)
	for _, line := range lines {
		if line.Columns > columns {
			n += (line.Columns - 1) / columns
		}
	}
	return n
}
