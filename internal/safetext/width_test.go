package safetext

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestWidth(t *testing.T) {
	for s, want := range map[string]int{"": 0, "abc": 3, "größe": 5, "gro\u0308ße": 5, "日本": 4, "한국어": 6, "ok ✅": 5, "🎉": 2, "…": 1} {
		if got := Width(s); got != want {
			t.Errorf("%q takes %d columns, want %d", s, got, want)
		}
	}
}

func TestCut(t *testing.T) {
	for _, c := range []struct {
		s     string
		limit int
		want  string
	}{
		{"abc", 3, "abc"}, {"abcd", 3, "ab…"}, {"abcd", 1, "…"}, {"abcd", 0, ""}, {"abcd", -2, ""}, {"日本語", 6, "日本語"},
		{"日本語", 5, "日本…"}, {"日本語", 4, "日…"}, {"ab cd", 4, "ab…"}, {"a\u0308bc", 3, "a\u0308bc"}, {"", 0, ""},
	} {
		if got := Cut(c.s, c.limit); got != c.want {
			t.Errorf("Cut(%q, %d) = %q, want %q", c.s, c.limit, got, c.want)
		}
	}
}

func FuzzCut(f *testing.F) {
	f.Add("日本語 text", 7)
	f.Fuzz(func(t *testing.T, s string, limit int) {
		s = Strip(s)
		got := Cut(s, limit)
		if w := Width(got); w > max(limit, 0) && got != "" {
			t.Errorf("Cut(%q, %d) takes %d columns", s, limit, w)
		}
		if !utf8.ValidString(got) {
			t.Errorf("Cut(%q, %d) cuts within a character", s, limit)
		}
		if kept, ok := strings.CutSuffix(got, "…"); got != s && got != "" && (!ok || !strings.HasPrefix(s, kept)) {
			t.Errorf("Cut(%q, %d) = %q", s, limit, got)
		}
	})
}
