package gitstate

import (
	"bytes"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/wfs-dev/wfs/internal/durable"
)

// Builders and caches tell by a file's time whether what they made of it is current: Python compares seconds, make
// and Cargo look for what is newer. Trees are laid out in one directory within moments, so every file that a layout
// writes gets a later time than any that one gave there before.

// timeStep is how much later, so that it is seen by those who look at whole seconds, or at two.
const timeStep = 2 * time.Second

// laidTimes is what the last layout noted: the newest time that a file got, and the sum of the index that says so.
// Without a sum a layout was killed, and nobody knows which files have which times.
type laidTimes struct {
	newest int64 // Unix nanoseconds
	sum    string
}

func (m *materialiser) times() string { return filepath.Join(m.private, "times") }

func (m *materialiser) readTimes() (t laidTimes) {
	data, _ := os.ReadFile(m.times())
	_, _ = fmt.Sscan(string(data), &t.newest, &t.sum)
	return t
}

func (m *materialiser) noteTimes(t laidTimes) error {
	return durable.WriteCache(m.times(), fmt.Appendf(nil, "%d %s\n", t.newest, t.sum), 0o600)
}

// laidIndex is the index of the last layout, with the file that it was parsed from. It is nil when it is not what was
// noted.
func (m *materialiser) laidIndex() (*index, []byte) {
	data, err := os.ReadFile(m.index())
	if err != nil {
		return nil, nil
	}
	x := m.repo.parsed(data)
	if x == nil || fmt.Sprintf("%x", x.sum) != m.readTimes().sum {
		return nil, nil
	}
	return x, data
}

// distrust makes git write those files anew that are not as the last layout left them, by all that the file system
// tells. Git itself may look at whole seconds only.
func (m *materialiser) distrust(data []byte) error {
	same := true
	for _, e := range m.before.entries {
		if e.mode&indexType == indexGitlink {
			continue
		}
		info, err := os.Lstat(filepath.Join(m.dir, filepath.FromSlash(string(e.name))))
		if err == nil && bytes.Equal(e.stat, statted(e.stat, info)) {
			continue
		}
		clear(e.stat[:16])
		same = false
	}
	if same {
		return nil
	}
	return m.writeIndex(m.before, data)
}

// age gives the files that git has just written their times.
func (m *materialiser) age() error {
	data, err := os.ReadFile(m.index())
	if err != nil {
		return err
	}
	x := m.repo.parsed(data)
	if x == nil {
		return errors.New("git wrote an index that cannot be read")
	}
	written := writtenSince(m.before, x)
	var now time.Time
	for _, e := range written {
		if at := time.Unix(int64(binary.BigEndian.Uint32(e.stat[8:])),
			int64(binary.BigEndian.Uint32(e.stat[12:]))); at.After(now) {
			now = at
		}
	}
	when, err := m.later(now)
	if err != nil {
		return err
	}
	durable.Hit(durable.CleanAging)
	changed := int64(0)
	for _, e := range written {
		if e.mode&indexType == indexGitlink {
			continue
		}
		file := filepath.Join(m.dir, filepath.FromSlash(string(e.name)))
		if e.mode&indexType != kindLink { // what a link leads to has its own time
			if err := os.Chtimes(file, when, when); err != nil {
				return err
			}
		}
		info, err := os.Lstat(file)
		if err != nil {
			return err
		}
		copy(e.stat, statted(e.stat, info))
		c, _ := changeOf(info)
		changed = max(changed, c)
	}
	if err := m.writeIndex(x, data); err != nil {
		return err
	}
	// To git nothing in it was written after it.
	if err := os.Chtimes(m.index(), when.Add(timeStep), when.Add(timeStep)); err != nil {
		return err
	}
	m.passTick(changed)
	return m.noteTimes(laidTimes{newest: when.UnixNano(), sum: fmt.Sprintf("%x", x.sum)})
}

// later is a time for files that have just been written, later than any before it there. It is noted first: killed from
// then on, the next layout knows which times may have been given. now is the newest of their times.
func (m *materialiser) later(now time.Time) (time.Time, error) {
	t := m.readTimes()
	fresh := freshByTick
	if now.Nanosecond() == 0 {
		fresh = freshBySecond
	}
	t.newest = max(t.newest+int64(timeStep), now.Add(fresh).UnixNano())
	return time.Unix(0, t.newest), m.noteTimes(t)
}

// passTick waits until a change to a file would show: until the file system's clock, which stands still for 1 to 10
// ms at a time, has gone on. Where it counts whole seconds, it does not wait for that.
func (m *materialiser) passTick(changed int64) {
	for range 100_000 {
		info, err := os.Lstat(m.dir)
		if err != nil || os.Chtimes(m.dir, info.ModTime(), info.ModTime()) != nil {
			return
		}
		if info, err = os.Lstat(m.dir); err != nil {
			return
		}
		if now, ok := changeOf(info); !ok || now > changed || changed%int64(time.Second) == 0 {
			return
		}
	}
}

// writtenSince are those entries of an index that are not in another one, or are of another look at their file.
func writtenSince(before, x *index) []indexEntry {
	had := map[string][]byte{}
	if before != nil {
		for _, e := range before.entries {
			had[string(e.name)] = e.stat
		}
	}
	var list []indexEntry
	for _, e := range x.entries {
		if stat, ok := had[string(e.name)]; !ok || !bytes.Equal(stat, e.stat) {
			list = append(list, e)
		}
	}
	return list
}

// statted is stat data of an index entry (gitformat-index(5)) with what of it is told by a file's times, size and
// inode.
func statted(stat []byte, info fs.FileInfo) []byte {
	out := bytes.Clone(stat)
	put := func(at int, n int64) { binary.BigEndian.PutUint32(out[at:], uint32(n)) }
	if changed, ok := changeOf(info); ok {
		put(0, changed/int64(time.Second))
		put(4, changed%int64(time.Second))
	}
	made := info.ModTime().UnixNano()
	put(8, made/int64(time.Second))
	put(12, made%int64(time.Second))
	if inode := inodeOf(info); inode != 0 {
		put(20, int64(inode))
	}
	put(36, info.Size())
	return out
}

// writeIndex writes an index back whose entries were changed in the file that it was parsed from.
func (m *materialiser) writeIndex(x *index, data []byte) error {
	body := data[:len(data)-len(x.sum)]
	if m.repo.format == "sha256" {
		sum := sha256.Sum256(body)
		copy(x.sum, sum[:])
	} else {
		sum := sha1.Sum(body)
		copy(x.sum, sum[:])
	}
	return durable.WriteCache(m.index(), data, 0o600)
}
