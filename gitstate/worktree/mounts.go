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

// MountedError says that a file system, or a directory of another place, is mounted in a directory that was to
// be removed: with it, what is there would be deleted.
type MountedError struct{ Path string }

func (e *MountedError) Error() string {
	return fmt.Sprintf("%s is mounted from elsewhere, and what it holds would be deleted there", e.Path)
}

// NotMounted returns a *MountedError when a directory that is there, or something below it, is the place of a
// mount. Links are not followed.
func NotMounted(dir string) error {
	real, err := filepath.EvalSymlinks(dir)
	if gitcmd.Absent(err) {
		return nil
	}
	if err != nil {
		return err
	}
	if table, err := os.ReadFile("/proc/self/mountinfo"); err == nil { // on Linux
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
			return nil // what cannot be read is not removed either
		}
		if info, err := d.Info(); err == nil && gitcmd.DeviceOf(info) != gitcmd.DeviceOf(top) {
			return &MountedError{path}
		}
		return nil
	})
}

// mountIn returns the first place of a mount in a directory, by the text of mountinfo (proc(5)): the fifth field is the
// place, in which blanks and the like are octal.
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
