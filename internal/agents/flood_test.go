package agents

import (
	"bytes"
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"
)

// TestFlood feeds decoders the output of a runaway agent, and measures the memory: the bound of 64 MB is for all of
// wfs. It is not parallel, so that no other test allocates. WFS_FLOOD=1000 feeds 1000 MB to each, which takes
// minutes, and logs the time of each.
func TestFlood(t *testing.T) {
	const most = 8 << 20
	size := 12 << 20
	if n, err := strconv.Atoi(os.Getenv("WFS_FLOOD")); err == nil {
		size = n << 20
	}
	chunk := func(s string) []byte { return []byte(strings.Repeat(s, 1+(32<<10)/len(s))) }
	for name, f := range map[string]struct {
		begin  string
		repeat []byte
		finish string
	}{
		"a string":      {`{"type":"assistant","message":{"content":[{"type":"text","text":"`, chunk("x"), `"}]}}` + "\n"},
		"an array":      {`{"type":"user","message":{"content":[0`, chunk(`,{"type":"tool_result","content":["a",1]}`), `]}}` + "\n"},
		"members":       {`{"type":"user"`, chunk(`,"k":1`), `}` + "\n"},
		"depth":         {`{"type":`, chunk(`[{"a":`), "\n"},
		"noise":         {"", chunk("x"), "\n"},
		"NULs":          {"", chunk("\x00"), "\n"},
		"white space":   {"{", chunk(" \n"), "}\n"},
		"lines":         {"", chunk("x\n"), ""},
		"small objects": {"", chunk(`{"type":"` + strings.Repeat("z", 200) + `"}`), "\n"},
		"tool calls": {"", chunk(`{"type":"assistant","message":{"id":"m","content":[{"type":"tool_use","id":"a","name":"B","input":{"command":"` +
			strings.Repeat("y", 900) + `"}}]}}` + "\n"), ""},
		"denials": {"", chunk(`{"type":"system","subtype":"permission_denied","tool_name":"B"}` + "\n"), ""},
	} {
		t.Run(name, func(t *testing.T) {
			d, _ := New("claude", Options{Now: now})
			before, began := heap(), time.Now()
			d.Write([]byte(f.begin))
			peak := uint64(0)
			for n := 0; n < size; n += len(f.repeat) {
				d.Write(f.repeat)
				if n%(size/4) < len(f.repeat) {
					peak = max(peak, heap())
				}
			}
			d.Write([]byte(f.finish))
			peak = max(peak, heap())
			d.Write([]byte(`{"type":"result","subtype":"success","is_error":false,"terminal_reason":"completed","result":"survived"}` + "\n"))
			o := d.End(Exit{})
			if name != "depth" && (o.Last != "survived" || o.Class != OK && name != "denials") {
				t.Errorf("%+v", o)
			}
			if peak > before+most {
				t.Errorf("%d MB more than before", (peak-before)>>20)
			}
			took := time.Since(began)
			t.Logf("%d MB in %.1f s, %.0f MB/s; %d KB more in use at most", size>>20, took.Seconds(), float64(size>>20)/took.Seconds(), max(int64(peak)-int64(before), 0)>>10)
		})
	}
}

// heap returns the bytes in use, without garbage.
func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

func BenchmarkLongLine(b *testing.B) {
	line := append(bytes.Repeat([]byte("some code\\n\\t"), 3<<20/12), `"}`+"\n"...)
	line = append([]byte(`{"type":"user","tool_use_result":"`), line...)
	b.SetBytes(int64(len(line)))
	d, _ := New("claude", Options{})
	for b.Loop() {
		d.Write(line)
	}
}
