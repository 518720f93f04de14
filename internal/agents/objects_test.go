package agents

import (
	"slices"
	"strings"
	"testing"
)

// heard collects the objects of a stream.
type heard struct {
	*run
	objects []string
}

func (h *heard) event(object []byte) { h.objects = append(h.objects, string(object)) }
func (h *heard) conclusion(Exit)     {}

// TestObjects finds the objects of a stream in any pieces. It skips incomplete and overlong lines, and keeps the last
// line that is not JSON.
func TestObjects(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", maxLine)
	for _, c := range []struct{ in, objects, prose string }{
		{`{"a":1}` + "\n" + `{"b":[1,{"c":"x"}]}` + "\n", `{"a":1} {"b":[1,{"c":"x"}]}`, ""},
		{"\ufeff{\"a\":1}\r\n{\"b\":2}\r\n", `{"a":1} {"b":2}`, ""},
		{`{"a":1}{"b":2}  {"c":3}`, `{"a":1} {"b":2} {"c":3}`, ""},
		{"npm warn x\n{\"a\":1}\n> tsc {\"no\":1}\n{\"b\":2}\nend", `{"a":1} {"b":2}`, "end"},
		{"progress 1\rprogress 2\r{\"a\":1}\n", `{"a":1}`, ""},
		{`{"a":"x` + "\n" + `{"b":2}` + "\n", `{"b":2}`, ""},
		{`{"a":{"b":1},` + "\n" + `{"b":2}` + "\n", `{"b":2}`, ""},
		{`{"a":"x","result":"it wor`, "", ""},
		{`{ not json }` + "\n" + `{"b":2}`, `{"b":2}`, ""},
		{"{\"a\":\"\\\"{}[]\\\\\"}\n", `{"a":"\"{}[]\\"}`, ""},
		{"\x00\xff\xfe{\n{\"a\":1}\n", `{"a":1}`, "\x00\uFFFD{"},
		{`{"a":"` + long + `"}` + "\n" + `{"b":2}`, `{"b":2}`, ""},
		{long + "\n" + `{"b":2}`, `{"b":2}`, long[:maxProse]},
	} {
		for _, piece := range []int{1, 3, 4096} {
			if piece == 1 && len(c.in) > maxLine {
				continue
			}
			h := &heard{run: &run{o: Options{Emit: func(Event) {}}}}
			h.agent = h
			h.Lines = Lines{Most: maxLine, Line: h.line}
			for p := range slices.Chunk([]byte(c.in), piece) {
				h.Write(p)
			}
			h.End(Exit{})
			if got := strings.Join(h.objects, " "); got != c.objects || h.prose != c.prose {
				t.Errorf("%.80q in pieces of %d: %.80q and %.80q, want %q and %.80q", c.in, piece, got, h.prose, c.objects, c.prose)
			}
		}
	}
}
