package gitstate

import (
	"bytes"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/wfs-dev/wfs/internal/durable"
)

// Most directories hold nothing but what git tracks, and stay as they are from one checkpoint to the next. Which ones
// those were is remembered, so that they need not be read again.

// dirStamp is what changes when an entry of a directory is made, removed or renamed. Nobody can set it back.
type dirStamp struct {
	inode         uint64
	changed, made uint64 // ctime and mtime, in nanoseconds
}

// seenDir is a directory in which everything was tracked: when it looked like that, and a sum of those names. Or it is a
// file that is not tracked and no reason to hold it out was found in: names is its size.
type seenDir struct {
	stamp dirStamp
	names uint64
}

// A directory that has just changed is not remembered: it may change again, and its times stay the same. File systems tell
// times by the tick of the system's clock, of at most 10 ms, or by whole seconds, up to two. "Now" is told by the same clock,
// so that one tick would do.
const (
	freshByTick   = 20 * time.Millisecond
	freshBySecond = 3 * time.Second
)

// settled reports whether a directory had last changed long enough before now, in nanoseconds by the file system's clock.
func (s dirStamp) settled(now uint64) bool {
	fresh := freshByTick
	if s.changed%uint64(time.Second) == 0 {
		fresh = freshBySecond
	}
	return max(s.changed, s.made)+uint64(fresh) < now
}

// fileTime is now, by the clock of the file system, in nanoseconds; 0 when that cannot be told.
func (r *Repo) fileTime() uint64 {
	path := filepath.Join(r.worktreeDir(), "clock")
	_ = os.Remove(path) // of a killed command
	if durable.MkdirAll(r.worktreeDir()) != nil {
		return 0
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return 0
	}
	f.Close()
	defer os.Remove(path)
	st, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return uint64(st.ModTime().UnixNano())
}

// treeTime is fileTime where that can be compared with the times of the work tree's files: 0 when wfs keeps its own files
// on a file system whose clock may be another machine's.
func (r *Repo) treeTime() uint64 {
	if durable.MkdirAll(r.worktreeDir()) != nil || tellingDevice(r.worktreeDir()) == 0 {
		return 0
	}
	return r.fileTime()
}

const maxSeen = 256 << 20 // bytes

// fileAge is how long ago a file was changed, by the clock of the file system.
func (r *Repo) fileAge(info os.FileInfo) time.Duration {
	return time.Duration(int64(r.fileTime()) - info.ModTime().UnixNano())
}

func (r *Repo) seenFile() string { return filepath.Join(r.worktreeDir(), "seen") }

// seenDirs reads what is remembered, by path. What cannot be read is nothing.
func (r *Repo) seenDirs() map[string]seenDir {
	seen := map[string]seenDir{}
	data, err := durable.ReadFile(r.seenFile(), maxSeen)
	if err != nil {
		return seen
	}
	for record := range bytes.SplitSeq(data, []byte{0}) { // numbers, and the path after a space
		head, dir, ok := strings.Cut(string(record), "/")
		fields := strings.Fields(head)
		if !ok || len(fields) != 4 {
			continue
		}
		var n [4]uint64
		for i, f := range fields {
			if n[i], err = strconv.ParseUint(f, 16, 64); err != nil {
				return map[string]seenDir{}
			}
		}
		seen[dir] = seenDir{dirStamp{n[0], n[1], n[2]}, n[3]}
	}
	return seen
}

// keepSeen remembers directories. It is a cache: what goes wrong is made up for by the next look.
func (r *Repo) keepSeen(seen map[string]seenDir) {
	var b bytes.Buffer
	for dir, d := range seen {
		fmt.Fprintf(&b, "%x %x %x %x/%s\x00", d.stamp.inode, d.stamp.changed, d.stamp.made, d.names, dir)
	}
	if durable.MkdirAll(r.worktreeDir()) == nil {
		_ = durable.WriteCache(r.seenFile(), b.Bytes(), 0o600)
	}
}

// children returns the directories in d that hold something tracked, its tracked files, and a sum of all those names.
func (d trackedDir) children() (below []trackedDir, files []*indexEntry, names uint64) {
	h := fnv.New64a()
	for i := 0; i < len(d.entries); {
		name := d.entries[i].name[len(d.prefix):]
		slash := bytes.IndexByte(name, '/')
		if slash < 0 {
			h.Write(name)
			h.Write([]byte{0})
			files = append(files, &d.entries[i])
			i++
			continue
		}
		h.Write(name[:slash+1])
		prefix := d.entries[i].name[:len(d.prefix)+slash+1]
		first := i
		for i < len(d.entries) && bytes.HasPrefix(d.entries[i].name, prefix) {
			i++
		}
		below = append(below, trackedDir{prefix: string(prefix), entries: d.entries[first:i]})
	}
	return below, files, h.Sum64()
}
