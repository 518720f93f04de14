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
func (c *Clone) KeepTip(id session.ID, tip session.Commit, files session.Files) error {
	dir, err := c.sessionDir(id)
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
// caller leaves them as they are.
func (c *Clone) Tip(id session.ID, tip session.Commit) session.Files {
	if read := c.tip.Load(); read != nil && read.id == id && read.Tip == tip { // what a commit holds does not change
		return read.Files
	}
	if d := c.keptTip(id); d.Tip == tip {
		return d.Files
	}
	return nil
}

// LastTip returns the ledger commit that documents were stored for last, "" when that is not known.
func (c *Clone) LastTip(id session.ID) session.Commit { return c.keptTip(id).Tip }

func (c *Clone) keptTip(id session.ID) (d tipDocuments) {
	dir, err := c.sessionDir(id)
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
	c.tip.Store(&tipRead{id: id, tipDocuments: d})
	return d
}

func sumOf(b []byte) string {
	return fmt.Sprintf("%08x\n", crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)))
}
