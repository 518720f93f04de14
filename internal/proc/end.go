package proc

import (
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Proof is by what a process is known to be one that this program once started. It has all that is asked for, or it is
// somebody else's.
type Proof struct {
	// Environ reports whether an environment has what the program's children are given.
	Environ func(entries []string) bool
	Since   string // Moment before they were started
}

// Holds reports whether a process is alive and proven to be ours.
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

// End asks processes to end, and kills them after the grace, or when hurry is closed. It does so until find
// returns none that is proven to be ours, and returns the numbers of those that were signalled.
func End(find func() []int, p Proof, grace time.Duration, hurry <-chan struct{}) (ended []int) {
	asked := map[int]bool{}
	sig, limit := terminate, time.Now().Add(grace)
	for clean := 0; clean < 2; { // one may have started another one between two looks
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

// signal takes hold of a process before it looks at it: its number cannot become another's in between.
func (p Proof) signal(pid int, sig syscall.Signal) bool {
	held, err := os.FindProcess(pid)
	if err != nil {
		return false
	}
	defer func() { _ = held.Release() }()
	return p.Holds(pid) && held.Signal(sig) == nil
}
