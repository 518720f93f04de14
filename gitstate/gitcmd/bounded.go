package gitcmd

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"syscall"

	"github.com/wfs-dev/wfs/internal/durable"
)

// MaxPackedRefs bounds that file, in bytes: two million refs.
const MaxPackedRefs = 256 << 20

// MaxRef bounds the file of a ref, in bytes.
const MaxRef = 4096

// ReadFile reads a file of git's whole that may have up to 16 MiB, as readBounded does.
func ReadFile(path string) ([]byte, error) { return ReadBounded(path, 16<<20) }

// ReadBounded reads a file of git's, which may be a symbolic link. It never waits for a FIFO and never fills
// the memory: the errors are durable.ErrNotRegular and durable.ErrTooLarge, or what the system said.
func ReadBounded(path string, most int64) ([]byte, error) {
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
	b := bytes.NewBuffer(make([]byte, 0, info.Size()+bytes.MinRead))
	_, err = b.ReadFrom(io.LimitReader(f, most))
	return b.Bytes(), err
}
