package session

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
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

type envelope struct {
	V    int             `json:"v"`
	Seq  int64           `json:"seq"`
	At   time.Time       `json:"at"`
	Kind Kind            `json:"kind"`
	Data json.RawMessage `json:"data"`
	Sum  string          `json:"sum,omitempty"`
}

// ErrNewer is returned for lines and files that a newer version of wfs wrote.
var ErrNewer = errors.New("written by a newer version of wfs")

// newer is ErrNewer with the format that was found, and the newest one that can be read.
func newer(format, known int) error {
	return fmt.Errorf("%w (format %d; this one reads up to %d)", ErrNewer, format, known)
}

// ErrBadLine is returned for a line that is no event: torn, altered, or not ours.
var ErrBadLine = errors.New("not a valid event line")

// sum guards a line. Its table is made when it is first needed: most starts of wfs need none.
func sum(data []byte) uint32 { return crc32.Checksum(data, crc32.MakeTable(crc32.Castagnoli)) }

const sumTail = `,"sum":"00000000"}` // its length is what matters

// EncodeLine returns the event as one line without the line feed. The last member is "sum", the CRC-32C of everything
// before it in eight hexadecimal digits.
func EncodeLine(e Event) ([]byte, error) {
	data, err := json.Marshal(e.Body)
	if err != nil {
		return nil, err
	}
	line, err := json.Marshal(envelope{V: FormatVersion, Seq: e.Seq, At: e.At.UTC(), Kind: e.Kind(), Data: data})
	if err != nil {
		return nil, err
	}
	return Seal(line), nil
}

// Seal appends the checksum to a line that is a JSON object without one.
func Seal(object []byte) []byte {
	head := bytes.TrimSuffix(bytes.TrimRight(object, "\n"), []byte("}"))
	return fmt.Appendf(head[:len(head):len(head)], `,"sum":"%08x"}`, sum(head))
}

// DecodeLine is the inverse of EncodeLine, for a line with or without its line feed.
func DecodeLine(line []byte) (Event, error) {
	line = bytes.TrimRight(line, "\n")
	if len(line) <= len(sumTail) {
		return Event{}, ErrBadLine
	}
	head := line[:len(line)-len(sumTail)]
	if want := fmt.Sprintf(`,"sum":"%08x"}`, sum(head)); want != string(line[len(head):]) {
		return Event{}, ErrBadLine
	}
	var env envelope
	if err := json.Unmarshal(line, &env); err != nil {
		return Event{}, fmt.Errorf("%w: %v", ErrBadLine, err)
	}
	if env.V > FormatVersion {
		return Event{}, newer(env.V, FormatVersion)
	}
	empty, ok := env.Kind.Empty()
	if !ok {
		return Event{}, fmt.Errorf("%w: event kind %q", ErrNewer, env.Kind)
	}
	b := reflect.New(reflect.TypeOf(empty))
	if err := json.Unmarshal(env.Data, b.Interface()); err != nil {
		return Event{}, fmt.Errorf("%w: %s: %v", ErrBadLine, env.Kind, err)
	}
	return Event{Seq: env.Seq, At: env.At, Body: b.Elem().Interface().(Body)}, nil
}

// EncodeLines returns events as a file: one line each, each with its line feed.
func EncodeLines(events []Event) ([]byte, error) {
	var out []byte
	for _, e := range events {
		line, err := EncodeLine(e)
		if err != nil {
			return nil, err
		}
		out = append(append(out, line...), '\n')
	}
	return out, nil
}

// DecodeLines reads a whole file of events that must be perfect, such as a ledger's events.jsonl.
func DecodeLines(data []byte) ([]Event, error) {
	var events []Event
	for n, line := range bytes.SplitAfter(data, []byte("\n")) {
		if len(line) == 0 {
			continue
		}
		e, err := DecodeLine(line)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", n+1, err)
		}
		events = append(events, e)
	}
	return events, nil
}
