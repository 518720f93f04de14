package codec

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"

	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/session/cost"
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

// Documents are the files in a ledger commit that hold the session.
func Documents(s session.Session) (session.Files, error) {
	files, doc := session.Files{}, stored{Session: s}
	var errs [6]error
	doc.Lists.Checkpoints, errs[0] = split(files, "checkpoints", s.Checkpoints)
	doc.Lists.Refuted, errs[1] = split(files, "refuted", s.Refuted)
	doc.Lists.Settlements, errs[2] = split(files, "settlements", s.Settlements)
	doc.Lists.RecentUsage, errs[3] = split(files, "recent_usage", s.RecentUsage)
	doc.Checkpoints, doc.Refuted, doc.Settlements, doc.RecentUsage = nil, nil, nil, nil
	if s.Fork != nil {
		fork := *s.Fork
		doc.Lists.ForkLine, errs[4] = split(files, "fork_line", fork.Line)
		doc.Fork, fork.Line = &fork, nil
	}
	data, err := json.Marshal(doc)
	files[session.FileSession], errs[5] = append(data, '\n'), err
	return files, cmp.Or(errs[:]...)
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
	s := doc.Session
	var errs [5]error
	s.Checkpoints, errs[0] = join[session.Checkpoint](read, "checkpoints", doc.Lists.Checkpoints)
	s.Refuted, errs[1] = join[session.Refuted](read, "refuted", doc.Lists.Refuted)
	s.Settlements, errs[2] = join[session.Settlement](read, "settlements", doc.Lists.Settlements)
	s.RecentUsage, errs[3] = join[cost.QuarterUsage](read, "recent_usage", doc.Lists.RecentUsage)
	if s.Fork != nil {
		s.Fork.Line, errs[4] = join[session.Checkpoint](read, "fork_line", doc.Lists.ForkLine)
	}
	return s, cmp.Or(errs[:]...)
}

func segmentName(list string, n int) string { return fmt.Sprintf("%s-%d.json", list, n) }

// split puts the full segments of a list into files of their own. At least one entry stays.
func split[T any](files session.Files, name string, list []T) (stretch, error) {
	var s stretch
	for part := range slices.Chunk(list, segment) {
		data, err := json.Marshal(part)
		if err != nil {
			return s, err
		}
		var values []json.RawMessage
		if err := json.Unmarshal(data, &values); err != nil {
			return s, err
		}
		if s.Rest, err = columns(values); err != nil {
			return s, err
		}
		if (s.Segments+1)*segment < len(list) {
			files[segmentName(name, s.Segments)] = append(s.Rest, '\n')
			s.Segments++
		}
	}
	return s, nil
}

// join is the inverse of split.
func join[T any](read func(string) ([]byte, error), name string, s stretch) (list []T, err error) {
	parts, errs := make([][]T, s.Segments+1), make([]error, s.Segments+1)
	var wait sync.WaitGroup
	for n := range s.Segments {
		wait.Go(func() {
			data, err := read(segmentName(name, n))
			if err == nil {
				parts[n], err = listOf[T](data)
			}
			if err == nil && len(parts[n]) != segment {
				err = errors.New("it is incomplete")
			}
			if err != nil {
				errs[n] = fmt.Errorf("%s: %w", segmentName(name, n), err)
			}
		})
	}
	if s.Rest != nil {
		parts[s.Segments], errs[s.Segments] = listOf[T](s.Rest)
	}
	wait.Wait()
	return slices.Concat(parts...), cmp.Or(errs...)
}

func listOf[T any](data []byte) (list []T, err error) {
	values, err := rows(data)
	if err == nil {
		err = json.Unmarshal(slices.Concat([]byte("["), bytes.Join(values, []byte(",")), []byte("]")), &list)
	}
	return list, err
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
			for i := range list {
				list[i] = make([]byte, 0, 512)
			}
		}
		if len(values) != len(list) {
			return nil, fmt.Errorf("%q has %d values in place of %d", name, len(values), len(list))
		}
		for i, v := range values {
			if len(v) > 0 && !bytes.Equal(v, []byte("null")) {
				list[i] = append(append(strconv.AppendQuote(append(list[i], ','), name), ':'), v...)
			}
		}
	}
	for i, object := range list {
		if len(object) > 0 {
			object[0] = '{'
			list[i] = append(object, '}')
		}
	}
	return list, nil
}
