package session

import (
	"errors"
	"maps"
	"reflect"
	"slices"
	"sync"
	"time"
)

// FormatVersion is the version of the event format; every event has it. If a file has an event with a larger version, a
// newer wfs wrote it: this wfs then refuses the whole file, and never writes to it.
const FormatVersion = 1

// Kind is the type of an event.
type Kind string

// Body is the payload of an event: plain data, one type per Kind.
type Body interface{ isBody() }

// body is embedded in every type that is the payload of an event.
type body struct{}

func (body) isBody() {}

// kinds maps the type of each body to the kind of its events.
var kinds = sync.OnceValue(func() map[reflect.Type]Kind {
	all := map[reflect.Type]Kind{}
	for kind, b := range bodies {
		all[reflect.TypeOf(b)] = kind
	}
	return all
})

// Empty returns an empty body of this kind. It returns false for an unknown kind, which only a newer wfs writes.
func (k Kind) Empty() (Body, bool) {
	b, ok := bodies[k]
	return b, ok
}

// Kinds returns all kinds of events, sorted.
func Kinds() []Kind { return slices.Sorted(maps.Keys(bodies)) }

// Event is one fact about a session. Events are ordered by Seq, never by At.
type Event struct {
	Seq  int64
	At   time.Time // UTC
	Body Body
}

// Kind returns the body's kind.
func (e Event) Kind() Kind { return kinds()[reflect.TypeOf(e.Body)] }

// ErrNewer is returned for lines and files that a newer version of wfs wrote.
var ErrNewer = errors.New("written by a newer version of wfs")
