package gitcmd

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/wfs-dev/wfs/internal/durable"
)

// TestReadBounded checks that ReadBounded neither blocks nor fills the memory, and follows symbolic links.
func TestReadBounded(t *testing.T) {
	t.Parallel()
	at := func(name string) string { return filepath.Join(t.TempDir(), name) }
	file, large, fifo, link := at("file"), at("large"), at("fifo"), at("link")
	for _, err := range []error{os.WriteFile(file, []byte("ref"), 0o600), os.WriteFile(large, nil, 0o600), os.Truncate(large, 1<<30),
		syscall.Mkfifo(fifo, 0o600), os.Symlink(file, link)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if data, err := ReadBounded(link, MaxRef); err != nil || string(data) != "ref" {
		t.Errorf("%q, %v", data, err)
	}
	if _, err := ReadBounded(large, MaxRef); !errors.Is(err, durable.ErrTooLarge) {
		t.Error(err)
	}
	if _, err := ReadBounded(fifo, MaxRef); !errors.Is(err, durable.ErrNotRegular) {
		t.Error(err)
	}
	if _, err := ReadBounded(filepath.Dir(file), MaxRef); !errors.Is(err, syscall.EISDIR) {
		t.Error(err)
	}
}
