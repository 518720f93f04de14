package proc

import (
	"fmt"
	"os"
	"os/exec"
)

// Detach starts a command that continues after this process has ended and after the terminal is closed. Its output goes
// to a file. ended receives the exit code if the command ends while this process lives.
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

// Terminate asks a process that is not our child to end. It calls sure after it has opened the process; on Linux no
// other process can get this pid from then on. If sure returns false, it sends no signal.
func Terminate(pid int, sure func() (bool, error)) error {
	p, err := os.FindProcess(pid) // a pidfd, if the system has them
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
