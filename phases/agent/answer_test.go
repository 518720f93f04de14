package agent

import (
	"strings"
	"testing"
	"time"

	"github.com/wfs-dev/wfs/phases/process"
)

func TestParseResult(t *testing.T) {
	t.Parallel()
	now := func() time.Time { return noon }
	for in, want := range map[string]answer{
		`{}`:                                          {},
		"\ufeff {\"done\":true}\n":                    {done: true},
		`{"other": [1], "done": true}`:                {done: true},
		`{"wait_until": 1900000000}`:                  {waits: true, until: 1900000000},
		`{"wait_until": "1900000000"}`:                {waits: true, until: 1900000000},
		`{"wait_until": 1900000000.5}`:                {waits: true, until: 1900000001},
		`{"wait_until": null}`:                        {},
		`{"wait": "90s"}`:                             {waits: true, until: noon.Unix() + 90},
		`{"cost_usd": -1}`:                            {},
		`{"note": "a\u001b[31mb\u202e"}`:              {note: "ab"},
		`{"note": " two\nlines "}`:                    {note: "two\nlines"},
		`{"wait_until": "2030-01-02T12:00:00+02:00"}`: {waits: true, until: noon.Unix() - 7200},
	} {
		if got, err := parseResult([]byte(in), now); err != nil || got != want {
			t.Errorf("%s: %+v, %v", in, got, err)
		}
	}
	for _, in := range []string{"", " ", "[]", "null", "done", `{"done": 1}`, `{} {}`, `{"wait": "soon"}`, `{"wait": "-1s"}`,
		`{"wait_until": "soon"}`, `{"wait_until": -1}`, `{"wait_until": 1e30}`, `{"wait_until": "NaN"}`, `{"wait_until": {}}`,
		`{"cost_usd": 1e999}`, strings.Repeat(`{"a":`, 20000)} {
		if got, err := parseResult([]byte(in), now); err == nil {
			t.Errorf("%.40s: %+v", in, got)
		}
	}
	long, err := parseResult([]byte(`{"note": "`+strings.Repeat("é", 3000)+`"}`), now)
	if n := len([]rune(long.note)); err != nil || n != process.MaxSaid {
		t.Errorf("%d characters, %v", n, err)
	}
}

func FuzzParseResult(f *testing.F) {
	for _, s := range []string{`{"done":true,"wait":"1m"}`, `{"wait_until":"2030-01-02T12:00:00Z"}`, `{"ask":"\u0007?","note":"x"}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		a, err := parseResult(text, func() time.Time { return noon })
		if err != nil && a != (answer{}) {
			t.Fatalf("%+v and %v", a, err)
		}
		if a.cost < 0 || len([]rune(a.note)) > process.MaxSaid || len([]rune(a.ask)) > process.MaxSaid || strings.ContainsAny(a.note+a.ask, "\x1b\r\x00") {
			t.Fatalf("%+v", a)
		}
	})
}
