package proc

import (
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Proof identifies the processes that this program started earlier. A process must match both fields, or it belongs to
// another program.
type Proof struct {
	// Environ reports whether an environment has the variables of the program's children.
	Environ func(entries []string) bool
	Since   string // Moment before their start
}

// Holds reports whether a process is alive and matches the proof.
func (p Proof) Holds(pid int) bool {
	boot, ticks, _ := strings.Cut(p.Since, " ")
	since, err := strconv.ParseUint(ticks, 10, 64)
	st, ok := readStat(pid)
	if err != nil || !ok || st.dead || st.began < since || !strings.HasPrefix(Moment(), boot+" ") {
		return false
	}
	env, err := environOf(pid)
	return err == nil && p.Environ(strings.Split(string(env), "\x00"))
}

// End asks processes to end, and kills them after the grace, or when hurry is closed. It continues until find returns
// no process that matches the proof. It returns the pids that got a signal.
func End(find func() []int, p Proof, grace time.Duration, hurry <-chan struct{}) (ended []int) {
	asked := map[int]bool{}
	sig, limit := terminate, time.Now().Add(grace)
	for clean := 0; clean < 2; { // a process may have started another one between two looks
		clean++
		for _, pid := range find() {
			if asked[pid] && sig == terminate {
				if p.Holds(pid) {
					clean = 0
				}
				continue
			}
			if !p.signal(pid, sig) {
				continue
			}
			clean = 0
			if !asked[pid] {
				asked[pid] = true
				ended = append(ended, pid)
			}
		}
		select {
		case <-hurry:
			hurry = nil
			sig, limit = kill, time.Now().Add(lastWait)
		case <-time.After(poll):
		}
		if time.Now().After(limit) {
			if sig == kill {
				return ended // they hang in the kernel
			}
			sig, limit = kill, time.Now().Add(lastWait)
		}
	}
	return ended
}

// signal opens the process before it checks it, so that its pid cannot pass to another process in between.
func (p Proof) signal(pid int, sig syscall.Signal) bool {
	held, err := os.FindProcess(pid)
	if err != nil {
		return false
	}
	defer func() { _ = held.Release() }()
	return p.Holds(pid) && held.Signal(sig) == nil
}
