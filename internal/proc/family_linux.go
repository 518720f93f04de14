package proc

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// children are the child processes of this process. From its first run on, this process is a child subreaper: if a
// process of a run loses its parent, it becomes our child and not that of init. Therefore we find such orphans even if
// they left the run's group and cleared their environment.
//
// A child is taken for such an orphan if three conditions hold: package proc did not start it, it did not exist before
// the first run, and it is not in our own process group. The last one spares processes that other packages start
// without a group of their own.
var children struct {
	sync.Mutex
	once    sync.Once
	adopts  bool
	before  map[int]bool // pids that existed before the first run
	started map[int]bool // pids that startChild started and waitChild has not reaped
	runs    int          // number of current runs
}

type family struct{ done chan struct{} }

// reapEvery is how often adopted zombies are reaped, because their number would grow without limit in a long run that
// forks.
const reapEvery = time.Second

func enterFamily() family {
	children.once.Do(func() {
		if _, err := os.Stat("/proc/thread-self/children"); err != nil {
			return // without this list, finding adopted zombies would be expensive
		}
		children.before = map[int]bool{}
		for _, pid := range ownChildren() {
			children.before[pid] = true
		}
		children.adopts = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == nil
	})
	children.Lock()
	children.runs++
	children.Unlock()

	f := family{done: make(chan struct{})}
	go func() {
		tick := time.NewTicker(reapEvery)
		defer tick.Stop()
		for {
			select {
			case <-f.done:
				return
			case <-tick.C:
				orphans()
			}
		}
	}()
	return f
}

func (f family) leave() {
	close(f.done)
	children.Lock()
	children.runs--
	children.Unlock()
}

// orphans reaps the adopted processes that have ended, and returns the pids of the living ones. If several runs are
// active, it returns none, because it cannot know to which run an orphan belongs; the last run finds them.
func orphans() []int {
	children.Lock()
	defer children.Unlock()
	if !children.adopts {
		return nil
	}
	own := syscall.Getpgrp()
	var alive []int
	for _, pid := range ownChildren() {
		st, ok := readStat(pid)
		if !ok || st.group == own || children.started[pid] || children.before[pid] {
			continue
		}
		if st.dead {
			_, _ = syscall.Wait4(pid, nil, syscall.WNOHANG, nil)
		} else if children.runs == 1 {
			alive = append(alive, pid)
		}
	}
	return alive
}

// startChild starts a command and records its pid. It holds the lock meanwhile, because orphans would take an
// unrecorded child for an orphan.
func startChild(cmd *exec.Cmd) error {
	children.Lock()
	defer children.Unlock()
	if err := cmd.Start(); err != nil {
		return err
	}
	if children.started == nil {
		children.started = map[int]bool{}
	}
	children.started[cmd.Process.Pid] = true
	return nil
}

func waitChild(cmd *exec.Cmd) error {
	err := cmd.Wait()
	children.Lock()
	delete(children.started, cmd.Process.Pid)
	children.Unlock()
	return err
}

// awaitExit returns when the leader has ended. It does not reap the leader, which stays a zombie.
func awaitExit(l *leader) {
	for {
		var info unix.Siginfo
		err := unix.Waitid(unix.P_PID, l.pid, &info, unix.WEXITED|unix.WNOWAIT, nil)
		if err != unix.EINTR {
			return
		}
	}
}

func reaper(cmd *exec.Cmd) func() error {
	return sync.OnceValue(func() error { return onlyTrouble(waitChild(cmd)) })
}

func pids() []int {
	d, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer func() { _ = d.Close() }()
	names, _ := d.Readdirnames(-1)
	var all []int
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil {
			all = append(all, pid)
		}
	}
	return all
}

func table() []stat {
	var all []stat
	for _, pid := range pids() {
		if st, ok := readStat(pid); ok {
			all = append(all, st)
		}
	}
	return all
}

// ownChildren returns the pids of all children of this process. It reads one list for each thread, because a child
// belongs to the thread that started or adopted it.
func ownChildren() []int {
	threads, err := os.ReadDir("/proc/self/task")
	if err != nil {
		return nil
	}
	var all []int
	for _, t := range threads {
		list, _ := os.ReadFile("/proc/self/task/" + t.Name() + "/children")
		for _, field := range strings.Fields(string(list)) {
			if pid, err := strconv.Atoi(field); err == nil {
				all = append(all, pid)
			}
		}
	}
	return all
}

// kernelThread is the flag PF_KTHREAD in linux/sched.h.
const kernelThread = 0x00200000

// userHZ is the number of clock ticks per second in proc(5). It is the same on all systems that Go supports.
const userHZ = 100

func readStat(pid int) (stat, bool) {
	var buf [2048]byte // enough for 52 numbers, and a name of 64 bytes
	line := buf[:readOnce("/proc/"+strconv.Itoa(pid)+"/stat", buf[:])]
	// The format is: pid (name) state parent group session … flags …. The name may contain any character.
	i := bytes.LastIndexByte(line, ')')
	fields := strings.Fields(string(line[i+1:]))
	if i < 0 || len(fields) < 4 {
		return stat{}, false
	}
	s := stat{pid: pid, ready: fields[0][0] == 'R', dead: fields[0][0] == 'Z' || fields[0][0] == 'X'}
	var err error
	if s.parent, err = strconv.Atoi(fields[1]); err != nil {
		return stat{}, false
	}
	if s.group, err = strconv.Atoi(fields[2]); err != nil {
		return stat{}, false
	}
	if s.session, err = strconv.Atoi(fields[3]); err != nil {
		return stat{}, false
	}
	if len(fields) > 6 {
		flags, _ := strconv.ParseUint(fields[6], 10, 64)
		s.kernel = flags&kernelThread != 0
	}
	for _, i := range []int{11, 12, 13, 14} { // the fields utime, stime, cutime, cstime
		if i < len(fields) {
			ticks, _ := strconv.ParseInt(fields[i], 10, 64)
			s.cpu += time.Duration(ticks) * time.Second / userHZ
		}
	}
	if len(fields) > 19 {
		s.began, _ = strconv.ParseUint(fields[19], 10, 64)
	}
	return s, true
}

// readOnce reads the start of a file in /proc into buf, and returns the number of bytes. It does not use os.File, which
// prepares each file for polling, because it is called hundreds of times in a row.
func readOnce(path string, buf []byte) int {
	f, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return 0
	}
	defer func() { _ = unix.Close(f) }()
	n, err := unix.Read(f, buf)
	if err != nil {
		return 0
	}
	return n
}

// maxEnviron is the maximum size of an environment, in bytes. Linux by default allows less (a quarter of an 8 MB
// stack).
const maxEnviron = 4 << 20

// environOf returns the environment with which a process was started, each entry followed by a zero byte. It is empty
// if the process does not show it.
func environOf(pid int) ([]byte, error) {
	f, err := os.Open("/proc/" + strconv.Itoa(pid) + "/environ")
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	return io.ReadAll(io.LimitReader(f, maxEnviron))
}

// Moment returns the current time as a string, in the clock that the system uses for start times of processes, or "" if
// unknown. It can be compared until the next boot.
func Moment() string {
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	up, _ := os.ReadFile("/proc/uptime") // seconds with two decimals, so without the point the unit is 1/userHZ
	seconds, _, _ := strings.Cut(string(up), " ")
	whole, hundredths, ok := strings.Cut(seconds, ".")
	if err != nil || !ok || len(hundredths) != 2 {
		return ""
	}
	return strings.TrimSpace(string(boot)) + " " + whole + hundredths
}
