package workspace

import (
	"encoding/hex"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/wfs-dev/wfs/engine/decide"
)

// Env is the part of a process's environment that commands use. Package cmd reads it from the system; tests provide
// their own.
type Env struct {
	Dir     string // working directory
	Environ []string
	Now     func() time.Time
	Rand    io.Reader
	PID     int
}

// Abs makes a typed path absolute.
func (e Env) Abs(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(e.Dir, path)
}

// Day returns the day that contains a time, in this machine's time zone.
func (e Env) Day(t time.Time) decide.Day {
	t = t.In(e.Now().Location())
	y, m, d := t.Date()
	from := time.Date(y, m, d, 0, 0, 0, 0, t.Location())
	return decide.Day{From: from.Unix(), To: from.AddDate(0, 0, 1).Unix()}
}

// Get returns a variable of the environment, "" when it is not set.
func (e Env) Get(name string) string {
	value, _ := e.Lookup(name)
	return value
}

// Lookup is Get, and reports whether the variable is set.
func (e Env) Lookup(name string) (value string, set bool) {
	name += "="
	for i := len(e.Environ) - 1; i >= 0; i-- {
		if v, ok := strings.CutPrefix(e.Environ[i], name); ok {
			return v, true
		}
	}
	return "", false
}

// userDir returns a directory for files of the user: below the variable if that is an absolute path, else below HOME;
// "" if neither is set.
func (e Env) userDir(variable, below string) string {
	if d := e.Get(variable); filepath.IsAbs(d) {
		return filepath.Join(d, "wfs")
	}
	if home := e.Get("HOME"); filepath.IsAbs(home) {
		return filepath.Join(home, below, "wfs")
	}
	return ""
}

// StateDir returns the directory for state that belongs to the user and not to a repository.
func (e Env) StateDir() (string, error) {
	if dir := e.userDir("XDG_STATE_HOME", ".local/state"); dir != "" {
		return dir, nil
	}
	return "", fmt.Errorf("neither XDG_STATE_HOME nor HOME is set: there is no place to remember what you trust")
}

// TempDir returns the directory for temporary directories of runs, "" if there is no place for it.
func (e Env) TempDir() string { return fileIn(e.userDir("XDG_STATE_HOME", ".local/state"), "tmp") }

// CacheFile returns the path of a file in the user's cache directory, "" if there is no place for it.
func (e Env) CacheFile(name string) string {
	return fileIn(e.userDir("XDG_CACHE_HOME", ".cache"), name)
}

// ConfigFile returns the path of the user's configuration for all repositories, "" if there is no place for it.
func (e Env) ConfigFile() string {
	return fileIn(e.userDir("XDG_CONFIG_HOME", ".config"), "config.yaml")
}

func fileIn(dir, name string) string {
	if dir == "" {
		return ""
	}
	return filepath.Join(dir, name)
}

// NewID returns n random bytes in hexadecimal.
func (e Env) NewID(n int) string {
	b := make([]byte, n)
	if _, err := io.ReadFull(e.Rand, b); err != nil {
		panic(fmt.Sprintf("no randomness: %v", err)) // crypto/rand does not fail on supported systems
	}
	return hex.EncodeToString(b)
}
