package agents

import (
	"bytes"
	"fmt"
	"reflect"
	"testing"
)

// FuzzClaude and the others feed any bytes to a decoder. It must not panic, must keep its bounds, and must return the
// same result for any pieces.
func FuzzClaude(f *testing.F)   { fuzz(f, "claude") }
func FuzzCodex(f *testing.F)    { fuzz(f, "codex") }
func FuzzGemini(f *testing.F)   { fuzz(f, "gemini") }
func FuzzOpencode(f *testing.F) { fuzz(f, "opencode") }
func FuzzText(f *testing.F)     { fuzz(f, "text") }

func fuzz(f *testing.F, decoder string) {
	seeds := 0
	for _, s := range samples(f) {
		if s.decoder() == decoder && len(s.stdout) < 4<<10 && seeds < 8 { // more or longer ones make the fuzzer slow
			seeds++
			f.Add(s.stdout, s.exit.Code, s.exit.Stderr, uint8(7))
		}
	}
	f.Add([]byte("noise\n{\"type\":\"result\",\"is_error\":\"no\",\"num_turns\":{}}\n{\"type\":3}\n"), 1, "status 429, resets 6pm (UTC)", uint8(1))
	f.Fuzz(func(t *testing.T, stdout []byte, code int, stderr string, piece uint8) {
		run := func(piece int) (Outcome, []Event) {
			var events []Event
			d, _ := New(decoder, Options{Now: now, Emit: func(e Event) {
				if len(e.Text) > MaxText || len(e.Tool.Detail) > MaxDetail || len(e.Tool.Name) > maxWord || len(e.Tool.ID) > maxWord ||
					len(e.Conversation) > maxWord || len(e.Retrying.Error) > maxMessage || e.Kind == "" {
					t.Errorf("too long: %+v", e)
				}
				events = append(events, e)
			}})
			for b := stdout; len(b) > 0; {
				n := min(piece, len(b))
				if got, err := d.Write(b[:n]); got != n || err != nil {
					t.Fatal(got, err)
				}
				b = b[n:]
			}
			return d.End(Exit{Code: code, Stderr: stderr}), events
		}
		s := sample{name: decoder + "-", exit: Exit{Stderr: stderr}}
		if got, want := warned(s, int(piece)%64+1), warned(s, 0); !reflect.DeepEqual(got, want) {
			t.Errorf("of standard error, whole: %+v\nin pieces: %+v", want, got)
		}
		whole, events := run(len(stdout) + 1)
		parts, same := run(int(piece)%64 + 1)
		if !reflect.DeepEqual(whole, parts) || !reflect.DeepEqual(events, same) {
			t.Errorf("whole: %+v %+v\nin pieces: %+v %+v", whole, events, parts, same)
		}
		if whole.Class == "" || len(whole.Last) > MaxText || len(whole.Message) > maxMessage || len(whole.Denials) > maxDenials {
			t.Errorf("%+v", whole)
		}
	})
}

// TestPieces feeds every recorded stream byte by byte, and in odd pieces.
func TestPieces(t *testing.T) {
	t.Parallel()
	for _, s := range samples(t) {
		whole, events := play(t, s, 0)
		for _, piece := range []int{1, 13, 4095} {
			if piece == 1 && len(s.stdout) > 1<<20 {
				continue
			}
			o, same := play(t, s, piece)
			if fmt.Sprintf("%+v%+v", o, same) != fmt.Sprintf("%+v%+v", whole, events) {
				t.Errorf("%s in pieces of %d:\n%+v\n%+v", s.name, piece, o, whole)
			}
		}
	}
}

// TestTorn cuts every recorded stream at many positions, as if the process were killed there. Without a result in the
// stream the decoder must not invent one.
func TestTorn(t *testing.T) {
	t.Parallel()
	for _, s := range samples(t) {
		if s.decoder() == "opencode" || len(s.stdout) > 1<<20 {
			continue
		}
		for cut := 0; cut < len(s.stdout); cut += 1 + len(s.stdout)/150 {
			part := sample{name: s.name, stdout: s.stdout[:cut], exit: Exit{Code: 137, Signal: "SIGKILL"}}
			o, events := play(t, part, 0)
			results := 0
			for _, e := range events {
				if e.Kind == Result {
					results++
				}
			}
			if results == 0 && (o.Class == OK || o.Class == Denied || o.Class == Capped) {
				t.Errorf("%s cut at %d of %d: %s", s.name, cut, len(s.stdout), o.Class)
			}
		}
	}
}

// TestNoise inserts lines that are not JSON, and JSON of an unknown kind, into every recorded stream.
func TestNoise(t *testing.T) {
	t.Parallel()
	noise := []byte("\x1b[33mnpm warn\x1b[0m deprecated {\"type\":\"result\"\n\x00\xff\n{\"type\":\"future\",\"result\":[1]}\r\n{\"no\":\"type\"}\n")
	for _, s := range samples(t) {
		if len(s.stdout) > 1<<20 || bytes.HasPrefix(bytes.TrimSpace(s.stdout), []byte("[")) {
			continue
		}
		want, _ := play(t, s, 0)
		var noisy []byte
		for line := range bytes.Lines(s.stdout) {
			noisy = append(append(noisy, noise...), line...)
		}
		if len(noisy) == 0 {
			continue
		}
		got, _ := play(t, sample{s.name, noisy, s.exit}, 0)
		if fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", want) {
			t.Errorf("%s: %+v\nwant %+v", s.name, got, want)
		}
	}
}
