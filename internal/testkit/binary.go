package testkit

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strings"
	"sync"
	"testing"
)

const program = "github.com/wfs-dev/wfs/cmd/wfs"

// Wfs is the path of the binary. It is built once in a test process, with the tags of the tests, and with the race
// detector if they have it.
func Wfs(t testing.TB) string {
	t.Helper()
	path, err := built()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

var built = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "wfs-built-")
	if err != nil {
		return "", err
	}
	atEnd(dir)
	flags := buildFlags()
	if err := seeSources(flags); err != nil {
		return "", err
	}
	path := filepath.Join(dir, "wfs")
	_, err = goRuns(append(append([]string{"build", "-o", path}, flags...), program)...)
	return path, err
})

func buildFlags() []string {
	var flags []string
	info, _ := debug.ReadBuildInfo()
	for _, s := range info.Settings {
		if s.Key == "-tags" || s.Key == "-race" {
			flags = append(flags, s.Key+"="+s.Value)
		}
	}
	return flags
}

// seeSources looks at every file that the binary is built of: go keeps results of tests, and knows of those files only
// that the test itself asks for.
func seeSources(flags []string) error {
	const each = `{{if not .Standard}}{{$dir := .Dir}}{{range .GoFiles}}{{$dir}}/{{.}}
{{end}}{{range .EmbedFiles}}{{$dir}}/{{.}}
{{end}}{{end}}`
	out, err := goRuns(append(append([]string{"list", "-deps", "-f", each}, flags...), program)...)
	for _, path := range strings.Fields(out) {
		if _, err := os.Stat(path); err != nil {
			return err
		}
	}
	return err
}

func goRuns(args ...string) (string, error) {
	var errs strings.Builder
	cmd := exec.Command("go", args...)
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		err = fmt.Errorf("go %s: %w\n%s", strings.Join(args, " "), err, errs.String())
	}
	return string(out), err
}
