package agents

import (
	"encoding/json"
	"time"
)

// RecordVersion is the version of Record's format.
const RecordVersion = 1

// Record is an event in a run's log: one JSON object on a line.
type Record struct {
	V  int       `json:"v"`
	At time.Time `json:"at"` // UTC
	Event
}

// EncodeRecord returns the line, including its newline.
func EncodeRecord(at time.Time, e Event) []byte {
	line, err := json.Marshal(Record{RecordVersion, at.UTC(), e})
	if err != nil { // the cost is not a finite number
		e.Spent.USD, e.Limited.Used = 0, 0
		line, _ = json.Marshal(Record{RecordVersion, at.UTC(), e})
	}
	return append(line, '\n')
}

// DecodeRecord reads a line. It returns false for a line that is not a record: a fragment, because the middle of the
// log was cut out or its writer was killed, or a record of a newer wfs.
func DecodeRecord(line []byte) (Record, bool) {
	var r Record
	err := json.Unmarshal(line, &r)
	return r, err == nil && r.V == RecordVersion && r.Kind != ""
}
