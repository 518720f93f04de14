package page

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
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
	now     func() time.Time
	base    context.Context // the life of the server
	streams atomic.Int32

	mu      sync.Mutex
	readers map[*reader]bool
	looking bool
}

// reader is an open page.
type reader struct {
	wake    chan struct{}   // has an element while there are changes
	changed map[string]bool // what the page was not told yet, as "repository/session"
}

// join adds a page. The first one starts the looks, the last one ends them.
func (l *live) join() *reader {
	l.mu.Lock()
	defer l.mu.Unlock()
	r := &reader{make(chan struct{}, 1), map[string]bool{}}
	if l.readers == nil {
		l.readers = map[*reader]bool{}
	}
	if l.readers[r] = true; !l.looking {
		l.looking = true
		go l.look()
	}
	return r
}

func (l *live) leave(r *reader) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.readers, r)
}

// take returns what a page was not told yet.
func (l *live) take(r *reader) []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	changed := slices.Sorted(maps.Keys(r.changed))
	clear(r.changed)
	return changed
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
	for r := range l.readers {
		for _, name := range changed {
			r.changed[name] = true
		}
		if len(r.changed) > 0 {
			select {
			case r.wake <- struct{}{}:
			default: // the page has not read the last changes yet
			}
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
	page := l.join()
	defer l.leave(page)
	for {
		if control.Flush() != nil {
			return
		}
		select {
		case <-r.Context().Done():
			return
		case <-page.wake:
			data, _ := json.Marshal(l.take(page))
			fmt.Fprintf(w, "data: %s\n\n", data)
		case <-time.After(silence):
			fmt.Fprint(w, "event: alive\ndata:\n\n")
		}
	}
}
