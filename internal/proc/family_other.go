//go:build !linux

package proc

import (
	"os/exec"
	"sync"
	"syscall"
	"time"
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

// Moment cannot be told here.
func Moment() string { return "" }

// Proof never holds here.
type Proof struct {
	Environ func(entries []string) bool
	Since   string
}

// Holds is false: these systems do not show the environment of other processes cheaply.
func (Proof) Holds(int) bool { return false }

// End ends nobody: nobody is proven to be ours.
func End(func() []int, Proof, time.Duration, <-chan struct{}) []int { return nil }
