package proc

import (
	"os/exec"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// family does not adopt orphans, because macOS has no child subreapers. A process that left the run's session is found
// only by the marker.
type family struct{}

func enterFamily() family { return family{} }
func (family) leave()     {}

func orphans() []int { return nil }

func startChild(cmd *exec.Cmd) error { return cmd.Start() }
func waitChild(cmd *exec.Cmd) error  { return cmd.Wait() }

// awaitExit returns when the leader has ended, and reaps it. There is no portable way to wait without reaping.
func awaitExit(l *leader) { _ = l.reap() }

func reaper(cmd *exec.Cmd) func() error {
	return sync.OnceValue(func() error { return onlyTrouble(cmd.Wait()) })
}

// Moment returns the current time as a string, in the clock that the system uses for start times of processes, or "" if
// unknown. It can be compared until the next boot.
func Moment() string {
	boot, err := unix.Sysctl("kern.bootsessionuuid")
	if err != nil {
		return ""
	}
	return boot + " " + strconv.FormatInt(time.Now().UnixMicro(), 10)
}

func table() []stat {
	list, _ := unix.SysctlKinfoProcSlice("kern.proc.all")
	all := make([]stat, 0, len(list))
	for i := range list {
		all = append(all, statOf(&list[i]))
	}
	return all
}

func pids() []int {
	var all []int
	for _, st := range table() {
		all = append(all, st.pid)
	}
	return all
}

func readStat(pid int) (stat, bool) {
	k, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil {
		return stat{}, false
	}
	return statOf(k), true
}

// The values of SRUN and SZOMB in sys/proc.h.
const (
	running = 2
	zombie  = 5
)

func statOf(k *unix.KinfoProc) stat {
	pid := int(k.Proc.P_pid)
	s := stat{
		pid: pid, parent: int(k.Eproc.Ppid), group: int(k.Eproc.Pgid), kernel: pid == 0,
		ready: k.Proc.P_stat == running, dead: k.Proc.P_stat == zombie,
		began: uint64(k.Proc.P_starttime.Sec)*1e6 + uint64(k.Proc.P_starttime.Usec),
	}
	if session, err := unix.Getsid(pid); err == nil {
		s.session = session
	}
	return s
}

// environOf returns the environment with which a process was started, each entry followed by a zero byte. It is empty
// if the system hides it: the system's own programs (/bin, /usr/bin) hide theirs from other processes.
func environOf(pid int) ([]byte, error) {
	args, err := unix.SysctlRaw("kern.procargs2", pid)
	if err != nil {
		return nil, err
	}
	return argsEnviron(args), nil
}
