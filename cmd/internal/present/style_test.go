package present

import (
	"strings"
	"testing"
)

func TestColours(t *testing.T) {
	for _, c := range []struct {
		env   string
		color When
		tty   bool
		want  bool
	}{
		{"", "auto", true, true}, {"", "auto", false, false}, {"", "never", true, false}, {"", "always", false, true},
		{"NO_COLOR=1", "auto", true, false}, {"NO_COLOR=", "auto", true, true}, {"NO_COLOR=1", "always", false, true},
		{"CLICOLOR_FORCE=1", "auto", false, true}, {"CLICOLOR_FORCE=0", "auto", false, false}, {"CLICOLOR_FORCE=1", "never", true, false},
		{"CLICOLOR_FORCE=1 NO_COLOR=1", "auto", true, false}, {"TERM=dumb", "auto", true, false}, {"CLICOLOR=0", "auto", true, false},
	} {
		env := map[string]string{}
		for _, entry := range strings.Fields(c.env) {
			name, value, _ := strings.Cut(entry, "=")
			env[name] = value
		}
		a := &Screen{Getenv: func(name string) string { return env[name] }, Color: c.color}
		if got := a.Colours(c.tty); got != c.want {
			t.Errorf("%q, --color %s, terminal %v: %v, want %v", c.env, c.color, c.tty, got, c.want)
		}
		a.JSON = true
		if a.Colours(c.tty) {
			t.Errorf("%q, --color %s: colours in JSON", c.env, c.color)
		}
	}
}

func TestOnlyOwnColours(t *testing.T) {
	green := Styled{{"ok\x1b[2J", good}, {" \x1b[5mrest", plain}}
	for _, c := range []struct {
		format, want string
		args         []any
	}{
		{"a %s b", "a \x1b[32mok\x1b[m rest b", []any{green}},
		{"%s: %s", "\x1b[32mok\x1b[m rest: x", []any{green, "\x1b[31mx"}},
		{"%s %s", "ok rest x\x00y"[:8] + "xstyledy", []any{green, "x" + mark + "y"}}, // has the mark: no colours
		{"%d%%", "7%", []any{7}},
		{"%s", "", []any{Styled(nil)}},
	} {
		if got := Render(true, c.format, c.args...); got != c.want {
			t.Errorf("%q: %q, want %q", c.format, got, c.want)
		}
		if got := Render(false, c.format, c.args...); strings.Contains(got, "\x1b") {
			t.Errorf("%q: %q has an escape sequence", c.format, got)
		}
	}
}

func TestFit(t *testing.T) {
	for _, c := range []struct {
		width int
		want  string
		line  Styled
	}{
		{0, "one two", Styled{{"one", plain}, {" two  ", plain}, {"  ", plain}}},
		{7, "one two", Styled{{"one", plain}, {" two", plain}, {"   ", plain}}},
		{6, "one t…", Styled{{"one", plain}, {" two", plain}}},
		{3, "on…", Styled{{"one", plain}, {" two", plain}}},
		{2, "o…", Styled{{"one", plain}, {" two", plain}}},
	} {
		if got := fit(c.line, c.width).String(); got != c.want {
			t.Errorf("in %d columns: %q, want %q", c.width, got, c.want)
		}
	}
}
