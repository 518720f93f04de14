package gate

import (
	"io"
	"os"
	"path/filepath"
)

// MaxRead limits how much of a source file is read, in bytes. A larger test file is judged by its name only.
const MaxRead = 1 << 20

// Read returns the contents of a regular file of the tree, up to MaxRead bytes; nil if there is no such file. It does
// not follow links out of the tree.
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
