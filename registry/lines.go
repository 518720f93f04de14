package registry

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/wfs-dev/wfs/internal/durable"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/session/codec"
)

// ErrCorrupt is returned for damaged files. A journal is damaged if good lines follow a bad one: no crash leaves such a
// file, so wfs stops writing to it, and the user must decide.
var ErrCorrupt = errors.New("journal is damaged")

// journalHeader is the first line of a journal. It names this journal and the previous one ("" if unknown), so that
// Rotate can remove old journals. A journal may lack this line.
type journalHeader struct {
	V       int    `json:"v"`
	Journal string `json:"journal"` // a result of tipName
	After   string `json:"after,omitempty"`
}

func (h journalHeader) encode() []byte {
	line, err := json.Marshal(h)
	if err != nil {
		panic(err) // impossible with strings and a number
	}
	return append(line, '\n')
}

// parseHeader reads the first line of the journal called name. If the line is not a header, it returns the zero value
// and no error.
func parseHeader(line []byte, name string) (journalHeader, error) {
	var h journalHeader
	if json.Unmarshal(line, &h) != nil || h.Journal == "" {
		return journalHeader{}, nil
	}
	if h.V > FormatVersion {
		return journalHeader{}, session.ErrNewer
	}
	if h.Journal != name || !bytes.Equal(h.encode(), append(bytes.Clone(line), '\n')) {
		return journalHeader{}, codec.ErrBadLine
	}
	if h.After != "" && h.After != noTip {
		if _, err := tipName(session.Commit(h.After)); err != nil {
			return journalHeader{}, codec.ErrBadLine
		}
	}
	return h, nil
}

type journalContent struct {
	header journalHeader
	events []session.Event
	size   int64  // length of the good lines at the start, in bytes
	torn   []byte // the bytes after the good lines
}

// readJournal reads a journal's file. If it returns an error, it also returns the content before the damage.
func readJournal(path string) (journalContent, error) {
	data, err := durable.ReadFile(path, maxJournal)
	if err != nil {
		return journalContent{}, err
	}
	c, err := parseJournal(path, data)
	c.torn = data[c.size:]
	return c, err
}

func journalPath(dir, name string) string { return filepath.Join(dir, "events-"+name+".jsonl") }

// journalName returns the tip's name in the path of a journal, or "" if the path is not one that journalPath returns.
func journalName(path string) string {
	name, begins := strings.CutPrefix(filepath.Base(path), "events-")
	name, ends := strings.CutSuffix(name, ".jsonl")
	if _, err := tipName(session.Commit(name)); !begins || !ends || err != nil && name != noTip {
		return ""
	}
	return name
}

// parseJournal reads the good lines at the start of a journal. Every complete line ends in a newline: Append has not
// returned yet for a line without one. Bad lines at the end of the file are a torn tail, and no error. If a good line
// follows a bad one, or an event is out of order, the error is ErrCorrupt.
func parseJournal(path string, data []byte) (journalContent, error) {
	var c journalContent
	name := journalName(path)
	for n := 1; len(data) > 0; n++ {
		line, rest, whole := bytes.Cut(data, []byte("\n"))
		if !whole {
			return c, nil
		}
		err := c.add(line, name, n)
		switch {
		case errors.Is(err, session.ErrNewer):
			return c, fmt.Errorf("%s, line %d: %w", path, n, err)
		case errors.Is(err, errOrder), err != nil && hasGoodLine(rest):
			return c, fmt.Errorf("%w: %s, line %d: %v", ErrCorrupt, path, n, err)
		case err != nil:
			return c, nil
		}
		c.size += int64(len(line)) + 1
		data = rest
	}
	return c, nil
}

var errOrder = errors.New("out of order")

func (c *journalContent) add(line []byte, name string, n int) error {
	if n == 1 {
		h, err := parseHeader(line, name)
		if err != nil || h != (journalHeader{}) {
			c.header = h
			return err
		}
	}
	e, err := codec.DecodeLine(line)
	if err != nil {
		return err
	}
	if k := len(c.events); k > 0 && e.Seq != c.events[k-1].Seq+1 {
		return fmt.Errorf("%w: event %d follows event %d", errOrder, e.Seq, c.events[k-1].Seq)
	}
	c.events = append(c.events, e)
	return nil
}

func hasGoodLine(data []byte) bool {
	for len(data) > 0 {
		line, rest, whole := bytes.Cut(data, []byte("\n"))
		if !whole {
			return false
		}
		if _, err := codec.DecodeLine(line); err == nil || errors.Is(err, session.ErrNewer) {
			return true
		}
		data = rest
	}
	return false
}
