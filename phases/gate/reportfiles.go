package gate

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// maxReportFiles limits how many files a glob may match.
const maxReportFiles = 10_000

// reportFiles lists the files below the work tree that match a glob. It skips `.git`, and `node_modules` unless the
// glob names it, and does not follow symbolic links.
func reportFiles(root, glob string) (map[string]fs.FileInfo, error) {
	found := map[string]fs.FileInfo{}
	if glob == "" {
		return found, nil
	}
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			if name == root {
				return err
			}
			return nil // unreadable, or deleted meanwhile
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
		if info, err := d.Info(); err == nil {
			found[filepath.ToSlash(rel)] = info
		}
		return nil
	})
	return found, err
}

// writtenReports lists the files that a run left at $WFS_REPORT, which may be a file or a directory. Empty files do
// not count.
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

// anchored makes a report glob relative to the top: unlike in a guard's pattern, "report.xml" is a single file.
func anchored(glob string) string {
	return "/" + strings.TrimPrefix(strings.TrimPrefix(glob, "./"), "/")
}

// written reports whether a run wrote a report file, given its state before. Comparing contents would not do: a run
// may write the same bytes again.
func written(before, now fs.FileInfo) bool {
	return before == nil || !os.SameFile(before, now) || before.Size() != now.Size() ||
		!before.ModTime().Equal(now.ModTime())
}
