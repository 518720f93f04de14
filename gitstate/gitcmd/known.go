package gitcmd

import (
	"context"
	"strings"
	"sync"
)

// maxKnown is the size, in bytes, up to which answers about objects are cached.
const maxKnown = 8 << 20

// known caches answers about objects, which never change.
type known struct {
	mu      sync.Mutex
	answers map[string][]byte
	size    int
}

// AskOfObjects does the same as Ask, and caches the answer. So the answer must depend on nothing but the arguments, and
// objects that they name by their ids. Callers must not change the answer.
func (r *Git) AskOfObjects(ctx context.Context, args ...string) ([]byte, error) {
	key := strings.Join(args, "\x00")
	r.known.mu.Lock()
	out, is := r.known.answers[key]
	r.known.mu.Unlock()
	if is && ctx.Err() == nil {
		return out, nil
	}
	out, err := r.Ask(ctx, args...)
	if err != nil {
		return out, err
	}
	r.known.mu.Lock()
	defer r.known.mu.Unlock()
	if r.known.size += len(key) + len(out); r.known.answers == nil || r.known.size > maxKnown {
		r.known.answers, r.known.size = map[string][]byte{}, len(key)+len(out)
	}
	r.known.answers[key] = out
	return out, nil
}
