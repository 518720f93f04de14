package codec

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/wfs-dev/wfs/session"
)

// newer is ErrNewer with the format that was found, and the newest one that can be read.
func newer(format, known int) error {
	return fmt.Errorf("%w (format %d; this one reads up to %d)", session.ErrNewer, format, known)
}

// segment is how many entries of a list that grows with its session go into a document of their own.
const segment = 64

// stored is session.json. Builds that know version 1 only have to be able to read it, or they would not see that it is
// newer: no field of a session may get another type.
type stored struct {
	session.Session       // without the lists that follow
	Lists           lists `json:"lists"`
}

// lists are those that grow with a session, and its fork's line.
type lists struct {
	Checkpoints stretch `json:"checkpoints"`
	Refuted     stretch `json:"refuted,omitzero"`
	Settlements stretch `json:"settlements,omitzero"`
	RecentUsage stretch `json:"recent_usage,omitzero"`
	ForkLine    stretch `json:"fork_line,omitzero"`
}

// stretch is a list of which the first entries are in documents of their own. What a ledger commit adds does not grow
// with the list: full segments stay as they are.
type stretch struct {
	Segments int             `json:"segments,omitempty"` // documents "<name>-<n>.json", from 0
	Rest     json.RawMessage `json:"rest,omitempty"`     // the entries that follow, in columns
}

// list is one of those lists, in a session and in its document.
type list struct {
	name string
	of   any // pointer to it
	at   *stretch
}

func (d *stored) all() []list {
	s, l := &d.Session, &d.Lists
	all := []list{{"checkpoints", &s.Checkpoints, &l.Checkpoints}, {"refuted", &s.Refuted, &l.Refuted},
		{"settlements", &s.Settlements, &l.Settlements}, {"recent_usage", &s.RecentUsage, &l.RecentUsage}}
	if s.Fork != nil {
		all = append(all, list{"fork_line", &s.Fork.Line, &l.ForkLine})
	}
	return all
}

// Documents are the files in a ledger commit that hold the session.
func Documents(s session.Session) (session.Files, error) {
	files, doc := session.Files{}, stored{Session: s}
	if s.Fork != nil {
		fork := *s.Fork
		doc.Fork = &fork
	}
	for _, l := range doc.all() {
		var err error
		if *l.at, err = split(files, l.name, l.of); err == nil {
			err = json.Unmarshal([]byte("null"), l.of)
		}
		if err != nil {
			return nil, err
		}
	}
	data, err := json.Marshal(doc)
	files[session.FileSession] = append(data, '\n')
	return files, err
}

// ReadSession reads a session from the documents of a ledger commit. read returns nil for a document that is not there.
// The session is not up to date when they are those of an older version.
func ReadSession(read func(name string) ([]byte, error)) (session.Session, error) {
	data, err := read(session.FileSession)
	if err != nil {
		return session.Session{}, err
	}
	var head struct{ Version, Folded int }
	err = json.Unmarshal(data, &head)
	switch {
	case err == nil && head.Version > session.SessionVersion:
		return session.Session{}, newer(head.Version, session.SessionVersion)
	case err == nil && (head.Version != session.SessionVersion || head.Folded != session.FoldVersion):
		return session.Session{}, nil
	}
	var doc stored
	if err := json.Unmarshal(data, &doc); err != nil {
		return session.Session{}, fmt.Errorf("%s: %w", session.FileSession, err)
	}
	for _, l := range doc.all() {
		if err := join(read, l.name, *l.at, l.of); err != nil {
			return session.Session{}, err
		}
	}
	return doc.Session, nil
}

func segmentName(list string, n int) string { return fmt.Sprintf("%s-%d.json", list, n) }

// split puts the full segments of a list into files of their own. At least one entry stays.
func split(files session.Files, name string, list any) (s stretch, err error) {
	data, err := json.Marshal(list)
	if err != nil {
		return s, err
	}
	var values []json.RawMessage
	if err := json.Unmarshal(data, &values); err != nil {
		return s, err
	}
	for part := range slices.Chunk(values, segment) {
		if s.Rest, err = columns(part); err != nil {
			return s, err
		}
		if (s.Segments+1)*segment < len(values) {
			files[segmentName(name, s.Segments)] = append(s.Rest, '\n')
			s.Segments++
		}
	}
	return s, nil
}

// join is the inverse of split.
func join(read func(string) ([]byte, error), name string, s stretch, list any) error {
	var all [][]byte
	for n := range s.Segments {
		var part [][]byte
		data, err := read(segmentName(name, n))
		if err == nil {
			part, err = rows(data)
		}
		if all = append(all, part...); err == nil && len(all) != (n+1)*segment {
			err = errors.New("it is incomplete")
		}
		if err != nil {
			return fmt.Errorf("%s: %w", segmentName(name, n), err)
		}
	}
	if s.Rest != nil {
		part, err := rows(s.Rest)
		if err != nil {
			return err
		}
		all = append(all, part...)
	}
	return json.Unmarshal(slices.Concat([]byte("["), bytes.Join(all, []byte(",")), []byte("]")), list)
}

// columns turns objects into one object with a list of values for each field, null where an object lacks the field, and
// does the same with fields that are objects. Git compresses similar values best when they are next to each other.
func columns(values []json.RawMessage) (json.RawMessage, error) {
	lists := map[string][]json.RawMessage{}
	for i, v := range values {
		if v == nil {
			continue
		}
		var object map[string]json.RawMessage
		if v[0] != '{' {
			return json.Marshal(values)
		}
		if err := json.Unmarshal(v, &object); err != nil {
			return nil, err
		}
		for name, value := range object {
			if lists[name] == nil {
				lists[name] = make([]json.RawMessage, len(values))
			}
			lists[name][i] = value
		}
	}
	fields := map[string]json.RawMessage{}
	for name, list := range lists {
		var err error
		if fields[name], err = columns(list); err != nil {
			return nil, err
		}
	}
	return json.Marshal(fields)
}

// addColumn adds a field to objects, each of which begins with a comma as long as it is not complete.
func addColumn(list [][]byte, name string, values [][]byte) {
	for i, v := range values {
		if len(v) == 0 || bytes.Equal(v, []byte("null")) {
			continue
		}
		if list[i] == nil {
			list[i] = make([]byte, 0, 512)
		}
		list[i] = append(append(strconv.AppendQuote(append(list[i], ','), name), ':'), v...)
	}
}

// rows is the inverse of columns.
func rows(data []byte) ([][]byte, error) {
	if bytes.HasPrefix(data, []byte("[")) {
		var values []json.RawMessage
		err := json.Unmarshal(data, &values)
		list := make([][]byte, len(values))
		for i, v := range values {
			list[i] = v
		}
		return list, err
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(data, &fields); err != nil {
		return nil, err
	}
	var list [][]byte
	for name, column := range fields {
		values, err := rows(column)
		if err != nil {
			return nil, err
		}
		if list == nil {
			list = make([][]byte, len(values))
		}
		if len(values) != len(list) {
			return nil, fmt.Errorf("%q has %d values in place of %d", name, len(values), len(list))
		}
		addColumn(list, name, values)
	}
	for i, object := range list {
		if len(object) > 0 {
			object[0] = '{'
			list[i] = append(object, '}')
		}
	}
	return list, nil
}
