package gate

import (
	"io"
	"os"
	"path/filepath"
)

// MaxRead bounds what is read of one source file. A test file beyond it is judged by its name alone.
const MaxRead = 1 << 20

// Read returns a file of the work tree, nil when it is none. Links are not followed out of the tree.
func (j *Runner) Read(name string) []byte {
	root, err := os.OpenRoot(j.Root)
	if err != nil {
		return nil
	}
	defer func() { _ = root.Close() }()
	name = filepath.FromSlash(name)
	if info, err := root.Lstat(name); err != nil || !info.Mode().IsRegular() {
		return nil
	}
	f, err := root.Open(name)
	if err != nil {
		return nil
	}
	defer func() { _ = f.Close() }()
	data, _ := io.ReadAll(io.LimitReader(f, MaxRead))
	return data
}
