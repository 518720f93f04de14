package report

import "testing"

func TestFirstError(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"Transform failed with 1 error:\n/w/src/a.ts:5:13: ERROR: Multiple exports":                                                       "/w/src/a.ts:5:13: ERROR: Multiple exports",
		"./test/a.test.js:3\nimport { x } from '../a.js';\nSyntaxError: no x":                                                             "SyntaxError: no x",
		"thread 'a' panicked at src/a.rs:4:5:\nassertion `left == right` failed\n  left: 3\n right: 4\nnote: run with `RUST_BACKTRACE=1`": "thread 'a' panicked at src/a.rs:4:5: assertion `left == right` failed left: 3 right: 4",
		"Transform failed with 1 error:": "Transform failed with 1 error:",
	} {
		if got := FirstError(text); got != want {
			t.Errorf("%q: %q", text, got)
		}
	}
}
