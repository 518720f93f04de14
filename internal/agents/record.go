package agents

import (
	"encoding/json"
	"time"
)

// RecordVersion is the version of the format of Record.
const RecordVersion = 1

// Record is one line of a run's log: an event and its time, as a JSON object.
type Record struct {
	V  int       `json:"v"`
	At time.Time `json:"at"` // UTC
	Event
}

// EncodeRecord returns an event as a line of the log, with its newline.
func EncodeRecord(at time.Time, e Event) []byte {
	line, err := json.Marshal(Record{RecordVersion, at.UTC(), e})
	if err != nil { // a cost that is infinite or not a number
		e.Spent.USD, e.Limited.Used = 0, 0
		line, _ = json.Marshal(Record{RecordVersion, at.UTC(), e})
	}
	return append(line, '\n')
}

// DecodeRecord decodes a line of the log. It returns false if the line is not a whole record (the middle of a long log
// is cut out, or the writer was killed), or if a newer wfs wrote it.
func DecodeRecord(line []byte) (Record, bool) {
	var r Record
	err := json.Unmarshal(line, &r)
	return r, err == nil && r.V == RecordVersion && r.Kind != ""
}
