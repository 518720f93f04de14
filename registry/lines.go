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

// ErrCorrupt is returned for a journal with a bad line that good lines follow. No crash leaves that, so nothing is
// written to the file any more: a person decides.
var ErrCorrupt = errors.New("journal is damaged")

// journalHeader is the first line of a journal. It says which journal this is and which one it took over from, "" when
// that is not known; Rotate goes by it when it removes old ones. A file may lack it.
type journalHeader struct {
	V       int    `json:"v"`
	Journal string `json:"journal"` // a tipName
	After   string `json:"after,omitempty"`
}

func (h journalHeader) encode() []byte {
	line, err := json.Marshal(h)
	if err != nil {
		panic(err) // strings and a number
	}
	return append(line, '\n')
}

// parseHeader reads the first line of the journal called name. Without an error the zero value says that the line is
// no header.
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

// journalContent is what a journal's bytes say.
type journalContent struct {
	header journalHeader
	events []session.Event
	size   int64  // of the good lines at the beginning, in bytes
	torn   []byte // the bytes behind them
}

// readJournal reads a journal's file. With an error the content is the one before the damage.
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

// journalName is the inverse of journalPath, "" for a path that is none.
func journalName(path string) string {
	name, begins := strings.CutPrefix(filepath.Base(path), "events-")
	name, ends := strings.CutSuffix(name, ".jsonl")
	if _, err := tipName(session.Commit(name)); !begins || !ends || err != nil && name != noTip {
		return ""
	}
	return name
}

// parseJournal reads the good lines at the beginning of a journal. Every line ends in a line feed; one that does not
// was never acknowledged. A bad line, or several, with nothing good behind it is a torn tail and no error.
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
