package live

import (
	"bytes"
	"fmt"
	"testing"
	"time"
)

// TestBeat: lines appear only after a silence, in growing distances, and only while there is something to say.
func TestBeat(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	now := time.Unix(0, 0)
	text := "gate tests"
	b := &beat{to: &out, clock: func() time.Time { return now }, last: now, wait: shortestBeat}
	said := ""
	for second := range 240 {
		now = time.Unix(int64(second), 0)
		switch second {
		case 100:
			fmt.Fprint(b, "a result\n")
		case 125:
			text = ""
		}
		before := out.Len()
		b.tick(func() string { return text })
		if out.Len() > before {
			said += fmt.Sprint(second, " ")
		}
	}
	if want := "10 30 70 110 "; said != want {
		t.Errorf("said at %s, want %s", said, want)
	}
	if want := "    still: gate tests\n"; !bytes.HasPrefix(out.Bytes(), []byte(want)) {
		t.Errorf("%q", out.String())
	}
}
