// Package system has the parts of the operating system that commands use, so that tests can replace them.
package system

import (
	"encoding/hex"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/wfs-dev/wfs/engine/decide"
)

// Env has the time, the environment and the working directory that commands use. Package cmd reads it from the system;
// tests provide their own.
type Env struct {
	Dir     string // working directory
	Environ []string
	Now     func() time.Time
	Rand    io.Reader
	PID     int
}

// Abs returns a typed path as an absolute one.
func (e Env) Abs(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(e.Dir, path)
}

// Day returns the start and the end of the day that contains a time, in this machine's time zone.
func (e Env) Day(t time.Time) decide.Day {
	t = t.In(e.Now().Location())
	y, m, d := t.Date()
	from := time.Date(y, m, d, 0, 0, 0, 0, t.Location())
	return decide.Day{From: from.Unix(), To: from.AddDate(0, 0, 1).Unix()}
}

// Get returns the value of an environment variable, "" if it is not set.
func (e Env) Get(name string) string {
	value, _ := e.Lookup(name)
	return value
}

// Lookup returns the value of an environment variable, and whether it is set.
func (e Env) Lookup(name string) (value string, set bool) {
	name += "="
	for i := len(e.Environ) - 1; i >= 0; i-- {
		if v, ok := strings.CutPrefix(e.Environ[i], name); ok {
			return v, true
		}
	}
	return "", false
}

// userDir returns the directory for wfs's files of one kind: below the directory that `variable` names if that is
// absolute, else below HOME. It returns "" if neither variable is set.
func (e Env) userDir(variable, below string) string {
	if d := e.Get(variable); filepath.IsAbs(d) {
		return filepath.Join(d, "wfs")
	}
	if home := e.Get("HOME"); filepath.IsAbs(home) {
		return filepath.Join(home, below, "wfs")
	}
	return ""
}

// StateDir returns the directory for state that belongs to the user and not to a repository, such as trust.
func (e Env) StateDir() (string, error) {
	if dir := e.userDir("XDG_STATE_HOME", ".local/state"); dir != "" {
		return dir, nil
	}
	return "", fmt.Errorf("neither XDG_STATE_HOME nor HOME is set: there is no place to remember what you trust")
}

// TempDir returns the directory for temporary directories of runs, "" if HOME and XDG_STATE_HOME are not set.
func (e Env) TempDir() string { return fileIn(e.userDir("XDG_STATE_HOME", ".local/state"), "tmp") }

// CacheFile returns the path of a file in the user's cache directory, "" if HOME and XDG_CACHE_HOME are not set.
func (e Env) CacheFile(name string) string {
	return fileIn(e.userDir("XDG_CACHE_HOME", ".cache"), name)
}

// ConfigFile returns the path of the user's configuration for all repositories, "" if HOME and XDG_CONFIG_HOME are not
// set.
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
