package workflows

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"
)

// checkFindings checks properties that findings have for any input.
func checkFindings(t *testing.T, text []byte, findings []Finding) {
	lines := strings.Count(string(text), "\n") + strings.Count(string(text), "\r") + 2
	last := 0
	for _, f := range findings {
		if f.File != "f" || f.Line < 1 || f.Message == "" || len(f.Message) > 1<<16 {
			t.Errorf("bad finding %+v", f)
		}
		if f.Line < last {
			t.Errorf("line %d after line %d", f.Line, last)
		}
		last = f.Line
		// YAML knows further line breaks, which editors do not count.
		if f.Line > lines && !strings.ContainsAny(string(text), "\u0085\u2028\u2029") {
			t.Errorf("line %d of %d: %s", f.Line, lines, f.Message)
		}
		if strings.ContainsAny(f.Message+f.Hint, "\x1b\x00\n\r") || !utf8.ValidString(f.Message+f.Hint) {
			t.Errorf("message %q", f.Message)
		}
	}
}

func addSeeds(f *testing.F) {
	for _, s := range []string{
		"", full, small, "version: 1\ngates: {t: {run: [a]}}", "a: &a [*a]", "? {a: b}\n: c", "!!binary x", "- - -", "%YAML 1.1\n---\n",
		"a: |2\n x", "\"\\ud800\"", "version: 1\nphases: {done: , A: [], ~: x}", "&a a: *a\n<<: *a", "version: 1\nname: \"\\0\"",
		"version: 1\nagent: {script: a, command: b}\nenv: [A, A=, 1]\n", strings.Repeat("[", 500), "a:\r b\r\tc", "\ufeff\ufeffa", "!\n!", "&V\n]",
	} {
		f.Add([]byte(s))
	}
	names, _ := filepath.Glob("builtin/*.yaml")
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
}

func FuzzParseWorkflow(f *testing.F) {
	addSeeds(f)
	f.Fuzz(func(t *testing.T, text []byte) {
		w, findings := ParseWorkflow("f", text)
		checkFindings(t, text, findings)
		if w == nil {
			if len(findings) == 0 {
				t.Error("neither a workflow nor a finding")
			}
			return
		}
		if w.Phase(w.Start) == nil {
			t.Error("the start is no phase")
		}
	})
}

func FuzzParseConfig(f *testing.F) {
	addSeeds(f)
	f.Fuzz(func(t *testing.T, text []byte) {
		c, findings := ParseConfig("f", text)
		checkFindings(t, text, findings)
		if (c == nil) == (len(findings) == 0) {
			t.Errorf("%v with %d findings", c, len(findings))
		}
		if c == nil {
			return
		}
		for _, g := range c.Gates {
			rendered := RenderConfig(Proposal{Workflow: "tdd", Gates: []ProposedGate{{g, string(text)}}})
			again, findings := ParseConfig("f", rendered)
			if len(findings) == 0 {
				local, more := ParseConfig("f", RenderLocal(c.Agent))
				if findings = more; len(more) == 0 {
					again.Agent = local.Agent
				}
			}
			if len(findings) > 0 || !reflect.DeepEqual(again.Gates[g.Name], g) || !reflect.DeepEqual(again.Agent, c.Agent) {
				t.Errorf("%v\n%s\n got %+v\nwant %+v", findings, rendered, again, g)
			}
		}
	})
}

// FuzzReadLayers merges two files that are each correct. Together they are correct as well, unless two names differ
// only in upper and lower case. Each value is the higher file's, or the lower one's if the higher one has none.
func FuzzReadLayers(f *testing.F) {
	for _, s := range []string{full, "version: 1\nagent: a\n", "version: 1\nagent: {script: /b, idle: 5s}\nenv: [A]\n",
		"version: 1\ngates:\n  Tests: {run: b}\n", "version: 1\nworktree: {dir: 'a{slug}'}\non-event: [x, y]\n"} {
		f.Add([]byte("version: 1\ngates:\n  tests: {run: a, format: junit}\nagree: auto\n"), []byte(s))
	}
	f.Fuzz(func(t *testing.T, low, high []byte) {
		layers := []Layer{{Source: FromUser, Name: "low", Text: low}, {Source: FromLocal, Name: "high", Text: high}}
		a, _ := ReadLayers(layers[0])
		b, _ := ReadLayers(layers[1])
		both, findings := ReadLayers(layers...)
		if a == nil || b == nil {
			if both != nil || len(findings) == 0 {
				t.Errorf("a layer is wrong, and all of them are %v", both)
			}
			return
		}
		if both == nil {
			for _, f := range findings {
				if !strings.Contains(f.Message, "differs in nothing but capital letters") {
					t.Errorf("each layer is right, and together: %v", f)
				}
			}
			return
		}
		for _, x := range both.List {
			inHigh, ok := b.Get(x.Key)
			if ok && inHigh.Source != FromDefault && !reflect.DeepEqual(x, inHigh) {
				t.Errorf("%v holds, and the higher layer says %v", x, inHigh)
			}
			if inLow, _ := a.Get(x.Key); x.Name == "low" && !reflect.DeepEqual(x, inLow) {
				t.Errorf("%v holds, and the lower layer says %v", x, inLow)
			}
		}
	})
}
