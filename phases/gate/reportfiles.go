package gate

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// maxReportFiles limits how many report files a gate may have.
const maxReportFiles = 10_000

// reportFiles returns the files below root that match a glob, by path. It skips `.git`, and it skips `node_modules`
// unless the glob contains that name. It does not follow symbolic links.
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
			return nil // unreadable, or deleted in the meantime
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

// writtenReports lists the files that a run left at the path of $WFS_REPORT, which may be a file or a directory. It
// leaves out empty files.
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

// anchored makes a report glob relative to the top, so that "report.xml" is a single file. In the pattern of a guard
// it would match at any depth.
func anchored(glob string) string {
	return "/" + strings.TrimPrefix(strings.TrimPrefix(glob, "./"), "/")
}

// written reports whether a run wrote a report file, given the file's state before and after. It does not compare
// contents, because a run may write the same bytes again.
func written(before, now fs.FileInfo) bool {
	return before == nil || !os.SameFile(before, now) || before.Size() != now.Size() ||
		!before.ModTime().Equal(now.ModTime())
}
