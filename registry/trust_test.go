package registry

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/wfs-dev/wfs/internal/durable"
)

func trusted(t *testing.T, s TrustStore, repo, digest string) bool {
	t.Helper()
	ok, err := s.Trusted(repo, digest)
	if err != nil {
		t.Fatal(err)
	}
	return ok
}

func TestTrust(t *testing.T) {
	t.Parallel()
	s := TrustStore{Dir: filepath.Join(t.TempDir(), "state", "trust")}
	repo, other := t.TempDir(), t.TempDir()
	if trusted(t, s, repo, "d1") {
		t.Fatal("trusted out of nothing")
	}
	for _, what := range [][2]string{{repo, "d1"}, {repo, "d2"}, {other, "d1"}} {
		if err := s.Trust(what[0], what[1], "workflow tdd"); err != nil {
			t.Fatal(err)
		}
	}
	if !trusted(t, s, repo, "d1") || !trusted(t, s, repo, "d2") || trusted(t, s, repo, "d3") || trusted(t, s, other, "d2") {
		t.Fatal("trust is not bound to the place and the content")
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(repo, link); err == nil && !trusted(t, s, link, "d1") {
		t.Fatal("not trusted by another name")
	}
	if err := s.Revoke(repo); err != nil {
		t.Fatal(err)
	}
	if trusted(t, s, repo, "d1") || trusted(t, s, repo, "d2") || !trusted(t, s, other, "d1") {
		t.Fatal("revoked the wrong marks")
	}
	if err := os.Remove(other); err != nil {
		t.Fatal(err)
	}
	if err := s.Revoke(realParent(t, other)); err != nil {
		t.Fatal(err)
	}
	if left := mustDir(t, s.Dir); len(left) > 0 {
		t.Fatalf("left: %v", left)
	}
	if _, err := s.Trusted("relative", "d1"); err == nil {
		t.Fatal("took a relative path")
	}
}

// realParent resolves the links in the parent path of a file that does not exist.
func realParent(t *testing.T, path string) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(filepath.Dir(path))
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, filepath.Base(path))
}

func TestTrustAnyPath(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("paths are text here")
	}
	s := TrustStore{Dir: filepath.Join(t.TempDir(), "trust")}
	top := t.TempDir()
	one, two := filepath.Join(top, "\xff"), filepath.Join(top, "\xfe") // the same in JSON
	for _, dir := range []string{one, two} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Trust(one, "d", ""); err != nil {
		t.Fatal(err)
	}
	if err := s.Revoke(two); err != nil {
		t.Fatal(err)
	}
	if !trusted(t, s, one, "d") || trusted(t, s, two, "d") {
		t.Fatal("took one path for the other")
	}
}

func TestMarksThatSayNothing(t *testing.T) {
	t.Parallel()
	s := TrustStore{Dir: filepath.Join(t.TempDir(), "trust")}
	repo := t.TempDir()
	if err := s.Trust(repo, "d", ""); err != nil {
		t.Fatal(err)
	}
	mark := filepath.Join(s.Dir, mustDir(t, s.Dir)[0].Name())
	good, err := os.ReadFile(mark)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"", "{}", "null", string(good[:len(good)-4]), `{"v":2}`} {
		if err := os.WriteFile(mark, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if trusted(t, s, repo, "d") {
			t.Errorf("trusted by %q", text)
		}
	}
	// A mark that was moved to another name.
	if err := os.WriteFile(filepath.Join(s.Dir, markName(repo, "other")), good, 0o600); err != nil {
		t.Fatal(err)
	}
	if trusted(t, s, repo, "other") {
		t.Error("trusted by a mark for something else")
	}
}

func TestStoresThatAreRefused(t *testing.T) {
	t.Parallel()
	repo := t.TempDir()
	real := TrustStore{Dir: filepath.Join(t.TempDir(), "trust")}
	if err := real.Trust(repo, "d", ""); err != nil {
		t.Fatal(err)
	}
	link := TrustStore{Dir: filepath.Join(t.TempDir(), "link")}
	if err := os.Symlink(real.Dir, link.Dir); err != nil {
		t.Fatal(err)
	}
	refused := func(s TrustStore) {
		t.Helper()
		ok, err := s.Trusted(repo, "d")
		for what, err := range map[string]error{"Trusted": err, "Trust": s.Trust(repo, "d", ""), "Revoke": s.Revoke(repo)} {
			if ok || !errors.Is(err, durable.ErrNotPrivate) {
				t.Errorf("%s: %v, %v", what, ok, err)
			}
		}
	}
	refused(link)
	if err := os.Chmod(real.Dir, 0o770); err != nil {
		t.Fatal(err)
	}
	refused(real)
}
