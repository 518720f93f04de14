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

// asideMark stands between the name of a damaged file and the number under which it is kept.
const asideMark = ".corrupt-"

// keptAside is how many damaged files of one name are kept.
const keptAside = 3

// IsAside reports whether a name is that of something which was moved aside.
func IsAside(name string) bool {
	_, _, ok := strings.Cut(name, asideMark)
	return ok
}

// MoveAside gives whatever is at path the name "<path>.corrupt-<n>", durably, and returns that name. The oldest go when
// there are more than three. Nothing at path is an error.
func MoveAside(path string) (string, error) { return aside(path, os.Rename) }

// KeepAside is MoveAside that leaves a regular file where it is as well, so that it can be replaced at once.
func KeepAside(path string) (string, error) {
	if info, err := os.Lstat(path); err == nil && !info.Mode().IsRegular() {
		return MoveAside(path)
	}
	to, err := aside(path, os.Link)
	if err != nil && !errors.Is(err, fs.ErrNotExist) { // no hard links here
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
		_ = os.RemoveAll(to(kept[0])) // only tidiness
		kept = kept[1:]
	}
	return to(next), SyncDir(dir)
}
