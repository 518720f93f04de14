package object

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestPackIndexOffsets reads the index of a pack of more than two gigabytes (gitformat-pack(5)).
func TestPackIndexOffsets(t *testing.T) {
	t.Parallel()
	ids := [][]byte{bytes.Repeat([]byte{1}, 20), bytes.Repeat([]byte{7}, 20), bytes.Repeat([]byte{7, 8}, 10)}
	data := []byte(packIndexMagic + "\x00\x00\x00\x02")
	for first := range 256 {
		begin := slices.IndexFunc(ids, func(id []byte) bool { return int(id[0]) > first })
		if begin < 0 {
			begin = len(ids)
		}
		data = binary.BigEndian.AppendUint32(data, uint32(begin))
	}
	data = append(append(data, bytes.Join(ids, nil)...), make([]byte, 4*len(ids))...)
	for _, at := range []uint32{12, 1<<31 | 1, 1<<31 | 9} { // the last entry of the table, and one beyond it
		data = binary.BigEndian.AppendUint32(data, at)
	}
	for _, far := range []uint64{1 << 40, 1 << 41} {
		data = binary.BigEndian.AppendUint64(data, far)
	}
	path := filepath.Join(t.TempDir(), "pack.idx")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	p := openPackIndex(path, 20)
	if p == nil {
		t.Fatal("it cannot be read")
	}
	defer p.Close()
	for i, want := range []int64{12, 1 << 41} {
		if at, ok := p.offset(ids[i]); !ok || at != want || !p.has(ids[i]) {
			t.Errorf("object %d is at %d, %v; want %d", i, at, ok, want)
		}
	}
	if at, ok := p.offset(ids[2]); ok {
		t.Errorf("an offset behind the table is %d", at)
	}
	if at, ok := p.offset(bytes.Repeat([]byte{2}, 20)); ok {
		t.Errorf("an id that is not there is at %d", at)
	}
}
