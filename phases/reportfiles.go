package phases

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// stamp tells whether a report file was written by a run: it is compared with the one from before the run. Content alone
// would not do, because a run may well write the same bytes again.
type stamp struct {
	size    int64
	written time.Time
	file    fileID
	sum     [sha256.Size]byte
}

// maxReportFiles bounds how many files a glob may find.
const maxReportFiles = 10_000

// reportStamps looks at every file below the work tree that a glob matches. Nothing in `.git`, and nothing in
// `node_modules` unless the glob names it, is looked at. Symbolic links are not followed.
func reportStamps(root, glob string) (map[string]stamp, error) {
	found := map[string]stamp{}
	if glob == "" {
		return found, nil
	}
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			if name == root {
				return err
			}
			return nil // unreadable, or gone while we look
		}
		if d.IsDir() {
			if base := d.Name(); base == ".git" || base == "node_modules" && !strings.Contains(glob, base) {
				return filepath.SkipDir
			}
			return nil
		}
		rel, err := filepath.Rel(root, name)
		if err != nil || !d.Type().IsRegular() || !matchGlob(anchored(glob), filepath.ToSlash(rel)) {
			return nil
		}
		if len(found) >= maxReportFiles {
			return fmt.Errorf("more than %d files match the report glob %q", maxReportFiles, glob)
		}
		s, err := stampOf(name)
		if err == nil {
			found[filepath.ToSlash(rel)] = s
		}
		return nil
	})
	return found, err
}

// writtenReports lists what a run left at $WFS_REPORT: the file, or the files below the directory that it made of it.
// Empty files count as none.
func writtenReports(name string) ([]string, error) {
	var files []string
	err := filepath.WalkDir(name, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if info, err := d.Info(); err == nil && info.Mode().IsRegular() && info.Size() > 0 && len(files) < maxReportFiles {
			files = append(files, file)
		}
		return nil
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return files, err
}

// anchored makes a report glob relative to the top: unlike a guard's pattern, "report.xml" is one file.
func anchored(glob string) string {
	return "/" + strings.TrimPrefix(strings.TrimPrefix(glob, "./"), "/")
}

func stampOf(name string) (stamp, error) {
	f, err := os.Open(name)
	if err != nil {
		return stamp{}, err
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return stamp{}, err
	}
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return stamp{}, err
	}
	s := stamp{size: info.Size(), written: info.ModTime(), file: idOf(info)}
	h.Sum(s.sum[:0])
	return s, nil
}
