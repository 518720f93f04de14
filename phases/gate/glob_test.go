package gate

import (
	"strings"
	"testing"
)

func TestMatchGlob(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		pattern, path string
		want          bool
	}{
		{"*_test.go", "a/b/c_test.go", true},
		{"/*_test.go", "a/c_test.go", false},
		{"/*_test.go", "c_test.go", true},
		{"docs/", "docs/a/b.md", true},
		{"docs/", "x/docs/a.md", true},
		{"docs/", "docs", false},
		{"/docs", "docs/a.md", true},
		{"a/**/z", "a/z", true},
		{"a/**/z", "a/b/c/z", true},
		{"a/**/z", "b/a/z", false},
		{"**/z", "z", true},
		{"**/z", "a/z/deep", true},
		{"a/**", "a/b", true},
		{"a/**", "a", false},
		{"**", "anything/at/all", true},
		{"a/*/c", "a/b/c", true},
		{"a/*/c", "a/b/b/c", false},
		{"src", "src", true},
		{"src", "srcs", false},
		{"", "a", false},
		{"**/**/**/**/**/**/**/**/**/**/x", strings.Repeat("a/", 200) + "y", false},
	} {
		if got := matchGlob(tc.pattern, tc.path); got != tc.want {
			t.Errorf("matchGlob(%q, %q) = %v", tc.pattern, tc.path, got)
		}
	}
	if MatchAny([]string{"*.md", "!README.md"}, "README.md") || !MatchAny([]string{"*.md", "!README.md"}, "a/b.md") {
		t.Error("negation")
	}
}
