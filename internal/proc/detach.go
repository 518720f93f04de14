package proc

import (
	"fmt"
	"os"
	"os/exec"
)

// Detach starts a command that continues when this process ends or the terminal is closed. The command's output goes to
// a file. If the command ends while this process lives, `ended` receives its exit code.
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

// Terminate asks a process that is not our child to end, with SIGTERM. Before that, it calls `sure`, which checks that
// pid is the right process; if `sure` returns false, Terminate sends nothing. On Linux the pid cannot pass to another
// process after the check, because Terminate opens the process first.
func Terminate(pid int, sure func() (bool, error)) error {
	p, err := os.FindProcess(pid) // opens a pidfd, if the system has them
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
