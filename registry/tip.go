package registry

import (
	"bytes"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"

	"github.com/wfs-dev/wfs/internal/durable"
	"github.com/wfs-dev/wfs/session"
)

// The tip file is a copy of some documents of a session's newest ledger commit. With it, wfs can read a session without
// opening the object store. The file is a cache: it names the commit, has a checksum, and can be deleted at any time.
//
// Near its beginning is the session's row for `wfs list`, so that a list need not read the rest.
const (
	tipFile = "tip"
	maxTip  = 64 << 20 // bytes
	maxRow  = 1024     // bytes from the beginning to the end of the row
)

// tipMagic is the file's first line. wfs ignores files that another version of the fold wrote.
var tipMagic = fmt.Sprintf("wfs tip 3.%d\n", session.FoldVersion)

// tipRead has the documents of the tip file that was read last.
type tipRead struct {
	id session.ID
	tipDocuments
}

type tipDocuments struct {
	Tip   session.Commit    `json:"tip"`
	Files map[string][]byte `json:"files"`
}

// KeepTip stores documents of a ledger commit, and the session's row in `wfs list` at that commit.
func (s Session) KeepTip(tip session.Commit, row map[string]any, files session.Files) error {
	dir, err := s.dir()
	if err != nil {
		return err
	}
	head, err := json.Marshal(row)
	if err != nil {
		return err
	}
	body, err := json.Marshal(tipDocuments{tip, files})
	if err != nil {
		return err
	}
	head = fmt.Appendf(nil, "%s\n%s", tip, head)
	data := fmt.Appendf(nil, "%s%s\n%s", sumOf(head), head, body)
	return durable.WriteCache(filepath.Join(dir, tipFile), append([]byte(tipMagic+sumOf(data)), data...), 0o600)
}

// Tip returns the stored documents of a ledger commit, or nil if the stored ones are invalid or of another commit. The
// caller must not change them. Tip caches its last result in memory; that is safe, because the content of a commit
// never changes.
func (s Session) Tip(tip session.Commit) session.Files {
	if read := s.clone.tip.Load(); read != nil && read.id == s.id && read.Tip == tip {
		return read.Files
	}
	if d := s.keptTip(); d.Tip == tip {
		return d.Files
	}
	return nil
}

// Row decodes the session's row at a ledger commit into `row`. It returns false if that row is not stored, or if the
// journal has events since the commit, so that the row is out of date.
func (s Session) Row(tip session.Commit, row any) bool {
	path, err := s.JournalPath(tip)
	if err != nil {
		return false
	}
	// A journal with an event is longer than the longest possible header.
	first := journalHeader{V: FormatVersion, Journal: string(tip), After: string(tip)}.encode()
	if info, err := os.Lstat(path); err != nil || info.Size() > int64(len(first)) {
		return false
	}
	data, err := durable.ReadBeginning(filepath.Join(filepath.Dir(path), tipFile), maxRow)
	lines := bytes.SplitN(data, []byte("\n"), 6) // magic, checksum of all, checksum of tip and row, tip, row, rest
	return err == nil && len(lines) == 6 && string(lines[0])+"\n" == tipMagic && string(lines[3]) == string(tip) &&
		sumOf(bytes.Join(lines[3:5], []byte("\n"))) == string(lines[2])+"\n" && json.Unmarshal(lines[4], row) == nil
}

// LastTip returns the ledger commit whose documents are stored, or "" if there are no valid ones.
func (s Session) LastTip() session.Commit { return s.keptTip().Tip }

func (s Session) keptTip() (d tipDocuments) {
	dir, err := s.dir()
	if err != nil {
		return d
	}
	data, err := durable.ReadFile(filepath.Join(dir, tipFile), maxTip)
	if err != nil {
		return d
	}
	data, ok := bytes.CutPrefix(data, []byte(tipMagic))
	lines := bytes.SplitN(data, []byte("\n"), 5) // checksum of all, checksum of tip and row, tip, row, documents
	if !ok || len(lines) < 5 || sumOf(data[min(9, len(data)):]) != string(lines[0])+"\n" ||
		json.Unmarshal(lines[4], &d) != nil {
		return tipDocuments{}
	}
	s.clone.tip.Store(&tipRead{id: s.id, tipDocuments: d})
	return d
}

func sumOf(b []byte) string {
	return fmt.Sprintf("%08x\n", crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)))
}
