package registry

import (
	"bytes"
	"errors"
	"hash/crc32"
	"os"
	"path/filepath"
	"testing"

	"github.com/wfs-dev/wfs/session"
)

func crc(data []byte) uint32 { return crc32.Checksum(data, crc32.MakeTable(crc32.Castagnoli)) }

// FuzzJournal gives a journal any bytes. Readers and the writer see the same events. The writer saves the bytes that it
// cuts off, and does not touch a file that it refuses.
func FuzzJournal(f *testing.F) {
	good := written(f, 3)
	lines := bytes.SplitAfter(good, []byte("\n"))
	f.Add(good)
	f.Add(good[:len(good)-5])
	f.Add(bytes.Join([][]byte{lines[0], lines[1], []byte("x\n"), lines[3]}, nil))
	f.Add(bytes.Join([][]byte{lines[1], lines[3]}, nil))
	f.Add([]byte("{\"v\":9,\"journal\":\"none\"}\n"))
	f.Add([]byte("\n\x00\xff\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		c, path := plant(t, data)
		seen, torn, peekErr := c.Session("auth").Peek(tip(1))
		j, err := c.Session("auth").Journal(tip(1))
		if (err == nil) != (peekErr == nil) {
			t.Fatalf("Peek: %v; Journal: %v", peekErr, err)
		}
		on, readErr := os.ReadFile(path)
		if readErr != nil {
			t.Fatal(readErr)
		}
		if err != nil {
			if !errors.Is(err, ErrCorrupt) && !errors.Is(err, session.ErrNewer) {
				t.Fatal(err)
			}
			if !bytes.Equal(on, data) || len(files(t, c.Dir())) != 1 {
				t.Fatal("something was written")
			}
			return
		}
		defer j.Close()
		if seqs(seen) != seqs(j.Events()) {
			t.Fatalf("Peek saw %s, Journal %s", seqs(seen), seqs(j.Events()))
		}
		aside := files(t, c.Dir())["sessions/auth/"+filepath.Base(path)+".torn.corrupt-1"]
		if torn != (aside != "") || string(on)+aside != string(data) {
			t.Fatalf("torn %v: %d bytes became %d and %d aside", torn, len(data), len(on), len(aside))
		}
		next := int64(1)
		if n := len(seen); n > 0 {
			next = seen[n-1].Seq + 1
		}
		if next < 1 { // the largest number has no successor
			return
		}
		mustAppend(t, j, note(next))
		if again, torn, err := c.Session("auth").Peek(tip(1)); err != nil || torn || len(again) != len(seen)+1 {
			t.Fatalf("then %s, %v, %v", seqs(again), torn, err)
		}
	})
}
