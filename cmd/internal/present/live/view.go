// Package live shows a run, or the work of a command, while it goes on.
package live

import (
	"os"
	"sync"
	"time"

	"golang.org/x/term"

	"github.com/wfs-dev/wfs/cmd/internal/present"
	"github.com/wfs-dev/wfs/internal/screen"
)

// View is a block at the bottom of the terminal that changes while something goes on. What is over scrolls away
// above it. No view, nil, shows nothing.
type View struct {
	End func() // takes it away

	block *screen.Block
	soon  chan struct{} // something has changed
	mu    sync.Mutex
}

// drawEvery is how often the clocks of a view move on, and drawAtMost how often it is drawn while much happens.
const (
	drawEvery  = time.Second
	drawAtMost = 100 * time.Millisecond
)

// Show puts a view up, if a person sits at a terminal that can have one. Everything that is printed goes above it until
// its end is called. lines are as wide as the terminal is.
func Show(s *present.Screen, lines func(columns int) []present.Styled) *View {
	tty, ok := s.Stderr.(*os.File)
	if accessible := s.Getenv("ACCESSIBLE"); !ok || s.JSON || !s.StderrTTY || s.Getenv("TERM") == "dumb" ||
		s.Getenv("TERM") == "" ||
		accessible != "" && accessible != "0" && accessible != "false" {
		return nil
	}
	size := func() (columns, rows int) {
		if screen.Foreground(tty) {
			columns, rows, _ = term.GetSize(int(tty.Fd())) // 0 when it does not say
		}
		return columns, rows
	}
	v := &View{soon: make(chan struct{}, 1)}
	colours := s.Colours(true)
	v.block = screen.New(tty, size, func(columns int) (frame []screen.Line) {
		v.mu.Lock()
		defer v.mu.Unlock()
		for _, line := range lines(columns) {
			frame = append(frame, screen.Line{Text: present.Render(colours, "%s", line), Columns: line.Columns()})
		}
		return frame
	})
	echo := &echo{}
	if in, ok := s.Stdin.(*os.File); ok && s.StdinTTY {
		echo.terminal = in
	}
	leave, back := func() { v.block.Hide(); echo.on() }, func() { echo.off(); v.block.Show() }
	echo.off()
	endStop := screen.OnStop(leave, back)
	out, errors := s.Stdout, s.Stderr
	s.Stderr = v.block
	if s.StdoutTTY {
		s.Stdout = v.block
	}
	done := make(chan struct{})
	var drawing sync.WaitGroup
	drawing.Go(func() { v.draw(done) })
	v.End = sync.OnceFunc(func() {
		close(done)
		drawing.Wait()
		endStop()
		leave()
		s.Stdout, s.Stderr = out, errors
	})
	s.AtExit(leave)
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

// draw keeps the view up to date.
func (v *View) draw(done <-chan struct{}) {
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
func (v *View) change(f func()) {
	if v == nil {
		return
	}
	v.mu.Lock()
	f()
	v.mu.Unlock()
	select {
	case v.soon <- struct{}{}:
	default: // it is to be drawn already
	}
}
