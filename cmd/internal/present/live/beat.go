package live

import (
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/wfs-dev/wfs/cmd/internal/present"
)

// shortestBeat and longestBeat limit how long a stream stays silent before a beat prints a line.
const (
	shortestBeat = 10 * time.Second
	longestBeat  = time.Minute
)

// beat prints a line on a stream that stays silent for long, so that people see that the command still works. Each
// further line comes after twice as long.
type beat struct {
	mu    sync.Mutex
	to    io.Writer
	clock func() time.Time
	last  time.Time
	wait  time.Duration
}

// startBeat prints what s does on standard error whenever that stays silent for long, until `end` is called. `doing`
// returns "" if there is nothing to say.
func startBeat(s *present.Screen, doing func() string) (end func()) {
	if s.JSON {
		return func() {}
	}
	b := &beat{to: s.Stderr, clock: s.Clock, last: s.Clock(), wait: shortestBeat}
	s.Stderr = b
	done := make(chan struct{})
	var beating sync.WaitGroup
	beating.Go(func() {
		tick := time.NewTicker(drawEvery)
		defer tick.Stop()
		for {
			select {
			case <-done:
				return
			case <-tick.C:
				b.tick(doing)
			}
		}
	})
	return sync.OnceFunc(func() {
		close(done)
		beating.Wait()
		s.Stderr = b.to
	})
}

// Write writes to the stream, which is not silent then.
func (b *beat) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.last, b.wait = b.clock(), shortestBeat
	return b.to.Write(p)
}

func (b *beat) tick(doing func() string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := b.clock()
	if now.Sub(b.last) < b.wait {
		return
	}
	if text := doing(); text != "" {
		fmt.Fprintf(b.to, "    still: %s\n", text)
		b.last, b.wait = now, min(2*b.wait, longestBeat)
	}
}
