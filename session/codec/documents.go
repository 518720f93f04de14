package codec

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/wfs-dev/wfs/session"
)

// newer returns an ErrNewer that names the format of the file, and the newest format that this version of wfs can read.
func newer(format, known int) error {
	return fmt.Errorf("%w (format %d; this one reads up to %d)", session.ErrNewer, format, known)
}

// segment is the number of list entries in one full document. Lists that grow with a session are split into such
// documents.
const segment = 64

// stored is the content of session.json. Versions of wfs that know only format 1 must still be able to decode it, or
// they would not notice that it is newer. Therefore no field of a session may ever change its type.
type stored struct {
	session.Session       // without the lists that are stored in Lists
	Lists           lists `json:"lists"`
}

// lists has the lists of a session that grow with it, and the line of checkpoints of its fork.
type lists struct {
	Checkpoints stretch `json:"checkpoints"`
	Refuted     stretch `json:"refuted,omitzero"`
	Settlements stretch `json:"settlements,omitzero"`
	RecentUsage stretch `json:"recent_usage,omitzero"`
	ForkLine    stretch `json:"fork_line,omitzero"`
}

// stretch is a list whose first entries are in separate documents, the full segments. Full segments never change, so
// ledger commits do not grow with the list.
type stretch struct {
	Segments int             `json:"segments,omitempty"` // number of documents "<name>-<n>.json", from 0
	Rest     json.RawMessage `json:"rest,omitempty"`     // the entries after the segments, by column
}

// list connects one list of a session with its stretch in session.json.
type list struct {
	name string
	of   any // pointer to the list
	at   *stretch
}

func (d *stored) all() []list {
	s, l := &d.Session, &d.Lists
	line := new([]session.Checkpoint)
	if s.Fork != nil {
		line = &s.Fork.Line
	}
	return []list{{"checkpoints", &s.Checkpoints, &l.Checkpoints}, {"refuted", &s.Refuted, &l.Refuted},
		{"settlements", &s.Settlements, &l.Settlements}, {"recent_usage", &s.RecentUsage, &l.RecentUsage},
		{"fork_line", line, &l.ForkLine}}
}

// Documents returns the files of a ledger commit that hold session s. `kept` is the session in the documents of the
// previous ledger commit, or empty. For a segment that did not change since, the content is nil, so that the ledger
// commit keeps the previous file.
func Documents(s, kept session.Session) (session.Files, error) {
	files, doc := session.Files{}, stored{Session: s}
	if s.Fork != nil {
		fork := *s.Fork
		doc.Fork = &fork
	}
	before := (&stored{Session: kept}).all()
	for i, l := range doc.all() {
		list := reflect.ValueOf(l.of).Elem()
		var err error
		if *l.at, err = split(files, l.name, list, reflect.ValueOf(before[i].of).Elem()); err != nil {
			return nil, err
		}
		list.SetZero()
	}
	data, err := json.Marshal(doc)
	files[session.FileSession] = append(data, '\n')
	return files, err
}

// ReadSession reads a session from the documents of a ledger commit. `read` returns nil for a missing document. If an
// older version wrote the documents, the result has only the version of the format and of the fold. If a newer version
// wrote them, the error is ErrNewer.
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
		return session.Session{Version: head.Version, Folded: head.Folded}, nil
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

// closed returns the number of full segments of a list with this many entries. At least one entry stays outside of
// them.
func closed(entries int) int { return max(0, entries-1) / segment }

// split writes the full segments of a list into `files`, and returns the stretch that refers to them. A segment that is
// unchanged since `kept` becomes nil.
func split(files session.Files, name string, list, kept reflect.Value) (s stretch, err error) {
	s.Segments = closed(list.Len())
	for n := range s.Segments {
		from, to := n*segment, (n+1)*segment
		file, entries := segmentName(name, n), list.Slice(from, to).Interface()
		files[file] = nil
		if n < closed(kept.Len()) && reflect.DeepEqual(entries, kept.Slice(from, to).Interface()) {
			continue
		}
		data, err := inColumns(entries)
		if err != nil {
			return s, err
		}
		files[file] = append(data, '\n')
	}
	if list.Len() > 0 {
		s.Rest, err = inColumns(list.Slice(s.Segments*segment, list.Len()).Interface())
	}
	return s, err
}

// inColumns returns the JSON of a slice by column instead of by entry; see columns.
func inColumns(entries any) (json.RawMessage, error) {
	data, err := json.Marshal(entries)
	if err != nil {
		return nil, err
	}
	var values []json.RawMessage
	if err := json.Unmarshal(data, &values); err != nil {
		return nil, err
	}
	return columns(values)
}

// join appends the entries that split has stored to a list. `list` is a pointer to a slice.
func join(read func(string) ([]byte, error), name string, s stretch, list any) error {
	all := reflect.ValueOf(list).Elem()
	for n := range s.Segments {
		data, err := read(segmentName(name, n))
		if err == nil {
			err = addRows(all, data)
		}
		if err == nil && all.Len() != (n+1)*segment {
			err = errors.New("it is incomplete")
		}
		if err != nil {
			return fmt.Errorf("%s: %w", segmentName(name, n), err)
		}
	}
	if s.Rest == nil {
		return nil
	}
	return addRows(all, s.Rest)
}

func addRows(list reflect.Value, columns []byte) error {
	rows, err := rows(columns, list.Type())
	if err == nil {
		list.Set(reflect.AppendSlice(list, rows))
	}
	return err
}

// columns turns a list of objects into one object that has, for each field, the list of its values, with null for
// objects that lack the field. Fields that are objects are turned in the same way. Git compresses similar values best
// if they are next to each other.
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

// rows is the inverse of columns: it returns a slice of type t. It decodes each column as a whole for speed, because
// long sessions have many entries with many fields.
func rows(data []byte, t reflect.Type) (list reflect.Value, err error) {
	entry, columnar := t.Elem(), bytes.HasPrefix(data, []byte("{"))
	if columnar && entry.Kind() == reflect.Pointer {
		values, err := rows(data, reflect.SliceOf(entry.Elem()))
		list = reflect.MakeSlice(t, values.Len(), values.Len())
		for i := range values.Len() {
			if v := values.Index(i); !v.IsZero() {
				list.Index(i).Set(v.Addr())
			}
		}
		return list, err
	}
	if !columnar || entry.Kind() != reflect.Struct {
		p := reflect.New(t)
		return p.Elem(), json.Unmarshal(data, p.Interface())
	}
	list = reflect.MakeSlice(t, 0, 0)
	var columns map[string]json.RawMessage
	if err := json.Unmarshal(data, &columns); err != nil {
		return list, err
	}
	for _, field := range reflect.VisibleFields(entry) {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		column := columns[name]
		if column == nil {
			continue
		}
		values, err := rows(column, reflect.SliceOf(field.Type))
		if err != nil {
			return list, err
		}
		if list.Len() == 0 {
			list = reflect.MakeSlice(t, values.Len(), values.Len())
		}
		if values.Len() != list.Len() {
			return list, fmt.Errorf("%q has %d values in place of %d", name, values.Len(), list.Len())
		}
		for i := range values.Len() {
			list.Index(i).FieldByIndex(field.Index).Set(values.Index(i))
		}
	}
	return list, nil
}
