package proc

import (
	"bytes"
	"io"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Moment is the present moment in the clock that starts of processes are given in, "" where that cannot be told. It means
// something until the machine is started anew.
func Moment() string {
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	up, _ := os.ReadFile("/proc/uptime") // seconds, with two digits behind the point: the unit of userHZ
	seconds, _, _ := strings.Cut(string(up), " ")
	whole, hundredths, ok := strings.Cut(seconds, ".")
	if err != nil || !ok || len(hundredths) != 2 {
		return ""
	}
	return strings.TrimSpace(string(boot)) + " " + whole + hundredths
}

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
	if err != nil || !ok || st.dead() || st.began < since || !strings.HasPrefix(Moment(), boot+" ") {
		return false
	}
	env, ok := environOf(pid)
	return ok && p.Environ(env)
}

// End asks processes to end, and kills them after the grace, or when hurry is closed. It does so until find returns none
// that is proven to be ours, and returns the numbers of those that were signalled.
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

// environOf is the environment that a process was started with. ok is false where it is not shown.
func environOf(pid int) (entries []string, ok bool) {
	f, err := os.Open("/proc/" + strconv.Itoa(pid) + "/environ")
	if err != nil {
		return nil, false
	}
	defer func() { _ = f.Close() }()
	text, err := io.ReadAll(io.LimitReader(f, maxEnviron))
	for line := range bytes.SplitSeq(text, []byte{0}) {
		entries = append(entries, string(line))
	}
	return entries, err == nil
}
