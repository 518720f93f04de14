package proc

import (
	"os"
	"os/exec"
	"strings"
	"syscall"
)

// Windows cannot ask a process to end: all of these words kill.
const (
	interrupt = syscall.SIGINT
	terminate = syscall.SIGTERM
	kill      = syscall.SIGKILL
)

func ownSession(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
}

// signalGroup kills the process alone; its children live on.
func signalGroup(pid int, _ syscall.Signal) error {
	p, err := os.FindProcess(pid)
	if err != nil {
		return err
	}
	defer func() { _ = p.Release() }()
	return p.Kill()
}

func signalProcess(p *os.Process, _ syscall.Signal) error { return p.Kill() }

func exitOf(state *os.ProcessState) (code int, signal string) {
	if state == nil {
		return -1, ""
	}
	return state.ExitCode(), ""
}

func sameVariable(a, b string) bool { return strings.EqualFold(a, b) }
