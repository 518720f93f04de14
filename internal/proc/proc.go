// Package proc is the only user of os/exec in wfs. It runs short commands and returns their output. It also runs
// untrusted programs, which may never end, print too much, or leave processes behind.
//
// Every child leads a session of its own, except that of Interactive. Therefore Ctrl-C in the terminal does not reach
// the child, a signal of wfs reaches its whole process group, and a program that wants to ask for a password on the
// terminal fails at once instead of waiting.
package proc

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// ErrNotFound is returned if a command does not exist or is not executable. It is the same value as exec.ErrNotFound.
var ErrNotFound = exec.ErrNotFound

// DefaultGrace is how long a process may take to end after it was asked to, before it is killed.
const DefaultGrace = 5 * time.Second

// Cmd is one short command.
type Cmd struct {
	Argv  []string  // Argv[0] is searched in the PATH of Env
	Dir   string    // working directory; "": the current one
	Env   []string  // the whole environment; nothing is inherited
	Stdin io.Reader // nil: empty input
	Idle  bool      // run with low priority, if the system supports that; only for Stream and Output
}

// Output runs a command, and returns its output and exit code. If a signal ended the command, the exit code is 128 plus
// the number of the signal. It returns an error only if the command could not be started or waited for, or if ctx ended
// it.
func Output(ctx context.Context, c Cmd) (stdout, stderr []byte, exit int, err error) {
	var out, errs bytes.Buffer
	exit, err = Stream(ctx, c, &out, &errs)
	return out.Bytes(), errs.Bytes(), exit, err
}

// Stream runs a command as Output does, but passes the output to the writers as it arrives. Unless both writers are the
// same, they may be called at the same time from two goroutines.
func Stream(ctx context.Context, c Cmd, stdout, stderr io.Writer) (exit int, err error) {
	cmd, err := command(ctx, c)
	if err != nil {
		return -1, err
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = c.Stdin, stdout, stderr
	ownSession(cmd)
	cmd.Cancel = func() error { return signalGroup(cmd.Process.Pid, terminate) }
	return finish(ctx, cmd, c.Idle)
}

// Interactive runs a command that uses the terminal, such as a pager or an editor. The command stays in the terminal's
// foreground process group.
func Interactive(ctx context.Context, c Cmd, stdin, stdout, stderr *os.File) (exit int, err error) {
	cmd, err := command(ctx, c)
	if err != nil {
		return -1, err
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = stdin, stdout, stderr
	cmd.Cancel = func() error { return signalProcess(cmd.Process, terminate) }
	return finish(ctx, cmd, false)
}

func command(ctx context.Context, c Cmd) (*exec.Cmd, error) {
	path, err := resolve(c.Argv, c.Dir, c.Env)
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, path)
	cmd.Args = c.Argv
	cmd.Dir = c.Dir
	cmd.Env = explicit(c.Env)
	// A process that the command left behind may hold the output open, and would make us wait without limit.
	cmd.WaitDelay = DefaultGrace
	return cmd, nil
}

// explicit returns an empty list for nil, because os/exec would take nil for our own environment.
func explicit(env []string) []string {
	if env == nil {
		return []string{}
	}
	return env
}

func finish(ctx context.Context, cmd *exec.Cmd, idle bool) (int, error) {
	if err := startChild(cmd); err != nil {
		return -1, startError(cmd, err)
	}
	if idle {
		giveWay(cmd.Process.Pid)
	}
	err := waitChild(cmd)
	if ctx.Err() != nil && !(cmd.ProcessState != nil && cmd.ProcessState.Success()) {
		_ = signalGroup(cmd.Process.Pid, kill)
		return -1, fmt.Errorf("%s: %w", cmd.Args[0], context.Cause(ctx))
	}
	var ended *exec.ExitError
	if err != nil && !errors.As(err, &ended) && !errors.Is(err, exec.ErrWaitDelay) && !errors.Is(err, ctx.Err()) {
		return -1, fmt.Errorf("%s: %w", cmd.Args[0], err)
	}
	code, _ := exitOf(cmd.ProcessState)
	return code, nil
}

// startError says in the error what is missing, because the system reports a missing command, interpreter and directory
// in the same way.
func startError(cmd *exec.Cmd, err error) error {
	if cmd.Dir != "" {
		if _, e := os.Stat(cmd.Dir); e != nil {
			return fmt.Errorf("%s: %w", cmd.Args[0], e)
		}
	}
	if errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("%s: %w: %w", cmd.Args[0], ErrNotFound, err)
	}
	return fmt.Errorf("%s: %w", cmd.Args[0], err)
}

// LookPath returns the path of a command, which it searches in a PATH. A name with a separator is returned unchanged.
// LookPath skips empty and relative entries of the PATH; otherwise a repository could substitute a command of its own.
func LookPath(name, pathEnv string) (string, error) {
	return look(name, "", pathEnv)
}

func look(name, dir, pathEnv string) (string, error) {
	if name == "" {
		return "", fmt.Errorf("no command: %w", ErrNotFound)
	}
	if name != filepath.Base(name) {
		at := name
		if !filepath.IsAbs(at) && dir != "" {
			at = filepath.Join(dir, at)
			if abs, err := filepath.Abs(at); err == nil {
				at = abs
			}
		}
		found, err := exec.LookPath(at)
		if err != nil && !errors.Is(err, exec.ErrDot) {
			return "", notFound(name, err)
		}
		return found, nil
	}
	for _, entry := range filepath.SplitList(pathEnv) {
		if !filepath.IsAbs(entry) {
			continue
		}
		if found, err := exec.LookPath(filepath.Join(entry, name)); err == nil {
			return found, nil
		}
	}
	return "", fmt.Errorf("%s: %w", name, ErrNotFound)
}

func notFound(name string, err error) error {
	var e *exec.Error
	if errors.As(err, &e) {
		err = e.Err
	}
	if errors.Is(err, ErrNotFound) {
		return fmt.Errorf("%s: %w", name, ErrNotFound)
	}
	return fmt.Errorf("%s: %w: %w", name, ErrNotFound, err)
}

func resolve(argv []string, dir string, env []string) (string, error) {
	if len(argv) == 0 {
		return "", fmt.Errorf("no command: %w", ErrNotFound)
	}
	return look(argv[0], dir, variable(env, "PATH"))
}

// variable returns the value of a variable in an environment. If the variable is there twice, the last value counts, as
// in a child process.
func variable(env []string, name string) string {
	for i := len(env) - 1; i >= 0; i-- {
		if k, v, ok := strings.Cut(env[i], "="); ok && k == name {
			return v
		}
	}
	return ""
}
