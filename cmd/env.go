// Package cmd is the command line: it reads the operating system, connects the packages and prints.
//
// Each verb is a type in a file of its own: its fields are its flags, command describes it to cobra, and run opens the
// session, calls the engine and prints. Code for one verb is a method of it. Code for several verbs is a plain function
// of the values that it uses (a repository, a session, a plan), or a method of a small type that app embeds. app itself
// has only the needs of every verb: a work tree and ways to print.
package cmd

import (
	"crypto/rand"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"golang.org/x/term"

	"github.com/wfs-dev/wfs/cmd/internal/present"
	"github.com/wfs-dev/wfs/workspace"
)

// Env is all input from outside: only here do the clock, randomness, the environment and the working directory enter.
type Env struct {
	workspace.Env
	present.Screen
	Args []string // without the program's name
	Exe  string   // path of this program, for `wfs demo`
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
		Env:  workspace.Env{Dir: dir, Environ: os.Environ(), Now: time.Now, Rand: rand.Reader, PID: os.Getpid()},
		Args: os.Args[1:], Exe: exe,
		Screen: present.Screen{Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
			StdinTTY: isTerminal(os.Stdin), StdoutTTY: isTerminal(os.Stdout), StderrTTY: isTerminal(os.Stderr)},
	}
	e.Dir = e.userDir(dir)
	if e.StdoutTTY {
		if columns, _, err := term.GetSize(int(os.Stdout.Fd())); err == nil {
			e.Width = columns
		}
	}
	if pinned, err := parseNow(e.Get("WFS_NOW")); err == nil {
		e.Now = func() time.Time { return pinned }
	}
	return e
}

// userDir is the directory that the user is in. Git runs a shell alias at the root of the work tree, and sets
// GIT_PREFIX to the subdirectory where the alias was called. In any other directory that variable is left over from
// before a cd, and ignored.
func (e Env) userDir(dir string) string {
	prefix := filepath.FromSlash(e.Get("GIT_PREFIX"))
	if prefix == "" || !filepath.IsLocal(prefix) {
		return dir
	}
	if _, err := os.Lstat(filepath.Join(dir, ".git")); err != nil || !isDir(filepath.Join(dir, prefix)) {
		return dir
	}
	return filepath.Join(dir, prefix)
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// parseNow parses WFS_NOW, the pinned clock: RFC 3339, or Unix seconds.
func parseNow(s string) (time.Time, error) {
	if n, err := strconv.ParseInt(s, 10, 64); err == nil {
		return time.Unix(n, 0).UTC(), nil
	}
	return time.Parse(time.RFC3339, s)
}
