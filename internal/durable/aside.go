package durable

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// asideMark is between the name of a damaged file and a number, in the new name of the file.
const asideMark = ".corrupt-"

// keptAside is how many damaged files of one name are kept.
const keptAside = 3

// IsAside reports whether a name is one of the new names that MoveAside and KeepAside give to damaged files.
func IsAside(name string) bool {
	_, _, ok := strings.Cut(name, asideMark)
	return ok
}

// MoveAside durably renames the damaged file `path` to "<path>.corrupt-<n>", and returns the new path. If more than
// three such files exist, it removes the oldest. If `path` does not exist, it returns an error.
func MoveAside(path string) (string, error) { return aside(path, os.Rename) }

// KeepAside does the same as MoveAside, but a regular file stays at `path` too, so that the caller can replace it
// atomically.
func KeepAside(path string) (string, error) {
	if info, err := os.Lstat(path); err == nil && !info.Mode().IsRegular() {
		return MoveAside(path)
	}
	to, err := aside(path, os.Link)
	if err != nil && !errors.Is(err, fs.ErrNotExist) { // the file system may have no hard links
		return MoveAside(path)
	}
	return to, err
}

func aside(path string, how func(from, to string) error) (string, error) {
	dir, name := filepath.Split(path)
	dir = filepath.Clean(dir)
	entries, err := os.ReadDir(dir)
	if err != nil {
		return "", err
	}
	var kept []int
	for _, e := range entries {
		if digits, ok := strings.CutPrefix(e.Name(), name+asideMark); ok {
			if n, err := strconv.Atoi(digits); err == nil && n > 0 {
				kept = append(kept, n)
			}
		}
	}
	slices.Sort(kept)
	next := 1
	if len(kept) > 0 {
		next = kept[len(kept)-1] + 1
	}
	to := func(n int) string { return fmt.Sprintf("%s%s%d", path, asideMark, n) }
	if err := how(path, to(next)); err != nil {
		return "", err
	}
	Hit(AsideMoved)
	for len(kept) >= keptAside {
		_ = os.RemoveAll(to(kept[0])) // an error is ignored: it only leaves an old file
		kept = kept[1:]
	}
	return to(next), SyncDir(dir)
}
