package room

import (
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/wfs-dev/wfs/internal/durable"
)

// Builders and caches tell by a file's time whether what they made of it is current: Python compares seconds, make
// and Cargo look for what is newer. Trees are laid out in one directory within moments, so every file that a layout
// writes gets a later time than any that one gave there before.

// File systems tell times by the tick of the system's clock, of at most 10 ms, or by whole seconds, up to two.
const (
	freshByTick   = 20 * time.Millisecond
	freshBySecond = 3 * time.Second
)

// timeStep is how much later: tools may look at whole seconds, or at two.
const timeStep = 2 * time.Second

// newest is the newest time that a file of the room got, in Unix nanoseconds.
func (m *layout) newest() int64 {
	data, _ := os.ReadFile(m.times())
	n, _ := strconv.ParseInt(strings.TrimSpace(string(data)), 10, 64)
	return n
}

// later is a time for files that have just been written, later than any before it there. It is noted first: killed from
// then on, the next layout knows which times may have been given. now is the newest of their times.
func (m *layout) later(now time.Time) (time.Time, error) {
	fresh := freshByTick
	if now.Nanosecond() == 0 {
		fresh = freshBySecond
	}
	n := max(m.newest()+int64(timeStep), now.Add(fresh).UnixNano())
	return time.Unix(0, n), durable.WriteCache(m.times(), strconv.AppendInt(nil, n, 10), 0o600)
}

// age gives the files that git has just written their times. before are the states of those that the last layout left;
// the states of all are returned.
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

// setTime gives a file a time, and returns its state. The file that a link leads to has its own.
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

// passTick waits until a change to a file would show: until the file system's clock, which stands still for 1 to 10
// ms at a time, has gone on. Where it counts whole seconds, it does not wait for that.
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

// clock is now, by the clock of the file system, in Unix nanoseconds.
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
