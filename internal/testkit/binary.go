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

// Wfs returns the path of the wfs binary for tests. It is built once per test process, with the build tags of the
// tests, and with the race detector if the tests have it.
func Wfs(t testing.TB) string { t.Helper(); return binary(t, plain) }

// Failpoints returns the path of a wfs binary that is built with the tag "failpoints", so that it kills itself at the
// point named in WFS_FAILPOINT.
func Failpoints(t testing.TB) string { t.Helper(); return binary(t, failpoints) }

// UseFailpoints puts the binary of Failpoints first on the PATH of this process and its children.
func UseFailpoints(t testing.TB) {
	t.Helper()
	onPath(t, Failpoints(t))
}

// UseWfs puts the binary of Wfs first on the PATH of this process and its children.
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

// build builds the binary with an additional build tag, and returns its path. If WFS_OVERLAY is set, it is the name of
// a file for `go build -overlay`: a test that checks the test suites replaces files of wfs by broken ones with it.
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
	// `go run` caches the linked binary and `go build` does not, so test processes of other packages only copy it.
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

// seeSources looks at every source file of the binary. Go caches the results of tests, and notices only changes of
// files that the test process itself has looked at.
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
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0") // as in releases; such a binary also starts faster
	}
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		err = fmt.Errorf("go %s: %w\n%s", strings.Join(args, " "), err, errs.String())
	}
	return string(out), err
}
