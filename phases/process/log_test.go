package process

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

func TestLogKeepsBothEnds(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "log")
	const most = 8 << 10
	l, err := NewLog(name, most)
	if err != nil {
		t.Fatal(err)
	}
	var all bytes.Buffer
	for i := range 20000 {
		line := fmt.Appendf(nil, "line %d\n", i)
		all.Write(line)
		if n, err := l.Write(line); n != len(line) || err != nil {
			t.Fatal(n, err)
		}
		if info, err := os.Stat(name); err != nil || info.Size() > most {
			t.Fatalf("after line %d: %d bytes, %v", i, info.Size(), err)
		}
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	var dropped int
	before, after, ok := bytes.Cut(got, []byte("\n[… "))
	if _, err := fmt.Sscanf(string(after), "%d", &dropped); !ok || err != nil {
		t.Fatalf("%q, %v", got[most/2-20:most/2+60], err)
	}
	_, after, _ = bytes.Cut(after, []byte("…]\n"))
	if !bytes.HasPrefix(all.Bytes(), before) || !bytes.HasSuffix(all.Bytes(), after) || len(before)+dropped+len(after) != all.Len() {
		t.Errorf("%d + %d + %d bytes of %d", len(before), dropped, len(after), all.Len())
	}
	if len(before) != most/2 || len(after) < most/4 {
		t.Errorf("%d and %d bytes are left", len(before), len(after))
	}
}

func TestLogTakesOneLargeWrite(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "log")
	l, err := NewLog(name, minMaxLog)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = l.Write(bytes.Repeat([]byte("x"), 1<<20))
	_, _ = l.Write([]byte("end"))
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	got, _ := os.ReadFile(name)
	if len(got) > minMaxLog || !bytes.HasSuffix(got, []byte("xend")) {
		t.Errorf("%d bytes", len(got))
	}
}
