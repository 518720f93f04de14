package cmd

import (
	"bytes"
	"testing"
)

// TestHookSettings adds hooks to settings and removes them again: other settings stay unchanged.
func TestHookSettings(t *testing.T) {
	t.Parallel()
	for in, back := range map[string]string{
		"":                                "{\n}\n",
		"{}":                              "{\n}",
		"{ // nothing yet\n}":             "{\n}", // such a comment is removed with the hooks
		`{"a": 1}`:                        "{\"a\": 1\n}",
		"{\n\t\"a\": 1, // one\n}\n":      "{\n\t\"a\": 1\n}\n",
		"{\n  \"a\": 1 /* one */\n}":      "{\n  \"a\": 1 /* one */\n}",
		"{\"hooks\": {}, \"a\": [1, 2,]}": `{ "a": [1, 2,]}`,
		"{\n    \"hooks\": {\n        \"Stop\": [\n            {\"hooks\": [{\"command\": \"say done\"}]}\n        ]\n    }\n}": "",
		`{"hooks": {"Stop": [{"hooks": [{"command": "x"}, {"command": "/old/wfs hook run Stop || true"}]}]}}`:                   `{"hooks": {"Stop": [{"hooks": [{"command": "x"}]}]}}`,
		"{\"a\": 1 ,\n  \"hooks\": {\"Stop\": [{\"hooks\": [{\"command\": \"wfs hook run Stop || true\"}]}]}\n}":                "{\"a\": 1 ,\n}",
	} {
		with, err := withHooks([]byte(in), "wfs", false)
		if err != nil {
			t.Errorf("%q: %v", in, err)
			continue
		}
		if _, hooks, err := readHooks(with); err != nil || len(hookCommands(hooks)) != len(hooked) {
			t.Errorf("%q becomes %q: %v", in, with, err)
		}
		if again, err := withHooks(with, "wfs", false); err != nil || !bytes.Equal(again, with) {
			t.Errorf("%q becomes %q, and then %q: %v", in, with, again, err)
		}
		if back == "" {
			back = in
		}
		if got, err := withHooks(with, "wfs", true); err != nil || string(got) != back {
			t.Errorf("%q with hooks is %s\nand without %q: %v", in, with, got, err)
		}
	}
	for _, bad := range []string{"{", "[1]", `{"hooks": []}`, `{"hooks": {"Stop": {}}}`, `{"a": 1} x`} {
		if out, err := withHooks([]byte(bad), "wfs", false); err == nil {
			t.Errorf("%q becomes %q", bad, out)
		}
	}
}

func FuzzHookSettings(f *testing.F) {
	for _, s := range []string{`{"a": [1, {"b": "c"}, ], /* x */ }`, "{\n  \"hooks\": {}, // two\n}", `{"hooks": {"Stop": [{"hooks": [7, {"command": 1}]}]}}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		with, err := withHooks(text, "wfs", false)
		if err != nil {
			return
		}
		if _, hooks, err := readHooks(with); err != nil || len(hookCommands(hooks)) < len(hooked) {
			t.Fatalf("%q becomes %q: %v", text, with, err)
		}
		without, err := withHooks(with, "wfs", true)
		if _, _, e := readHooks(without); err != nil || e != nil {
			t.Fatalf("%q becomes %q, and then %q: %v, %v", text, with, without, err, e)
		}
	})
}
