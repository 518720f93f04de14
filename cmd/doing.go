package cmd

import (
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/wfs-dev/wfs/internal/safetext"
)

// doing shows what a command is at, for how long, and how many tests have run: on a terminal in one line that is redrawn,
// elsewhere in a line now and then.
type doing struct {
	app   *app
	drawn bool // at a terminal that can redraw
	stop  chan struct{}

	mu    sync.Mutex
	text  string
	began time.Time
	tests int
	shown bool
	told  time.Time
}

// doingSays is how often there is a line where nothing can be redrawn.
const doingSays = 10 * time.Second

// showProgress shows what gates do until done is called.
func (a *app) showProgress() (done func()) {
	d := &doing{app: a, drawn: a.canShow(), stop: make(chan struct{})}
	w := a.Engine.Works.(*works)
	before, count := w.report, w.count
	w.report, w.count = d.say, d.counted
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		tick := time.NewTicker(time.Second)
		defer tick.Stop()
		for {
			select {
			case <-d.stop:
				return
			case <-tick.C:
				d.show()
			}
		}
	}()
	if d.drawn {
		a.doing = d
	}
	return func() {
		close(d.stop)
		<-stopped
		a.doing.clear()
		a.doing, w.report, w.count = nil, before, count
	}
}

// say takes a line of progress: one that ends in an ellipsis is what goes on from now.
func (d *doing) say(line string) {
	text, goesOn := strings.CutSuffix(line, " …")
	d.mu.Lock()
	d.text, d.began, d.tests, d.told = "", d.app.env.Now(), 0, d.app.env.Now()
	if goesOn {
		d.text = text
	}
	d.mu.Unlock()
	if !goesOn || !d.drawn {
		d.app.note("    %s", line)
		return
	}
	d.show()
}

func (d *doing) counted(tests int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.tests = tests
}

func (d *doing) show() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.text == "" || !d.drawn && d.app.env.Now().Sub(d.told) < doingSays {
		return
	}
	line := "    " + d.text
	if d.tests > 0 {
		line += fmt.Sprintf(", %d %s", d.tests, plural(d.tests, "test", "tests"))
	}
	if s := int(d.app.env.Now().Sub(d.began).Seconds()); s > 0 {
		line += fmt.Sprintf(", %d:%02d", s/60, s%60)
	}
	d.told = d.app.env.Now()
	if !d.drawn {
		d.app.note("%s …", line)
		return
	}
	if width := d.app.env.Width; width > 0 {
		line = safetext.Line(line, width-1)
	}
	d.shown = true
	fmt.Fprint(d.app.env.Stderr, "\r\x1b[K"+safetext.Strip(line))
}

// clear takes the line away, so that another one can be printed in its place.
func (d *doing) clear() {
	if d == nil {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.shown {
		fmt.Fprint(d.app.env.Stderr, "\r\x1b[K")
		d.shown = false
	}
}
