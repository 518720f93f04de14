package agents

import (
	"strings"
	"testing"
)

func TestText(t *testing.T) {
	t.Parallel()
	var said []string
	d, ok := New("text", Options{Emit: func(e Event) { said = append(said, e.Text) }})
	if !ok {
		t.Fatal("no text decoder")
	}
	for _, piece := range []string{"on", "e\ntwo\n", strings.Repeat("ö", MaxText), "\n\xff\n\n last "} {
		if n, err := d.Write([]byte(piece)); n != len(piece) || err != nil {
			t.Fatal(n, err)
		}
	}
	o := d.End(Exit{Code: 3})
	want := []string{"one", "two", strings.Repeat("ö", MaxText/2), "\uFFFD", "last"}
	if strings.Join(said, "|") != strings.Join(want, "|") || o.Class != Crashed || o.Last != "last" {
		t.Errorf("%q, %+v", said, o)
	}
	if _, ok := New("none", Options{}); ok {
		t.Error("a decoder of no name")
	}
}
