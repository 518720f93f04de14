// Package cmd is the front desk: it reads the operating system, wires the rooms together and speaks to people. Each
// verb has a file of its own: flags, values, one call, print.
package cmd

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/term"

	"github.com/wfs-dev/wfs/cmd/internal/present"
	"github.com/wfs-dev/wfs/engine"
)

// Env is everything that comes from outside: the one place where the clock, chance, the environment and the working
// directory enter.
type Env struct {
	Args    []string // without the program's name
	Dir     string
	Environ []string
	present.Screen

	Rand io.Reader
	PID  int
	Exe  string // path of this program, for `wfs demo`
}

func isTerminal(f *os.File) bool { return term.IsTerminal(int(f.Fd())) }

// System is the Env of a real process.
func System() Env {
	dir, err := os.Getwd()
	if err != nil {
		dir = "."
	}
	exe, err := os.Executable()
	if err != nil {
		exe = os.Args[0]
	}
	e := Env{
		Args: os.Args[1:], Dir: dir, Environ: os.Environ(), Rand: rand.Reader, PID: os.Getpid(), Exe: exe,
		Screen: present.Screen{Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Now: time.Now,
			StdinTTY: isTerminal(os.Stdin), StdoutTTY: isTerminal(os.Stdout), StderrTTY: isTerminal(os.Stderr)},
	}
	e.Dir = e.userDir(dir)
	if e.StdoutTTY {
		if columns, _, err := term.GetSize(int(os.Stdout.Fd())); err == nil {
			e.Width = columns
		}
	}
	if pinned, err := parseNow(e.get("WFS_NOW")); err == nil {
		e.Now = func() time.Time { return pinned }
	}
	return e
}

// userDir is the directory that the user is in. Git starts a shell alias at the top of the work tree and says in
// GIT_PREFIX from where below it was called. Anywhere else that variable is somebody else's, left over from before a cd.
func (e Env) userDir(dir string) string {
	prefix := filepath.FromSlash(e.get("GIT_PREFIX"))
	if prefix == "" || !filepath.IsLocal(prefix) {
		return dir
	}
	if _, err := os.Lstat(filepath.Join(dir, ".git")); err != nil || !isDir(filepath.Join(dir, prefix)) {
		return dir
	}
	return filepath.Join(dir, prefix)
}

// abs is a path that the user has typed, from the root.
func (e Env) abs(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(e.Dir, path)
}

// parseNow reads WFS_NOW, the pinned clock: RFC 3339, or Unix seconds.
func parseNow(s string) (time.Time, error) {
	if n, err := strconv.ParseInt(s, 10, 64); err == nil {
		return time.Unix(n, 0).UTC(), nil
	}
	return time.Parse(time.RFC3339, s)
}

// day is the day that a time is in, by the clock of this machine.
func (e Env) day(t time.Time) engine.Day {
	t = t.In(e.Now().Location())
	y, m, d := t.Date()
	from := time.Date(y, m, d, 0, 0, 0, 0, t.Location())
	return engine.Day{From: from.Unix(), To: from.AddDate(0, 0, 1).Unix()}
}

// get returns a variable of the environment, "" when it is not set.
func (e Env) get(name string) string {
	value, _ := e.lookup(name)
	return value
}

// lookup is get, and whether the variable is set.
func (e Env) lookup(name string) (value string, set bool) {
	name += "="
	for i := len(e.Environ) - 1; i >= 0; i-- {
		if v, ok := strings.CutPrefix(e.Environ[i], name); ok {
			return v, true
		}
	}
	return "", false
}

// stateDir is where wfs keeps what belongs to the user and not to a repository.
func (e Env) stateDir() (string, error) {
	if d := e.get("XDG_STATE_HOME"); filepath.IsAbs(d) {
		return filepath.Join(d, "wfs"), nil
	}
	home := e.get("HOME")
	if home == "" {
		return "", fmt.Errorf("neither XDG_STATE_HOME nor HOME is set: there is no place to remember what you trust")
	}
	return filepath.Join(home, ".local", "state", "wfs"), nil
}

// tempDir is where runs get temporary directories of their own, "" when there is no such place.
func (e Env) tempDir() string {
	dir, err := e.stateDir()
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "tmp")
}

// cacheFile is a file in the person's cache directory, "" when there is no such place.
func (e Env) cacheFile(name string) string {
	dir := e.get("XDG_CACHE_HOME")
	if !filepath.IsAbs(dir) {
		home := e.get("HOME")
		if !filepath.IsAbs(home) {
			return ""
		}
		dir = filepath.Join(home, ".cache")
	}
	return filepath.Join(dir, "wfs", name)
}

// newID returns n random bytes in hexadecimal.
func (e Env) newID(n int) string {
	b := make([]byte, n)
	if _, err := io.ReadFull(e.Rand, b); err != nil {
		panic(fmt.Sprintf("no randomness: %v", err)) // crypto/rand does not fail on supported systems
	}
	return hex.EncodeToString(b)
}
