package present

import "testing"

// TestWrapped breaks prose between words on a terminal, and keeps commands on one line.
func TestWrapped(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, want string }{
		{"short", "short"},
		{"  one two three four five six", "  one two three four\n      five six"},
		{"  \x1b[31mfail\x1b[0m: one two three four", "  \x1b[31mfail\x1b[0m: one two\n      three four"},
		{"a/path/that/is/longer/than/that has no end", "a/path/that/is/longer/than/that\n    has no end"},
		{"next: wfs run cart-numbers   or: wfs show", "next: wfs run cart-numbers   or: wfs show"},
		{"to leave it: wfs resume cart-numbers@3", "to leave it:\n    wfs resume cart-numbers@3"},
		{"nothing that wfs could check", "nothing that wfs\n    could check"},
		{"to remove it: (cd ../there && wfs delete it)", "to remove it:\n    (cd ../there && wfs delete it)"},
		{"\x1b[1mnext: cd ../there && wfs run it\x1b[0m", "\x1b[1mnext: cd ../there && wfs run it\x1b[0m"},
		{"error: what git ignores is in none", "error: what git\n    ignores is in\n    none"},
		{"(wfs resume cart-numbers@3, or none)", "(wfs resume cart-numbers@3, or none)"},
		{"one two three four five\nsix", "one two three four\n    five\nsix"},
	} {
		if got := wrapped(c.text, 20, 0); got != c.want {
			t.Errorf("%q: %q, want %q", c.text, got, c.want)
		}
	}
}
