package proc

import (
	"fmt"
	"os"
	"os/exec"
)

// Detach starts a command that goes on when this process has ended, and when the terminal is closed. Its output goes to
// a file. ended gets its exit code when it ends while this process still lives.
func Detach(c Cmd, output *os.File) (pid int, ended <-chan int, err error) {
	path, err := resolve(c.Argv, c.Dir, c.Env)
	if err != nil {
		return 0, nil, err
	}
	cmd := &exec.Cmd{Path: path, Args: c.Argv, Dir: c.Dir, Env: explicit(c.Env), Stdout: output, Stderr: output}
	ownSession(cmd)
	if err := startChild(cmd); err != nil {
		return 0, nil, startError(cmd, err)
	}
	done := make(chan int, 1)
	go func() {
		_ = waitChild(cmd)
		code, _ := exitOf(cmd.ProcessState)
		done <- code
	}()
	return cmd.Process.Pid, done, nil
}

// Terminate asks a process that is not ours to end. sure is asked when the process is taken hold of: on Linux nothing
// else can have its number from then on. When sure says no, nothing is sent.
func Terminate(pid int, sure func() (bool, error)) error {
	p, err := os.FindProcess(pid) // a pidfd, where the system has them
	if err != nil {
		return err
	}
	defer func() { _ = p.Release() }()
	ok, err := sure()
	if err != nil || !ok {
		return err
	}
	if err := p.Signal(terminate); err != nil {
		return fmt.Errorf("process %d: %w", pid, err)
	}
	return nil
}
