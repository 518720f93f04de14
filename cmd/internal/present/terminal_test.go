package present

import (
	"strings"
	"testing"
)

func TestTerminalLetsOnlyColoursThrough(t *testing.T) {
	for in, want := range map[string]string{
		"\x1b[31m-old\x1b[m\n":              "\x1b[31m-old\x1b[m\n",
		"a\x1b]0;title\x07b\n":              "ab\n",
		"a\x1b[2Jb\x1b[1;32mc\x1b[0m\n":     "ab\x1b[1;32mc\x1b[0m\n",
		"\x1b]52;c;c2VjcmV0\x07clipboard\n": "clipboard\n",
		"cut\x1b[":                          "cut",
		"\u202egnp.exe\n":                   "gnp.exe\n",
	} {
		var out strings.Builder
		w := &Terminal{To: &out}
		for _, b := range []byte(in) { // split at every byte
			if _, err := w.Write([]byte{b}); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if out.String() != want {
			t.Errorf("%q became %q, want %q", in, out.String(), want)
		}
	}
}
