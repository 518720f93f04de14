//go:build !linux

package proc

import (
	"os/exec"
	"sync"
	"syscall"
)

// family finds nothing here: these systems do not show the environment of other processes cheaply.
type family struct{}

func enterFamily() family                     { return family{} }
func (family) leave()                         {}
func (family) sweep(_ *leader, _ string) bool { return false }

func (family) survivors(l *leader, _ string) []int {
	if groupAlive(l) {
		return []int{l.pid}
	}
	return nil
}

func signalRun(l *leader, sig syscall.Signal) { _ = signalGroup(l.pid, sig) }

func startChild(cmd *exec.Cmd) error { return cmd.Start() }
func waitChild(cmd *exec.Cmd) error  { return cmd.Wait() }

// awaitExit has to reap: there is no portable way to look without.
func awaitExit(l *leader) { _ = l.reap() }

func reaper(cmd *exec.Cmd) func() error {
	return sync.OnceValue(func() error { return onlyTrouble(cmd.Wait()) })
}

// Marked finds nothing here.
func Marked(string, ...string) []int { return nil }

func beganOf(int) uint64 { return 0 }
