package report

import (
	"strings"
	"testing"
)

// BenchmarkCompilers reads a flood of plain lines.
func BenchmarkCompilers(b *testing.B) {
	text := []byte(strings.Repeat("a line of output that a flooding gate prints, with nothing in it at all, plain\n", 1000))
	c := compilers{at: Place{"/top"}}
	w := &lineFeed{to: c.line, most: maxTextLine}
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		_, _ = w.Write(text)
	}
}
