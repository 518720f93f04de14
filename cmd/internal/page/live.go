package page

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// lookEvery is the time between two looks at the files of sessions, while somebody has the page open.
	lookEvery = 300 * time.Millisecond
	// maxStreams limits how many pages can be open at once.
	maxStreams = 50
	// silence is how long a stream may stay without a line, so that each side notices when the other is gone. page.js
	// waits a little longer.
	silence = 5 * time.Second
)

// live tells open pages what has changed. While none is open it does nothing.
type live struct {
	changes func() []string
	streams atomic.Int32
	base    context.Context

	now     func() time.Time
	mu      sync.Mutex
	readers map[chan []string]bool
	looking bool
}

// background is the life of the server.
func (l *live) background() context.Context { return l.base }

// join returns a channel with the changes from now on. The first reader starts the looks, the last one ends them.
func (l *live) join() chan []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	c := make(chan []string, 16)
	if l.readers == nil {
		l.readers = map[chan []string]bool{}
	}
	if l.readers[c] = true; !l.looking {
		l.looking = true
		go l.look()
	}
	return c
}

func (l *live) leave(c chan []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.readers, c)
}

// look tells all readers what changes, until there is no reader. It rests much longer than a look takes.
func (l *live) look() {
	l.changes() // what changed while nobody looked is on the page already
	rest := lookEvery
	for {
		select {
		case <-l.base.Done():
			return
		case <-time.After(rest):
		}
		began := l.now()
		changed := l.changes()
		rest = max(lookEvery, 20*l.now().Sub(began))
		if !l.tell(changed) {
			return
		}
	}
}

// tell passes changes to all readers. It returns false if there is none any more.
func (l *live) tell(changed []string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.looking = len(l.readers) > 0
	for c := range l.readers {
		if len(changed) == 0 {
			break
		}
		select {
		case c <- changed:
		default: // the page reads too slowly; the next change will reach it
		}
	}
	return l.looking
}

// serve is the stream of server-sent events: each has a JSON list of "repository/session".
func (l *live) serve(w http.ResponseWriter, r *http.Request) {
	defer l.streams.Add(-1)
	if l.streams.Add(1) > maxStreams {
		http.Error(w, "too many open pages", http.StatusServiceUnavailable)
		return
	}
	control := http.NewResponseController(w)
	_ = control.SetReadDeadline(time.Time{})
	w.Header().Set("Content-Type", "text/event-stream")
	fmt.Fprint(w, ": open\n\n")
	c := l.join()
	defer l.leave(c)
	for {
		if control.Flush() != nil {
			return
		}
		select {
		case <-r.Context().Done():
			return
		case changed := <-c:
			data, _ := json.Marshal(changed)
			fmt.Fprintf(w, "data: %s\n\n", data)
		case <-time.After(silence):
			fmt.Fprint(w, "event: alive\ndata:\n\n")
		}
	}
}
