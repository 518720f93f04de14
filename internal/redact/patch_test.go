package redact

import (
	"bytes"
	"strings"
	"testing"
)

// TestPatch: the lines of a patch keep their number and their signs, in whatever pieces they come.
func TestPatch(t *testing.T) {
	t.Parallel()
	const token = "ghp_" + "abcdefghijklmnopqrstuvwxyz0123456789"
	key := "-----BEGIN RSA PRIVATE KEY-----\n+MIIEpAIBAAKCAQEAwJ1PZ\n+Qk1Xv9mT3kqGQ8Jv0hWn\n" +
		"+-----END RSA PRIVATE KEY-----"
	text := "diff --git a/x b/x\n@@ -1,3 +1,7 @@\n same\n\n-token: " + token + "\n+" + key +
		"\n+token: " + token + "\n after\n-last"
	for size := range len(text) {
		var out bytes.Buffer
		w := New(nil).Patch(&out)
		for rest := []byte(text); len(rest) > 0; {
			n := min(size+1, len(rest))
			if _, err := w.Write(rest[:n]); err != nil {
				t.Fatal(err)
			}
			rest = rest[n:]
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		got, want := strings.Split(out.String(), "\n"), strings.Split(text, "\n")
		if len(got) != len(want) || strings.Contains(out.String(), token) || strings.Contains(out.String(), "MIIEp") {
			t.Fatalf("in pieces of %d: %s", size+1, out.String())
		}
		for i := range want {
			if want[i] != "" && (got[i] == "" || got[i][0] != want[i][0]) {
				t.Fatalf("in pieces of %d, line %d: %q, was %q", size+1, i, got[i], want[i])
			}
		}
	}
}
