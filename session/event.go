package session

import (
	"errors"
	"maps"
	"reflect"
	"slices"
	"sync"
	"time"
)

// FormatVersion is written into every event. A larger one found in a file means that a newer wfs wrote it: it is never
// half-read, and never written to.
const FormatVersion = 1

// Kind names what happened.
type Kind string

// Body is the payload of an event: plain data, one type per Kind.
type Body interface{ isBody() }

// body makes a type the payload of an event.
type body struct{}

func (body) isBody() {}

// kinds are the kinds of bodies by their type.
var kinds = sync.OnceValue(func() map[reflect.Type]Kind {
	all := map[reflect.Type]Kind{}
	for kind, b := range bodies {
		all[reflect.TypeOf(b)] = kind
	}
	return all
})

// Empty is an empty body of this kind, false for a kind that a newer wfs has written.
func (k Kind) Empty() (Body, bool) {
	b, ok := bodies[k]
	return b, ok
}

// Kinds are all kinds of events, sorted.
func Kinds() []Kind { return slices.Sorted(maps.Keys(bodies)) }

// Event is one fact about a session. Order comes from Seq, never from At.
type Event struct {
	Seq  int64
	At   time.Time // UTC
	Body Body
}

// Kind returns the body's kind.
func (e Event) Kind() Kind { return kinds()[reflect.TypeOf(e.Body)] }

// ErrNewer is returned for lines and files that a newer version of wfs wrote.
var ErrNewer = errors.New("written by a newer version of wfs")
