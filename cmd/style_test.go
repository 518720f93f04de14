package cmd

import (
	"strings"
	"testing"

	"github.com/wfs-dev/wfs/workspace"
)

func TestColours(t *testing.T) {
	for _, c := range []struct {
		env   string
		color when
		tty   bool
		want  bool
	}{
		{"", "auto", true, true}, {"", "auto", false, false}, {"", "never", true, false}, {"", "always", false, true},
		{"NO_COLOR=1", "auto", true, false}, {"NO_COLOR=", "auto", true, true}, {"NO_COLOR=1", "always", false, true},
		{"CLICOLOR_FORCE=1", "auto", false, true}, {"CLICOLOR_FORCE=0", "auto", false, false}, {"CLICOLOR_FORCE=1", "never", true, false},
		{"CLICOLOR_FORCE=1 NO_COLOR=1", "auto", true, false}, {"TERM=dumb", "auto", true, false}, {"CLICOLOR=0", "auto", true, false},
	} {
		a := &app{env: Env{Env: workspace.Env{Environ: strings.Fields(c.env)}}, color: c.color}
		if got := a.colours(c.tty); got != c.want {
			t.Errorf("%q, --color %s, terminal %v: %v, want %v", c.env, c.color, c.tty, got, c.want)
		}
		a.json = true
		if a.colours(c.tty) {
			t.Errorf("%q, --color %s: colours in JSON", c.env, c.color)
		}
	}
}

func TestOnlyOwnColours(t *testing.T) {
	green := styled{{"ok\x1b[2J", good}, {" \x1b[5mrest", plain}}
	for _, c := range []struct {
		format, want string
		args         []any
	}{
		{"a %s b", "a \x1b[32mok\x1b[m rest b", []any{green}},
		{"%s: %s", "\x1b[32mok\x1b[m rest: x", []any{green, "\x1b[31mx"}},
		{"%s %s", "ok rest x\x00y"[:8] + "xstyledy", []any{green, "x" + mark + "y"}}, // the mark in somebody's text: no colours
		{"%d%%", "7%", []any{7}},
		{"%s", "", []any{styled(nil)}},
	} {
		if got := render(true, c.format, c.args); got != c.want {
			t.Errorf("%q: %q, want %q", c.format, got, c.want)
		}
		if got := render(false, c.format, c.args); strings.Contains(got, "\x1b") {
			t.Errorf("%q: %q has an escape sequence", c.format, got)
		}
	}
}

func TestFit(t *testing.T) {
	for _, c := range []struct {
		width int
		want  string
		line  styled
	}{
		{0, "one two", styled{{"one", plain}, {" two  ", plain}, {"  ", plain}}},
		{7, "one two", styled{{"one", plain}, {" two", plain}, {"   ", plain}}},
		{6, "one t…", styled{{"one", plain}, {" two", plain}}},
		{3, "on…", styled{{"one", plain}, {" two", plain}}},
		{2, "o…", styled{{"one", plain}, {" two", plain}}},
	} {
		if got := fit(c.line, c.width).String(); got != c.want {
			t.Errorf("in %d columns: %q, want %q", c.width, got, c.want)
		}
	}
}
