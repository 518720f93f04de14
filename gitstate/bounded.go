package gitstate

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/wfs-dev/wfs/internal/durable"
)

// maxPackedRefs bounds that file, in bytes: two million refs.
const maxPackedRefs = 256 << 20

// maxRef bounds the file of a ref, in bytes.
const maxRef = 4096

// mostOf bounds files of git's by the ends of their paths, in bytes; all others that are read whole hold a line or two.
var mostOf = []struct {
	name string
	most int64
}{
	{"index", 1 << 30}, {"config", 16 << 20}, {"config.worktree", 16 << 20}, {"info/exclude", 16 << 20}, {"info/attributes", 16 << 20},
	{"info/sparse-checkout", 16 << 20}, {"HEAD", maxRef}, {"commondir", 64 << 10}, {"gitdir", 64 << 10},
}

func most(path string) int64 {
	for _, m := range mostOf {
		if strings.HasSuffix(filepath.ToSlash(path), "/"+m.name) {
			return m.most
		}
	}
	return 64 << 10
}

// readFile reads a file of git's whole, as readBounded does.
func readFile(path string) ([]byte, error) { return readBounded(path, most(path)) }

// readBounded reads a file of git's, which may be a symbolic link. It never waits for a FIFO and never fills the memory:
// the errors are durable.ErrNotRegular and durable.ErrTooLarge, or what the system said.
func readBounded(path string, most int64) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, err
	case info.IsDir():
		return nil, &os.PathError{Op: "read", Path: path, Err: syscall.EISDIR}
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s: %w", path, durable.ErrNotRegular)
	case info.Size() > most:
		return nil, fmt.Errorf("%s: %w: %d bytes, the limit is %d", path, durable.ErrTooLarge, info.Size(), most)
	}
	return io.ReadAll(io.LimitReader(f, most))
}
