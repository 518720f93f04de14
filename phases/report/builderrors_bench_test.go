package report

import (
	"strings"
	"testing"
)

// BenchmarkBuildErrors has a flood of plain lines beside the same search without the quick look.
func BenchmarkBuildErrors(b *testing.B) {
	const line = "a line of output that a flooding gate prints, with nothing in it at all, plain"
	text := []byte(strings.Repeat(line+"\n", 1000))
	b.Run("flood", func(b *testing.B) {
		w := newBuildErrors(Place{"/top"}).stream()
		b.SetBytes(int64(len(text)))
		for b.Loop() {
			_, _ = w.Write(text)
		}
	})
	b.Run("expressions alone", func(b *testing.B) {
		b.SetBytes(int64(len(text)))
		for b.Loop() {
			for range 1000 {
				for _, form := range errorForms() {
					form.re.FindStringSubmatch(line)
				}
			}
		}
	})
}
