package live

import (
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/wfs-dev/wfs/cmd/internal/present"
	"github.com/wfs-dev/wfs/internal/safetext"
)

// Doing shows the current action of a command, its duration, and the number of tests that have run. If the terminal
// cannot update a line in place, Doing prints a line when an action begins, and again when it takes long.
type Doing struct {
	screen *present.Screen
	view   *View

	mu    sync.Mutex
	text  string
	began time.Time
	tests int
}

// ShowDoing shows the progress of gates. The caller ends the display with `end`.
func ShowDoing(s *present.Screen) (d *Doing, end func()) {
	d = &Doing{screen: s}
	d.view = Show(s, func(columns int) []present.Styled {
		if text := d.line(); text != "" {
			return []present.Styled{present.Join("    " + safetext.Line(text, columns-5))}
		}
		return nil
	})
	if d.view == nil {
		return d, startBeat(s, func() string { return safetext.Line(d.line(), present.ShownLine) })
	}
	return d, d.view.End
}

// Say handles a line of progress. A line that ends in " …" names the action that begins now; any other line reports a
// result.
func (d *Doing) Say(line string) {
	text, goesOn := strings.CutSuffix(line, " …")
	if !goesOn || d.view == nil {
		d.screen.Note("    %s", line)
	}
	if !goesOn {
		text = ""
	}
	d.Does(text)
}

// Does names the action that begins now, "" for none, without printing a line for it.
func (d *Doing) Does(text string) {
	d.mu.Lock()
	d.text, d.began, d.tests = text, d.screen.Clock(), 0
	d.mu.Unlock()
	d.view.change(func() {})
}

// Counted sets the number of tests that have run in the current action.
func (d *Doing) Counted(tests int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.tests = tests
}

func (d *Doing) line() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.text == "" {
		return ""
	}
	line := d.text
	if d.tests > 0 {
		line += fmt.Sprintf(", %d %s", d.tests, safetext.Word(d.tests, "test", "tests"))
	}
	if took := d.screen.Clock().Sub(d.began); took >= time.Second {
		line += ", " + present.Clock(took)
	}
	return line
}
