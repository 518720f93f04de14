package cmd

import (
	"os"
	"sync"
	"time"

	"golang.org/x/term"

	"github.com/wfs-dev/wfs/internal/agents"
	"github.com/wfs-dev/wfs/internal/screen"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
)

// view is the block at the bottom of the terminal while a run goes on: where it stands, what is done now, what it costs.
// What is over scrolls away above it.
type view struct {
	block *screen.Block
	now   func() time.Time
	color bool
	hint  string // what a person may do

	soon chan struct{} // something has changed
	end  func()

	mu    sync.Mutex
	shown viewing
}

// drawEvery is how often the clocks of a view move on, and drawAtMost how often it is drawn while much happens.
const (
	drawEvery  = time.Second
	drawAtMost = 100 * time.Millisecond
)

// showView puts a view up, if a person sits at a terminal that can have one. Everything that is printed goes above it until
// its end is called. nil is no view.
func (a *app) showView(hint string) *view {
	if !a.canShow() {
		return nil
	}
	tty := a.env.Stderr.(*os.File)
	size := func() (columns, rows int) {
		if !screen.Foreground(tty) {
			return 0, 0
		}
		columns, rows, err := term.GetSize(int(tty.Fd()))
		if err != nil {
			return 0, 0
		}
		return columns, rows
	}
	v := &view{now: a.env.Now, color: a.colours(true), hint: hint, soon: make(chan struct{}, 1)}
	v.shown.began = v.now()
	v.block = screen.New(tty, size, v.frame)
	echo := &echo{}
	if in, ok := a.env.Stdin.(*os.File); ok && a.env.StdinTTY {
		echo.terminal = in
	}
	echo.off()
	endStop := screen.OnStop(func() { v.block.Hide(); echo.on() }, func() { echo.off(); v.block.Show() })
	out, errors := a.env.Stdout, a.env.Stderr
	a.env.Stderr = v.block
	if a.env.StdoutTTY {
		a.env.Stdout = v.block
	}
	done := make(chan struct{})
	var drawing sync.WaitGroup
	drawing.Go(func() { v.draw(done) })
	var once sync.Once
	v.end = func() {
		once.Do(func() {
			close(done)
			drawing.Wait()
			endStop()
			v.block.Hide()
			echo.on()
			a.env.Stdout, a.env.Stderr = out, errors
		})
	}
	a.signals.atExit(func() { v.block.Hide(); echo.on() })
	return v
}

// echo is whether a terminal shows what is typed.
type echo struct {
	terminal *os.File // nil: nobody types
	mu       sync.Mutex
	restore  func()
}

func (e *echo) on() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.restore != nil {
		e.restore()
		e.restore = nil
	}
}

func (e *echo) off() {
	e.on() // what is restored one day must not be the silence
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.terminal != nil {
		e.restore = screen.Mute(e.terminal)
	}
}

// canShow reports whether a terminal is there whose cursor can be moved, and a person who wants it.
func (a *app) canShow() bool {
	_, file := a.env.Stderr.(*os.File)
	return file && !a.json && a.env.StderrTTY && a.env.Get("TERM") != "dumb" && a.env.Get("TERM") != "" && !truthy(a.env.Get("ACCESSIBLE"))
}

func truthy(s string) bool { return s != "" && s != "0" && s != "false" }

// draw keeps the view up to date.
func (v *view) draw(done <-chan struct{}) {
	tick := time.NewTicker(drawEvery)
	defer tick.Stop()
	for {
		select {
		case <-done:
			return
		case <-tick.C:
		case <-v.soon:
		}
		v.block.Draw()
		select {
		case <-done:
			return
		case <-time.After(drawAtMost):
		}
	}
}

// change changes what is shown.
func (v *view) change(f func(s *viewing)) {
	if v == nil {
		return
	}
	v.mu.Lock()
	f(&v.shown)
	v.mu.Unlock()
	select {
	case v.soon <- struct{}{}:
	default: // it is to be drawn already
	}
}

func (v *view) frame(columns int) []screen.Line {
	v.mu.Lock()
	defer v.mu.Unlock()
	var lines []screen.Line
	for _, line := range v.shown.lines(v.now(), v.hint, columns) {
		lines = append(lines, screen.Line{Text: render(v.color, "%s", []any{line}), Columns: line.columns()})
	}
	return lines
}

// stands tells the view where a session stands, and what it runs: whose agent works, and where the breaker stops it.
func (v *view) stands(now *session.Session, p *workflows.Plan) {
	v.change(func(s *viewing) {
		s.plan = p
		s.stands(now)
	})
}

func (v *view) event(e session.Event, now *session.Session) {
	v.change(func(s *viewing) { s.event(e, now, v.now()) })
}

func (v *view) agent(e agents.Event) {
	v.change(func(s *viewing) { s.agent(e, v.now()) })
}

// doing says what the engine itself does now.
func (v *view) doing(text string) {
	v.change(func(s *viewing) { s.does(text, v.now()) })
}
