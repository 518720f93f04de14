// Package cmd is the command line: it reads the operating system, connects the packages and prints.
//
// Each verb (a command such as `wfs run`) is a type in a file of its own. Its fields are its flags, its method
// `command` describes it to cobra, and its method `run` opens the session, calls the engine and prints. Code for one
// verb is a method of that verb. Code for several verbs is either a plain function of the values that it uses (a
// repository, a session, a plan), or a method of a small type that app embeds. The type app itself has only the things
// that every verb needs: a work tree and ways to print.
package cmd

import (
	"crypto/rand"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"golang.org/x/term"

	"github.com/wfs-dev/wfs/cmd/internal/present"
	"github.com/wfs-dev/wfs/workspace/system"
)

// Env holds all input from outside: wfs reads the clock, randomness, the environment and the working directory only
// through it, so that tests can replace them.
type Env struct {
	system.Env
	present.Screen
	Args []string // arguments without the program's name
	Exe  string   // path of this program, for `wfs demo`
}

func isTerminal(f *os.File) bool { return term.IsTerminal(int(f.Fd())) }

// System returns the Env of the real process. Tests make their own Env.
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
		Env:  system.Env{Dir: dir, Environ: os.Environ(), Now: time.Now, Rand: rand.Reader, PID: os.Getpid()},
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

// userDir returns the directory that the user is in. When git runs an alias that is a shell command, it starts wfs at
// the root of the work tree, and sets GIT_PREFIX to the subdirectory in which the user called the alias. If `dir` is
// not such a root, GIT_PREFIX is a leftover from before a cd, and is ignored.
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

// parseNow parses WFS_NOW, which pins the clock to a time: RFC 3339, or Unix seconds.
func parseNow(s string) (time.Time, error) {
	if n, err := strconv.ParseInt(s, 10, 64); err == nil {
		return time.Unix(n, 0).UTC(), nil
	}
	return time.Parse(time.RFC3339, s)
}
