package live

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"github.com/wfs-dev/wfs/cmd/internal/present"
	"github.com/wfs-dev/wfs/session"
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

// TestBegins: a run says what it does now, also while it waits.
func TestBegins(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	now := time.Unix(0, 0)
	screen := &present.Screen{Stderr: &out, Clock: func() time.Time { return now }, Color: "never"}
	p := &Progress{Screen: screen, Does: &Doing{screen: screen}}
	p.Event(session.Event{Body: session.Judged{}}, &session.Session{})
	p.Event(session.Event{Body: session.Waiting{Reason: session.WaitLimit, Until: 60}}, &session.Session{})
	now = time.Unix(20, 0)
	if got := p.Does.line(); got != "waiting for a limit, 0:20" {
		t.Errorf("it says %q", got)
	}
}
