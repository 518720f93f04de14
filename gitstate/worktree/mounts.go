package worktree

import (
	"bufio"
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/wfs-dev/wfs/gitstate/gitcmd"
	"github.com/wfs-dev/wfs/internal/durable"
)

// MountedError means that a directory cannot be removed because a file system or another directory is mounted in it:
// the files there would be deleted, too.
type MountedError struct{ Path string }

func (e *MountedError) Error() string {
	return fmt.Sprintf("%s is mounted from elsewhere, and what it holds would be deleted there", e.Path)
}

// NotMounted returns a *MountedError if a directory, or a directory below it, is a mount point. It does not follow
// symbolic links below dir. A missing directory is not an error.
func NotMounted(dir string) error {
	real, err := filepath.EvalSymlinks(dir)
	if gitcmd.Absent(err) {
		return nil
	}
	if err != nil {
		return err
	}
	if table, err := os.ReadFile("/proc/self/mountinfo"); err == nil { // Linux
		if at := mountIn(table, real); at != "" {
			return &MountedError{at}
		}
		return nil
	}
	top, err := os.Lstat(real)
	if err != nil {
		return err
	}
	return filepath.WalkDir(real, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return nil // an unreadable directory cannot be removed anyway
		}
		if info, err := d.Info(); err == nil && gitcmd.DeviceOf(info) != gitcmd.DeviceOf(top) {
			return &MountedError{path}
		}
		return nil
	})
}

// mountIn returns the first mount point in or below a directory, "" if there is none. table is the content of mountinfo
// (proc(5)): the fifth field of a line is the mount point, with octal escapes for blanks and similar characters.
func mountIn(table []byte, dir string) string {
	lines := bufio.NewScanner(bytes.NewReader(table))
	for lines.Scan() {
		f := strings.Fields(lines.Text())
		if len(f) < 5 {
			continue
		}
		at := strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`).Replace(f[4])
		if durable.Inside(at, dir) {
			return at
		}
	}
	return ""
}
