// Package codec encodes events and sessions for journals and ledgers, and decodes them.
package codec

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"reflect"
	"time"

	"github.com/wfs-dev/wfs/session"
)

// ErrBadLine is returned for a line that is not a complete and unchanged event.
var ErrBadLine = errors.New("not a valid event line")

// sum returns the checksum of a line. The table is made when it is first needed, because most commands do not need it.
func sum(data []byte) uint32 { return crc32.Checksum(data, crc32.MakeTable(crc32.Castagnoli)) }

const sumTail = `,"sum":"00000000"}` // the shape of a line's end; only its length is used

type envelope struct {
	V    int             `json:"v"`
	Seq  int64           `json:"seq"`
	At   time.Time       `json:"at"`
	Kind session.Kind    `json:"kind"`
	Data json.RawMessage `json:"data"`
	Sum  string          `json:"sum,omitempty"`
}

// EncodeLine returns the event as one line without a line feed. Its last member is "sum": the CRC-32C of everything
// before it, in eight hexadecimal digits.
func EncodeLine(e session.Event) ([]byte, error) {
	data, err := json.Marshal(e.Body)
	if err != nil {
		return nil, err
	}
	line, err := json.Marshal(envelope{V: session.FormatVersion, Seq: e.Seq, At: e.At.UTC(), Kind: e.Kind(),
		Data: data})
	if err != nil {
		return nil, err
	}
	return Seal(line), nil
}

// Seal adds the checksum to a line that is a JSON object and has no checksum yet.
func Seal(object []byte) []byte {
	head := bytes.TrimSuffix(bytes.TrimRight(object, "\n"), []byte("}"))
	return fmt.Appendf(head[:len(head):len(head)], `,"sum":"%08x"}`, sum(head))
}

// DecodeLine returns the event in a line, with or without its line feed. It returns ErrBadLine if the line is damaged,
// and ErrNewer if a newer version of wfs wrote it.
func DecodeLine(line []byte) (session.Event, error) {
	line = bytes.TrimRight(line, "\n")
	if len(line) <= len(sumTail) {
		return session.Event{}, ErrBadLine
	}
	head := line[:len(line)-len(sumTail)]
	if want := fmt.Sprintf(`,"sum":"%08x"}`, sum(head)); want != string(line[len(head):]) {
		return session.Event{}, ErrBadLine
	}
	var env envelope
	if err := json.Unmarshal(line, &env); err != nil {
		return session.Event{}, fmt.Errorf("%w: %v", ErrBadLine, err)
	}
	if env.V > session.FormatVersion {
		return session.Event{}, newer(env.V, session.FormatVersion)
	}
	empty, ok := env.Kind.Empty()
	if !ok {
		return session.Event{}, fmt.Errorf("%w: event kind %q", session.ErrNewer, env.Kind)
	}
	b := reflect.New(reflect.TypeOf(empty))
	if err := json.Unmarshal(env.Data, b.Interface()); err != nil {
		return session.Event{}, fmt.Errorf("%w: %s: %v", ErrBadLine, env.Kind, err)
	}
	return session.Event{Seq: env.Seq, At: env.At, Body: b.Elem().Interface().(session.Body)}, nil
}

// EncodeLines returns the content of a file with one line for each event.
func EncodeLines(events []session.Event) ([]byte, error) {
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

// DecodeLines decodes a complete file of events, such as a ledger's events.jsonl. A damaged line is an error.
func DecodeLines(data []byte) ([]session.Event, error) {
	var events []session.Event
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
