package registry

import (
	"path/filepath"
	"testing"
)

// TestTrustFollows: a moved repository keeps its own marks, and gets no others.
func TestTrustFollows(t *testing.T) {
	t.Parallel()
	s := TrustStore{Dir: filepath.Join(t.TempDir(), "trust")}
	from, to, other := t.TempDir(), t.TempDir(), t.TempDir()
	for repo, digest := range map[string]string{from: "mine", other: "another's"} {
		if err := s.Trust(repo, digest, "what"); err != nil {
			t.Fatal(err)
		}
	}
	real, err := filepath.EvalSymlinks(from)
	if err == nil {
		err = s.Follow(real, to)
	}
	if err != nil {
		t.Fatal(err)
	}
	if !trusted(t, s, to, "mine") || trusted(t, s, to, "another's") {
		t.Fatal("the wrong marks came along")
	}
}
