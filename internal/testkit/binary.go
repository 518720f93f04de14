package testkit

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"testing"
)

const program = "github.com/wfs-dev/wfs/cmd/wfs"

// Wfs returns the path of the binary. It is built once per test process, with the build tags of the tests, and with the
// race detector if they have it.
func Wfs(t testing.TB) string { t.Helper(); return binary(t, plain) }

// Failpoints returns the path of a binary that is the same except that it dies where WFS_FAILPOINT says.
func Failpoints(t testing.TB) string { t.Helper(); return binary(t, failpoints) }

// UseFailpoints makes that binary the first wfs on the PATH of this process and its children.
func UseFailpoints(t testing.TB) {
	t.Helper()
	onPath(t, Failpoints(t))
}

// UseWfs makes the binary the first wfs on the PATH of this process and its children.
func UseWfs(t testing.TB) {
	t.Helper()
	onPath(t, Wfs(t))
}

func onPath(t testing.TB, wfs string) {
	t.Helper()
	shared.Lock()
	defer shared.Unlock()
	dir, path := filepath.Dir(wfs), os.Getenv("PATH")
	if strings.HasPrefix(path, dir+string(filepath.ListSeparator)) {
		return
	}
	if err := os.Setenv("PATH", dir+string(filepath.ListSeparator)+path); err != nil {
		t.Fatal(err)
	}
}

func binary(t testing.TB, build func() (string, error)) string {
	t.Helper()
	path, err := build()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

var (
	plain      = sync.OnceValues(func() (string, error) { return build("") })
	failpoints = sync.OnceValues(func() (string, error) { return build("failpoints") })
)

// build builds the binary with one more tag. WFS_OVERLAY names a file for go build -overlay, with which a test of the
// suites replaces files of wfs by broken ones.
func build(tag string) (string, error) {
	dir, err := os.MkdirTemp("", "wfs-built-")
	if err != nil {
		return "", err
	}
	atEnd(dir)
	flags := buildFlags(tag)
	if err := seeSources(flags); err != nil {
		return "", err
	}
	if overlay := os.Getenv("WFS_OVERLAY"); overlay != "" {
		flags = append(flags, "-overlay="+overlay)
	}
	// go run caches the linked binary, so the next package of tests gets a copy.
	path := filepath.Join(dir, "wfs")
	_, err = goRuns(append(append([]string{"run", "-exec=cp"}, flags...), program, path)...)
	return path, err
}

func buildFlags(tag string) []string {
	var flags []string
	info, _ := debug.ReadBuildInfo()
	for _, s := range info.Settings {
		switch s.Key {
		case "-race":
			flags = append(flags, s.Key+"="+s.Value)
		case "-tags":
			tag = strings.TrimSuffix(s.Value+","+tag, ",")
		}
	}
	return append(flags, "-tags="+tag)
}

// seeSources looks at every source file of the binary: go caches test results, and only takes into account files that
// the test itself opens.
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
	if !slices.Contains(args, "-race=true") {
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0") // as in releases; it also starts faster
	}
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		err = fmt.Errorf("go %s: %w\n%s", strings.Join(args, " "), err, errs.String())
	}
	return string(out), err
}
