package proc

import (
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Proof recognises a process that this program has started earlier. A process that does not match both fields belongs
// to another program.
type Proof struct {
	// Environ reports whether an environment has the variables that this program sets for its children.
	Environ func(entries []string) bool
	Since   string // a result of Moment from before the process started
}

// Holds reports whether a process is alive and matches both fields of the proof.
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

// End ends the processes that `find` returns and that match the proof. First it asks them to end; after `grace`, or
// when `hurry` is closed, it kills them. End returns when `find` finds no such process any more, or when killed
// processes hang in the kernel. It returns the pids of the processes that got a signal.
func End(find func() []int, p Proof, grace time.Duration, hurry <-chan struct{}) (ended []int) {
	asked := map[int]bool{}
	sig, limit := terminate, time.Now().Add(grace)
	for clean := 0; clean < 2; { // twice, because a process may start another one between the calls of find
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
				return ended // the rest hangs in the kernel
			}
			sig, limit = kill, time.Now().Add(lastWait)
		}
	}
	return ended
}

// signal sends a signal to a process if it matches the proof. It opens the process before it checks it, so that the pid
// cannot pass to another process in between.
func (p Proof) signal(pid int, sig syscall.Signal) bool {
	held, err := os.FindProcess(pid)
	if err != nil {
		return false
	}
	defer func() { _ = held.Release() }()
	return p.Holds(pid) && held.Signal(sig) == nil
}
