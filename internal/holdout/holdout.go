// Package holdout stores hold-out tests: tests that the agent never sees, because wfs adds them only to the clean
// checkout in which it judges the work.
package holdout

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// The maximum size of a pack. Tests are small, so a directory with more is probably not the one that the user meant.
const (
	MaxFiles = 5000
	MaxBytes = 64 << 20
)

// File is a file in a pack. Path is relative to the top of the work tree, with slashes.
type File struct {
	Path string
	Exec bool
	Data []byte
}

// Pack is a set of hold-out tests: files, sorted by path.
type Pack []File

// skipped lists the names of directories that never contain tests.
var skipped = strings.Fields(".git .wfs .workflow __pycache__ .pytest_cache node_modules")

// ReadDir makes a pack of the files in a directory. It skips the directories of git, of wfs and of caches. It returns
// an error if it finds a symbolic link or another irregular file.
func ReadDir(dir string) (Pack, error) {
	var files []File
	size := int64(0)
	top := os.DirFS(dir)
	err := fs.WalkDir(top, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case slices.Contains(skipped, d.Name()) && d.IsDir():
			return fs.SkipDir
		case d.IsDir() || slices.Contains(skipped, d.Name()):
			return nil
		case !d.Type().IsRegular():
			return fmt.Errorf("%s is not a regular file", name)
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		if size += info.Size(); size > MaxBytes {
			return tooLarge()
		}
		data, err := fs.ReadFile(top, name)
		files = append(files, File{Path: name, Exec: info.Mode()&0o111 != 0, Data: data})
		return err
	})
	if err != nil {
		return nil, err
	}
	return New(files)
}

func tooLarge() error { return fmt.Errorf("there are more than %d MB", MaxBytes>>20) }

// New makes a pack of files. It returns an error if they cannot be a pack.
func New(files []File) (Pack, error) {
	var p Pack
	size := 0
	for _, f := range files {
		if slices.ContainsFunc(strings.Split(f.Path, "/"), func(part string) bool { return slices.Contains(skipped, part) }) {
			continue
		}
		if size += len(f.Data); size > MaxBytes {
			return nil, tooLarge()
		}
		p = append(p, f)
	}
	if len(p) > MaxFiles {
		return nil, fmt.Errorf("there are more than %d files", MaxFiles)
	}
	slices.SortFunc(p, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	return p, p.check()
}

// check returns an error if the pack is empty, is not sorted, has a path twice, or has a path that leads out of the
// work tree.
func (p Pack) check() error {
	if len(p) == 0 {
		return errors.New("there is no file")
	}
	for i, f := range p {
		if !filepath.IsLocal(filepath.FromSlash(f.Path)) || path.Clean(f.Path) != f.Path || i > 0 && p[i-1].Path >= f.Path {
			return fmt.Errorf("%q is not a file path", f.Path)
		}
	}
	return nil
}

// Digest returns a fingerprint of the pack: the SHA-256 of all names, modes and contents, in hexadecimal digits.
func (p Pack) Digest() string {
	h := sha256.New()
	for _, f := range p {
		fmt.Fprintf(h, "%d %s %t %d ", len(f.Path), f.Path, f.Exec, len(f.Data))
		h.Write(f.Data)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// Encode returns the pack as one compressed file. Compressed, its tests are not found by a text search.
func (p Pack) Encode() ([]byte, error) {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	t := tar.NewWriter(z)
	for _, f := range p {
		mode := int64(0o644)
		if f.Exec {
			mode = 0o755
		}
		if err := t.WriteHeader(&tar.Header{Name: f.Path, Mode: mode, Size: int64(len(f.Data)), Typeflag: tar.TypeReg,
			Format: tar.FormatPAX}); err != nil {
			return nil, err
		}
		if _, err := t.Write(f.Data); err != nil {
			return nil, err
		}
	}
	err := errors.Join(t.Close(), z.Close())
	return b.Bytes(), err
}

// Decode returns the pack that Encode has encoded.
func Decode(data []byte) (Pack, error) {
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	var p Pack
	left := int64(MaxBytes)
	for t := tar.NewReader(z); ; {
		h, err := t.Next()
		if errors.Is(err, io.EOF) {
			return p, p.check()
		}
		if err != nil {
			return nil, err
		}
		if h.Typeflag != tar.TypeReg || h.Size > left || len(p) == MaxFiles {
			return nil, fmt.Errorf("%q does not belong here", h.Name)
		}
		left -= h.Size
		text, err := io.ReadAll(t)
		if err != nil {
			return nil, err
		}
		p = append(p, File{Path: h.Name, Exec: h.Mode&0o111 != 0, Data: text})
	}
}

// Lay writes the pack's files into the directory `dir`, and overwrites existing ones. It removes everything
// that is in the way, also symbolic links, so that no link can lead it out of `dir`.
func (p Pack) Lay(dir string) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }()
	for _, f := range p {
		if err := lay(root, f); err != nil {
			return err
		}
	}
	return nil
}

func lay(root *os.Root, f File) error {
	parts := strings.Split(f.Path, "/")
	for i := 1; i < len(parts); i++ {
		name := filepath.Join(parts[:i]...)
		if info, err := root.Lstat(name); err == nil && info.IsDir() {
			continue
		}
		if err := root.RemoveAll(name); err != nil {
			return err
		}
		if err := root.Mkdir(name, 0o755); err != nil {
			return err
		}
	}
	name := filepath.FromSlash(f.Path)
	if err := root.RemoveAll(name); err != nil {
		return err
	}
	mode := fs.FileMode(0o644)
	if f.Exec {
		mode = 0o755
	}
	return root.WriteFile(name, f.Data, mode)
}
