package report

import (
	"strings"
	"testing"
)

func TestFirstError(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"Transform failed with 1 error:\n/w/src/a.ts:5:13: ERROR: Multiple exports":                                                       "/w/src/a.ts:5:13: ERROR: Multiple exports",
		"./test/a.test.js:3\nimport { x } from '../a.js';\nSyntaxError: no x":                                                             "SyntaxError: no x",
		"thread 'a' panicked at src/a.rs:4:5:\nassertion `left == right` failed\n  left: 3\n right: 4\nnote: run with `RUST_BACKTRACE=1`": "thread 'a' panicked at src/a.rs:4:5: assertion `left == right` failed left: 3 right: 4",
		"Transform failed with 1 error:": "Transform failed with 1 error:",
		"tests/test_a.py:1: in <module>\n    from shop import a\nE   ModuleNotFoundError: No module named 'shop'":                            "E ModuleNotFoundError: No module named 'shop'",
		"ImportError: Failed to import test module: test_a\nTraceback (most recent call last):\nModuleNotFoundError: No module named 'shop'": "ModuleNotFoundError: No module named 'shop'",
	} {
		if got := FirstError(text); got != want {
			t.Errorf("%q: %q", text, got)
		}
	}
}

func TestWriteFailuresIsBounded(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var list []Failure
	for range 3 * maxFailures {
		list = append(list, Failure{Test: "x", Message: strings.Repeat("é\x00<", 10_000)})
	}
	if err := WriteFailures(dir, list, nil); err != nil {
		t.Fatal(err)
	}
	got, err := ReadFailures(dir)
	if err != nil || len(got) != maxFailures {
		t.Fatal(len(got), err)
	}
	n := 0
	for _, f := range got {
		n += len(f.Message)
	}
	if n > maxAllExcerpt || n < maxAllExcerpt/2 {
		t.Errorf("%d bytes", n)
	}
}
