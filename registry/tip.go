package registry

import (
	"bytes"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"path/filepath"

	"github.com/wfs-dev/wfs/internal/durable"
	"github.com/wfs-dev/wfs/session"
)

// A copy of some documents of a session's newest ledger commit, so that reading a session need not open the object
// store. It is a cache: keyed by the commit's id, checked by a sum, deletable, and never missed.
const (
	tipFile  = "tip"
	maxTip   = 64 << 20 // bytes
	tipMagic = "wfs tip 1\n"
)

// tipRead is what was read last.
type tipRead struct {
	id session.ID
	tipDocuments
}

type tipDocuments struct {
	Tip   session.Commit    `json:"tip"`
	Files map[string][]byte `json:"files"`
}

// KeepTip stores documents of a ledger commit.
func (s Session) KeepTip(tip session.Commit, files session.Files) error {
	dir, err := s.dir()
	if err != nil {
		return err
	}
	body, err := json.Marshal(tipDocuments{tip, files})
	if err != nil {
		return err
	}
	var b bytes.Buffer
	b.WriteString(tipMagic)
	b.WriteString(sumOf(body))
	b.Write(body)
	return durable.WriteCache(filepath.Join(dir, tipFile), b.Bytes(), 0o600)
}

// Tip returns the documents that were stored for a ledger commit, nil when there are none that can be used. A
// caller leaves them as they are. What was read last is kept: what a commit holds does not change.
func (s Session) Tip(tip session.Commit) session.Files {
	if read := s.clone.tip.Load(); read != nil && read.id == s.id && read.Tip == tip {
		return read.Files
	}
	if d := s.keptTip(); d.Tip == tip {
		return d.Files
	}
	return nil
}

// LastTip returns the ledger commit that documents were stored for last, "" when that is not known.
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
	if !ok || len(data) < 9 || sumOf(data[9:]) != string(data[:9]) || json.Unmarshal(data[9:], &d) != nil {
		return tipDocuments{}
	}
	s.clone.tip.Store(&tipRead{id: s.id, tipDocuments: d})
	return d
}

func sumOf(b []byte) string {
	return fmt.Sprintf("%08x\n", crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)))
}
