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

// asideMark stands between the name of a damaged file and its number.
const asideMark = ".corrupt-"

// keptAside is the number of damaged files of one name to keep.
const keptAside = 3

// IsAside reports whether a name is one that MoveAside or KeepAside gives.
func IsAside(name string) bool {
	_, _, ok := strings.Cut(name, asideMark)
	return ok
}

// MoveAside renames path to "<path>.corrupt-<n>", durably, and returns the new name. It removes the oldest such files
// if there are more than three. It is an error if path does not exist.
func MoveAside(path string) (string, error) { return aside(path, os.Rename) }

// KeepAside is MoveAside that also leaves a regular file in place, so that it can be replaced atomically.
func KeepAside(path string) (string, error) {
	if info, err := os.Lstat(path); err == nil && !info.Mode().IsRegular() {
		return MoveAside(path)
	}
	to, err := aside(path, os.Link)
	if err != nil && !errors.Is(err, fs.ErrNotExist) { // the file system has no hard links
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
		_ = os.RemoveAll(to(kept[0])) // only cleanup
		kept = kept[1:]
	}
	return to(next), SyncDir(dir)
}
