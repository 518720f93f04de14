package agents

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// now returns the time of the recordings: 2026-11-20, 15:20 UTC.
func now() int64 { return time.Date(2026, 11, 20, 15, 20, 0, 0, time.UTC).Unix() }

// sample is a recorded stream and the exit of its process.
type sample struct {
	name   string // "claude-2.1.329/ok"
	stdout []byte
	exit   Exit
}

func (s sample) decoder() string { name, _, _ := strings.Cut(s.name, "-"); return name }

// samples reads the recorded streams, and fails if one is missing or not listed.
func samples(t testing.TB) []sample {
	t.Helper()
	table, err := os.ReadFile(filepath.Join("testdata", "exits.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	var list []sample
	listed := map[string]bool{}
	for line := range strings.Lines(string(table)) {
		f := strings.Split(strings.TrimSpace(line), "\t")
		if len(f) != 5 {
			continue
		}
		s := sample{name: f[0] + "/" + f[1]}
		s.exit.Code, _ = strconv.Atoi(f[2])
		s.exit.Signal = strings.Trim(f[3], "-")
		s.exit.Stopped = f[4] == "us"
		s.stdout = read(t, s.name+".jsonl")
		if b, err := os.ReadFile(filepath.Join("testdata", s.name+".stderr")); err == nil {
			s.exit.Stderr = string(b)
		}
		listed[s.name] = true
		list = append(list, s)
	}
	files, err := filepath.Glob(filepath.Join("testdata", "*-*", "*.jsonl*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		name := filepath.ToSlash(strings.TrimPrefix(f, "testdata"+string(filepath.Separator)))
		if name, _, _ = strings.Cut(name, ".jsonl"); !listed[name] {
			t.Errorf("%s has no row in testdata/exits.tsv", name)
		}
	}
	if len(list) < 75 {
		t.Errorf("%d streams", len(list))
	}
	return list
}

func read(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	if err == nil {
		return b
	}
	f, err := os.Open(filepath.Join("testdata", name+".gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	if b, err = io.ReadAll(r); err != nil {
		t.Fatal(err)
	}
	return b
}

// before returns the earlier usage of the conversation, for streams that continue one.
func before(name string) Spent {
	switch name {
	case "codex-0.169.0/resume":
		return Spent{Input: 3000, Output: 150}
	case "claude-2.1.329/resume":
		return Spent{USD: 0.005, Input: 1000, Output: 50}
	}
	return Spent{}
}

// play feeds a stream to its decoder, in pieces of the given size, or whole.
func play(t testing.TB, s sample, piece int) (Outcome, []Event) {
	t.Helper()
	var events []Event
	d, ok := New(s.decoder(), Options{Now: now, Before: before(s.name), Emit: func(e Event) { events = append(events, e) }})
	if !ok {
		return Outcome{}, nil
	}
	if piece <= 0 {
		piece = len(s.stdout) + 1
	}
	for p := range slices.Chunk(s.stdout, piece) {
		if n, err := d.Write(p); n != len(p) || err != nil {
			t.Fatal(n, err)
		}
	}
	return d.End(s.exit), events
}

// warned returns the warnings on standard error during the run, written in pieces of the given size, or whole.
func warned(s sample, piece int) (events []Event) {
	w := NewWarnings(s.decoder(), Options{Now: now, Emit: func(e Event) { events = append(events, e) }})
	if w == nil {
		return nil
	}
	if piece <= 0 {
		piece = len(s.exit.Stderr) + 1
	}
	for p := range slices.Chunk([]byte(s.exit.Stderr), piece) {
		_, _ = w.Write(p)
	}
	return events
}

// TestWarningsInPieces: the warnings do not depend on the pieces.
func TestWarningsInPieces(t *testing.T) {
	t.Parallel()
	told := 0
	for _, s := range samples(t) {
		whole := warned(s, 0)
		told += len(whole)
		for _, piece := range []int{1, 7, 4096} {
			if got := warned(s, piece); !reflect.DeepEqual(got, whole) {
				t.Errorf("%s in pieces of %d: %+v, as a whole %+v", s.name, piece, got, whole)
			}
		}
	}
	if told < 8 {
		t.Errorf("%d warnings", told)
	}
}

// TestGolden checks the outcome of each recorded stream. After a change: UPDATE_AGENTS=1 go test ./internal/agents -run
// TestGolden, and read the difference.
func TestGolden(t *testing.T) {
	t.Parallel()
	var got bytes.Buffer
	for _, s := range samples(t) {
		o, events := play(t, s, 0)
		fmt.Fprintf(&got, "== %s, exit %d %s\n", s.name, s.exit.Code, s.exit.Signal)
		fmt.Fprintf(&got, "%s: %s\n", o.Class, o.Message)
		if o.RetryAt != 0 {
			fmt.Fprintf(&got, "again at %s\n", time.Unix(o.RetryAt, 0).UTC().Format(time.RFC3339))
		}
		fmt.Fprintf(&got, "%s %s, conversation %s\n", o.Model, o.Version, o.Conversation)
		fmt.Fprintf(&got, "spent %s, total %s; %d turns, %d tools\n", spentText(o.Spent), spentText(o.Total), o.Turns, o.Tools)
		for _, u := range o.Uses {
			fmt.Fprintf(&got, "used %s: %d calls, %d failed\n", u.Name, u.Calls, u.Failed)
		}
		for _, d := range o.Denials {
			fmt.Fprintf(&got, "denied %s %s %s: %s\n", d.ID, d.Name, d.Action, d.Detail)
		}
		if o.Last != "" {
			fmt.Fprintf(&got, "last %q\n", o.Last)
		}
		if o.Structured != nil {
			fmt.Fprintf(&got, "structured %s\n", o.Structured)
		}
		for _, e := range events {
			fmt.Fprintf(&got, "  %s\n", eventText(e))
		}
		for _, e := range warned(s, 0) {
			fmt.Fprintf(&got, "  on standard error: %s\n", eventText(e))
		}
	}
	golden := filepath.Join("testdata", "golden.txt")
	if os.Getenv("UPDATE_AGENTS") != "" {
		if err := os.WriteFile(golden, got.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	w, g := strings.Split(string(want), "\n"), strings.Split(got.String(), "\n")
	for i := range max(len(w), len(g)) {
		if i >= len(w) || i >= len(g) || w[i] != g[i] {
			t.Fatalf("line %d of %s is\n%s\nand should be\n%s", i+1, golden, at(g, i), at(w, i))
		}
	}
}

func at(lines []string, i int) string {
	return strings.Join(lines[min(i, len(lines)):min(i+3, len(lines))], "\n")
}

func spentText(s Spent) string {
	return fmt.Sprintf("$%.4f %d+%d cache %d+%d", s.USD, s.Input, s.Output, s.CacheRead, s.CacheWrite)
}

func eventText(e Event) string {
	s := string(e.Kind)
	if e.Text != "" {
		s += fmt.Sprintf(" %.60q", e.Text)
	}
	if e.Tool != (Tool{}) {
		s += fmt.Sprintf(" %s %s: %.60s", e.Tool.Name, e.Tool.Action, e.Tool.Detail)
	}
	if e.Failed {
		s += " failed"
	}
	if e.Spent != (Spent{}) {
		s += " " + spentText(e.Spent)
	}
	if e.Limited != (Limited{}) {
		s += fmt.Sprintf(" %+v", e.Limited)
	}
	if e.Retrying != (Retrying{}) {
		s += fmt.Sprintf(" %+v", e.Retrying)
	}
	if e.Fatal != "" {
		s += " fatal: " + string(e.Fatal)
	}
	return s
}

// TestClaudeEvents plays a short stream that has what no recording has: a context that is shortened, and an event of a
// hook.
func TestClaudeEvents(t *testing.T) {
	t.Parallel()
	o, events := play(t, sample{name: "claude-2.1.329/short", stdout: []byte(`{"type":"system","subtype":"init","session_id":"c1","model":"m1","tools":["Read"]}
{"type":"system","subtype":"hook","hook_type":"SessionStart"}
{"type":"assistant","message":{"content":[{"type":"text","text":"First the tests."}]}}
{"type":"system","subtype":"compact_boundary"}
{"type":"assistant","message":{"content":[{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"go vet"}}]}}
{"type":"result","subtype":"success","session_id":"c1","num_turns":2,"duration_ms":700,"total_cost_usd":0.05}
`)}, 0)
	if o.Class != OK || o.Turns != 2 || o.Tools != 1 || o.Conversation != "c1" || o.Spent.USD != 0.05 {
		t.Errorf("%+v", o)
	}
	var kinds []string
	for _, e := range events {
		kinds = append(kinds, string(e.Kind))
	}
	if got, want := strings.Join(kinds, " "), "started other text compaction tool_call usage result"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
