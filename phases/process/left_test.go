package process

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/wfs-dev/wfs/internal/redact"
)

func TestCleanLeft(t *testing.T) {
	t.Parallel()
	secrets := redact.New([]string{"API_TOKEN=open-sesame-for-all"})
	dir := t.TempDir()
	left := filepath.Join(dir, "report.xml")
	if err := Clean(left, secrets); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(left, "sub"), 0o700); err != nil {
		t.Fatal(err)
	}
	with, without := filepath.Join(left, "sub", "a.xml"), filepath.Join(left, "b.xml")
	for name, text := range map[string]string{with: "<a>open-sesame-for-all</a>\n", without: "<b>nothing</b>\n"} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(with, filepath.Join(left, "link")); err != nil {
		t.Skip(err)
	}
	if err := Clean(left, secrets); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{with: "<a>[redacted: $API_TOKEN]</a>\n", without: "<b>nothing</b>\n"} {
		if got, err := os.ReadFile(name); err != nil || string(got) != want {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	if _, err := os.Readlink(filepath.Join(left, "link")); err != nil {
		t.Error(err)
	}
}
