// Package live shows the progress of a run, or of another long command, in a block of the terminal that is updated in
// place.
package live

import (
	"os"
	"sync"
	"time"

	"golang.org/x/term"

	"github.com/wfs-dev/wfs/cmd/internal/present"
	"github.com/wfs-dev/wfs/internal/screen"
)

// View is a block at the bottom of the terminal that is updated in place. Lines that are printed meanwhile scroll away
// above it. A nil View shows nothing.
type View struct {
	End func() // removes the view

	block *screen.Block
	soon  chan struct{} // signals that the data has changed
	mu    sync.Mutex
}

// drawEvery is how often a view is redrawn so that its clocks advance. drawAtMost is the shortest time between two
// redraws, for when the data changes fast.
const (
	drawEvery  = time.Second
	drawAtMost = 100 * time.Millisecond
)

// Show opens a view and returns it. It returns nil if standard error is not a suitable terminal. Until the caller calls
// End, everything that s prints appears above the view. `lines` renders the view for a terminal of so many columns.
func Show(s *present.Screen, lines func(columns int) []present.Styled) *View {
	tty, ok := s.Stderr.(*os.File)
	if !ok || s.JSON || !s.StderrTTY || !present.Draws(s.Getenv) {
		return nil
	}
	size := func() (columns, rows int) {
		if screen.Foreground(tty) {
			columns, rows, _ = term.GetSize(int(tty.Fd())) // both are 0 if the size is unknown
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
	muted := &screen.Mode{Set: screen.Mute} // typed characters would disturb the view
	if in, ok := s.Stdin.(*os.File); ok && s.StdinTTY {
		muted.File = in
	}
	leave, back := func() { v.block.Hide(); muted.Off() }, func() { muted.On(); v.block.Show() }
	muted.On()
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

// draw redraws the view when its data changes, and every second, until `done` is closed.
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

// change calls f, which updates the data of a view, under the view's lock. It then requests a redraw.
func (v *View) change(f func()) {
	if v == nil {
		return
	}
	v.mu.Lock()
	f()
	v.mu.Unlock()
	select {
	case v.soon <- struct{}{}:
	default: // a redraw is already pending
	}
}
