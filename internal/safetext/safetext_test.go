package safetext_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/wfs-dev/wfs/internal/safetext"
)

func TestStrip(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"plain\tand\nlines":                        "plain\tand\nlines",
		"grün 日本 🙂":                                "grün 日本 🙂",
		"\x1b[31mred\x1b[0m":                       "red",
		"\x1b[?25lno cursor":                       "no cursor",
		"\x1b[38;5;196mx":                          "x",
		"\u009b31mC1":                              "C1",
		"\x1b]0;title\aafter":                      "after",
		"\x1b]52;c;ZXZpbA==\x1b\\after":            "after",
		"\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\": "link",
		"\x1bPq#0\x1b\\after":                      "after",
		"\x1b]0;not ended\nnext":                   "0;not ended\nnext",
		"\x1b]0;not ended":                         "0;not ended",
		"\x1b[31":                                  "",
		"\x1b[3\nx":                                "\nx",
		"\x1b":                                     "",
		"\x1b(Bx":                                  "x",
		"\x1bcx":                                   "x",
		"a\rb\x00c\x7fd\be\x07":                    "abcde",
		"\u0085next":                               "next",
		"user\u202etxt.exe":                        "usertxt.exe",
		"a\u2066b\u2069c\u200bd\ufeffe\u200d":      "abcde",
		"tag\U000e0041":                            "tag",
		"bad \xff\xfe bytes":                       "bad \ufffd\ufffd bytes",
		"\x1b\x1b[31mx":                            "x",
		"\x1b[31\x1b[32mx":                         "x",
		"split \xe2\x80\x1b[0m\xae join":           "split \ufffd\ufffd\ufffd join",
		"\x1b_hidden\x1b\\" + "seen\u009dtitle\u009cx": "seenx",
	} {
		if got := safetext.Strip(in); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}

// A search for the end of each sequence would take minutes.
func TestStripIsLinear(t *testing.T) {
	t.Parallel()
	if got := safetext.Strip(strings.Repeat("\x1b]", 1<<20)); got != "" {
		t.Errorf("%d bytes are left", len(got))
	}
}

func TestLine(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		in    string
		limit int
		want  string
	}{
		{"  a\n\tb \x1b[1mc  ", 0, "a b c"}, {"abcdef", 6, "abcdef"}, {"abcdefg", 6, "abcde…"}, {"ab cdefg", 4, "ab…"},
		{"ééééé", 3, "éé…"}, {"abc", 1, "…"}, {"", 3, ""},
	} {
		if got := safetext.Line(c.in, c.limit); got != c.want {
			t.Errorf("%q, %d: got %q, want %q", c.in, c.limit, got, c.want)
		}
	}
}

func FuzzStrip(f *testing.F) {
	for _, s := range []string{"x", "\x1b[31m", "\x1b]0;t\a", "\u009b1m", "\xff\u202e", "\x1b(\n", "\x1bP\x1b\\"} {
		f.Add(s, 3)
	}
	f.Fuzz(func(t *testing.T, s string, limit int) {
		got := safetext.Strip(s)
		if !utf8.ValidString(got) || safetext.Strip(got) != got {
			t.Fatalf("%q becomes %q", s, got)
		}
		if strings.ContainsFunc(got, func(r rune) bool {
			return r < ' ' && r != '\n' && r != '\t' || r >= 0x7f && r <= 0x9f || r >= 0x202a && r <= 0x202e
		}) {
			t.Fatalf("%q becomes %q", s, got)
		}
		if strings.Count(got, "\n") > strings.Count(s, "\n") {
			t.Fatalf("%q has new lines: %q", s, got)
		}
		line := safetext.Line(s, limit)
		if strings.ContainsAny(line, "\n\t") || limit > 0 && utf8.RuneCountInString(line) > limit {
			t.Fatalf("%q, %d: line %q", s, limit, line)
		}
	})
}

// TestEveryByte puts each byte at each position of a few words.
func TestEveryByte(t *testing.T) {
	t.Parallel()
	for c := range 256 {
		for at := range 20 {
			before, after := strings.Repeat("a", at), strings.Repeat(" b", 10)
			want := before + string(rune(c)) + after
			switch {
			case c >= 0x80:
				want = before + "\ufffd" + after
			case c == '\x1b':
				want = before + after[2:] // ESC and the next characters are a sequence
			case c != '\n' && c != '\t' && (c < ' ' || c == 0x7f):
				want = before + after
			}
			if got := safetext.Strip(before + string([]byte{byte(c)}) + after); got != want {
				t.Errorf("%#x at %d: %q, want %q", c, at, got, want)
			}
		}
	}
}
