package room

import (
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/wfs-dev/wfs/internal/durable"
)

// Builders and caches use the time of a file to decide whether their output is current: Python compares seconds, make
// and Cargo look for newer files. wfs may write several trees to one directory within moments. So every file that a
// layout writes gets a later time than all files that the directory has had.

// A file system gives a new file the time of the last tick of the system's clock, which is at most 10 ms ago, or rounds
// times to one or two seconds.
const (
	freshByTick   = 20 * time.Millisecond
	freshBySecond = 3 * time.Second
)

// timeStep is how much later the times of each layout are than those of the layout before: tools may compare times in
// whole seconds, or in steps of two seconds.
const timeStep = 2 * time.Second

// newest returns the newest time that a file of the room has had, in Unix nanoseconds.
func (m *layout) newest() int64 {
	data, _ := os.ReadFile(m.times())
	n, _ := strconv.ParseInt(strings.TrimSpace(string(data)), 10, 64)
	return n
}

// later returns a time for files that have just been written. It is later than all times that files of the room have
// had; `now` is the newest present time of the new files. later records the time before it is used: after a kill, the
// next layout knows which times may have been used.
func (m *layout) later(now time.Time) (time.Time, error) {
	fresh := freshByTick
	if now.Nanosecond() == 0 {
		fresh = freshBySecond
	}
	n := max(m.newest()+int64(timeStep), now.Add(fresh).UnixNano())
	return time.Unix(0, n), durable.WriteCache(m.times(), strconv.AppendInt(nil, n, 10), 0o600)
}

// age gives a later time to the files that git has just written. before has the states of files after the last layout.
// age returns the new states of all files.
func (m *layout) age(before seal) (seal, error) {
	laid := make(seal, len(m.tree.files))
	var written []string
	var now time.Time
	for name := range m.tree.files {
		info, err := os.Lstat(m.at(name))
		if err != nil {
			return nil, err
		}
		if laid[name] = fileState(info); laid[name] == before[name] {
			continue
		}
		if written = append(written, name); info.ModTime().After(now) {
			now = info.ModTime()
		}
	}
	when, err := m.later(now)
	if err != nil {
		return nil, err
	}
	durable.Hit(durable.CleanAging)
	for _, name := range written {
		if laid[name], err = setTime(m.at(name), when); err != nil {
			return nil, err
		}
	}
	if len(written) == 0 {
		return laid, nil
	}
	return laid, m.passTick()
}

// setTime sets the time of a file, and returns the file's new state. It ignores symbolic links, so that it does not
// change their targets.
func setTime(file string, when time.Time) (string, error) {
	info, err := os.Lstat(file)
	if err == nil && info.Mode().IsRegular() {
		err = os.Chtimes(file, when, when)
	}
	if err != nil {
		return "", err
	}
	return stateAt(file)
}

// passTick waits until a later change of a file would be visible in its times, that is until the next tick of the file
// system's clock. This takes 1 to 10 ms. If the clock counts whole seconds, passTick does not wait.
func (m *layout) passTick() error {
	var first int64
	for range 100_000 {
		now, err := m.clock()
		if err != nil {
			return err
		}
		if first == 0 {
			first = now
		}
		if now > first || now%int64(time.Second) == 0 {
			break
		}
	}
	return nil
}

// clock returns the present time by the clock of the file system, in Unix nanoseconds.
func (m *layout) clock() (int64, error) {
	info, err := os.Lstat(m.dir)
	if err == nil {
		err = os.Chtimes(m.dir, info.ModTime(), info.ModTime())
	}
	if err == nil {
		info, err = os.Lstat(m.dir)
	}
	if err != nil {
		return 0, err
	}
	now, _ := durable.ChangedAt(info)
	return now, nil
}
