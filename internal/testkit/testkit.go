// Package testkit helps tests that run wfs. It builds the wfs binary, creates repositories that do not depend on the
// user's environment, copies them, and runs commands in them.
package testkit

import (
	"errors"
	"flag"
	"hash/fnv"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// GitConfig is the content of the only git configuration file that commands with Env read.
const GitConfig = "[user]\n\tname = T\n\temail = t@example.com\n[init]\n\tdefaultBranch = main\n[gc]\n\tauto = 0\n"

// Env returns the environment for commands in a repository below `top`. The home directory is `top`, and git reads no
// configuration of the user or machine, only `top`/gitconfig.
func Env(top string) []string {
	return append(os.Environ(), "HOME="+top, "XDG_CONFIG_HOME="+top+"/config", "XDG_STATE_HOME="+top+"/state",
		"GIT_CONFIG_NOSYSTEM=1",
		"GIT_CONFIG_GLOBAL="+top+"/gitconfig", "LC_ALL=C", "TZ=UTC",
		"GORACE=atexit_sleep_ms=0") // with the race detector, each wfs would end a second later without this
}

// Run runs a command in `dir`, and returns its output and exit code. The exit code is -1 if a signal ended the command.
func Run(t testing.TB, dir string, env []string, args ...string) (string, int) {
	t.Helper()
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Dir, cmd.Env = dir, env
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatalf("%s: %v", strings.Join(args, " "), err)
	}
	return string(out), cmd.ProcessState.ExitCode()
}

// WriteAll writes files, given by their paths below `dir`.
func WriteAll(t testing.TB, dir string, files map[string]string) {
	t.Helper()
	for _, name := range slices.Sorted(maps.Keys(files)) {
		Write(t, dir, name, files[name])
	}
}

// Write writes a file at the path `name` below `dir`, and creates missing directories.
func Write(t testing.TB, dir, name, text string) {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

// AllRows reports whether tests should try all rows of their tables, however long that takes.
func AllRows() bool { return os.Getenv("WFS_ROWS") == "all" }

// Sample makes a long table quick: it skips the test of a row, unless the row is in the sample. A hash of the test's
// name decides which rows are. By default the sample is a sixth of the rows, with WFS_ROWS=0 to 3 a quarter (the four
// quarters together are all rows), and with WFS_ROWS=all every row. A row that is named on the command line is always
// tried.
func Sample(t testing.TB) {
	t.Helper()
	quarter, err := strconv.Atoi(os.Getenv("WFS_ROWS"))
	switch n := nameSum(t.Name()); {
	case AllRows(), byName(), err == nil && n%4 == quarter, err != nil && n%6 == 0:
	default:
		t.Skip("a part of the rows is tried; WFS_ROWS=all tries them all, as .ci/full does")
	}
}

// Long skips a test that takes seconds, unless WFS_ROWS is set (.ci/run sets it) or -run selects tests.
func Long(t testing.TB) {
	t.Helper()
	if os.Getenv("WFS_ROWS") == "" && flag.Lookup("test.run").Value.String() == "" {
		t.Skip(".ci/run runs it, and so does WFS_ROWS=all")
	}
}

// SampleStory skips five of six stories, chosen by a hash of their names. It skips none if WFS_ROWS is set (.ci/run
// sets it), or if the command line names a story.
func SampleStory(t interface{ Skip(...any) }, name string) {
	if os.Getenv("WFS_ROWS") == "" && !byName() && nameSum(name)%6 > 0 {
		t.Skip("a sixth of the stories is played; .ci/run plays them all, and so does WFS_ROWS=all")
	}
}

// byName reports whether -run on the command line names subtests, as in go test -run TestScripts/undo.
func byName() bool {
	run := flag.Lookup("test.run")
	return run != nil && strings.Contains(run.Value.String(), "/")
}

func nameSum(name string) int {
	sum := fnv.New32a()
	sum.Write([]byte(name))
	return int(sum.Sum32() % 12)
}

// PastShims puts the directory of the real Python before that of a version manager (pyenv, for example), whose python3
// is a script that starts a dozen programs before each Python.
func PastShims() {
	shim, err := exec.LookPath("python3")
	if err != nil {
		return
	}
	real, err := exec.Command(shim, "-c", "import sys; print(sys.executable)").Output()
	dirs := filepath.SplitList(os.Getenv("PATH"))
	at := slices.Index(dirs, filepath.Dir(shim))
	if dir := filepath.Dir(strings.TrimSpace(string(real))); err == nil && at >= 0 && !slices.Contains(dirs, dir) {
		_ = os.Setenv("PATH", strings.Join(slices.Insert(dirs, at, dir), string(filepath.ListSeparator)))
	}
}

// Temp creates a directory in `parent` ("" is the default) that is removed after the test, and returns its path.
func Temp(t testing.TB, parent string) string {
	t.Helper()
	dir, err := os.MkdirTemp(parent, "wfs-copy-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { RemoveAll(t, dir) })
	return dir
}

// RemoveAll removes a directory, even if directories in it are read-only.
func RemoveAll(t testing.TB, dir string) {
	t.Helper()
	if err := removeAll(dir); err != nil {
		t.Error(err)
	}
}

func removeAll(dir string) error {
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if d != nil && d.IsDir() {
			_ = os.Chmod(path, 0o700)
		}
		return nil
	})
	return os.RemoveAll(dir)
}

// Memory returns a directory that is in memory and from which programs can be executed, or "" if the system has none.
var Memory = sync.OnceValue(func() string {
	const dir = "/dev/shm"
	try, err := os.CreateTemp(dir, "wfs-try-")
	if err != nil {
		return ""
	}
	defer os.Remove(try.Name())
	_, err = try.WriteString("#!/bin/sh\n")
	if errors.Join(err, try.Chmod(0o700), try.Close()) != nil || exec.Command(try.Name()).Run() != nil {
		return ""
	}
	return dir
})

// roomy reports whether the file system of a directory has 4 GB free.
func roomy(dir string) bool {
	out, err := exec.Command("df", "-kP", dir).Output()
	fields := strings.Fields(string(out))
	if err != nil || len(fields) < 4 {
		return false
	}
	free, err := strconv.Atoi(fields[len(fields)-3])
	return err == nil && free > 4_000_000
}

var shared struct {
	sync.Mutex
	dirs []string
}

func atEnd(dir string) {
	shared.Lock()
	defer shared.Unlock()
	shared.dirs = append(shared.dirs, dir)
}

// Main runs all tests of a package, and then removes the directories that they share. It puts temporary directories in
// memory, if there is room and TMPDIR is not set: tests create thousands of repositories, and none of them needs to
// survive a crash.
func Main(m interface{ Run() int }) int {
	if memory := Memory(); memory != "" && os.Getenv("TMPDIR") == "" && roomy(memory) {
		if dir, err := os.MkdirTemp(memory, "wfs-tests-"); err == nil && os.Setenv("TMPDIR", dir) == nil {
			atEnd(dir)
		}
	}
	flag.Parse()
	typed := false
	flag.Visit(func(f *flag.Flag) { typed = typed || f.Name == "test.parallel" })
	if !typed { // more tests at once than processors, because most tests wait for programs
		_ = flag.Set("test.parallel", strconv.Itoa(2*runtime.GOMAXPROCS(0)))
	}
	defer func() {
		for _, dir := range shared.dirs {
			_ = removeAll(dir)
		}
	}()
	return m.Run()
}
