//go:build linux && amd64

package faults

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// Kind says what a call does to files.
type Kind string

const (
	Create   Kind = "create" // create an empty file
	Truncate Kind = "truncate"
	Write    Kind = "write"
	Rename   Kind = "rename"
	Link     Kind = "link"
	Symlink  Kind = "symlink"
	Remove   Kind = "remove" // remove a file or an empty directory
	Mkdir    Kind = "mkdir"
	Chmod    Kind = "chmod"
	Sync     Kind = "sync"     // fsync, fdatasync
	WriteOut Kind = "writeout" // sync_file_range: the content is durable after the next Sync of any file
)

// Call is a system call that changes a file below Command.Root. Paths are relative to that root.
type Call struct {
	Process int    // id of the thread that made the call
	Name    string // name of the system call
	Kind    Kind
	Path    string
	To      string // new path, for Rename and Link; target, for Symlink
	Offset  int64  // where a Write begins; for Truncate the size, for Mkdir and Chmod the mode
	Data    []byte // data of a Write
}

func (c Call) String() string {
	s := fmt.Sprintf("%s %s", c.Name, c.Path)
	if c.To != "" {
		s += " -> " + c.To
	}
	if c.Kind == Write {
		s += fmt.Sprintf(" (%d bytes at %d)", len(c.Data), c.Offset)
	}
	return s
}

// on reports whether a path of the call ends in `suffix`.
func (c *Call) on(suffix string) bool {
	return strings.HasSuffix(c.Path, suffix) || c.Kind == Rename && strings.HasSuffix(c.To, suffix)
}

// entry is a system call at its start, before it has run.
type entry struct {
	pid  int
	nr   uint64
	args [6]uint64
}

// call returns the change that the system call will make below root, or nil if it will make none.
func (e *entry) call(root string) *Call {
	c := &Call{Process: e.pid}
	const at = 0
	switch e.nr {
	case unix.SYS_WRITE, unix.SYS_PWRITE64, unix.SYS_WRITEV, unix.SYS_PWRITEV, unix.SYS_PWRITEV2, unix.SYS_SENDFILE, unix.SYS_COPY_FILE_RANGE:
		return e.write(root, c)
	case unix.SYS_OPEN, unix.SYS_OPENAT, unix.SYS_CREAT:
		return e.open(root, c)
	case unix.SYS_RENAME, unix.SYS_RENAMEAT, unix.SYS_RENAMEAT2:
		return e.two(root, c, "rename", Rename, e.nr == unix.SYS_RENAME)
	case unix.SYS_LINK, unix.SYS_LINKAT:
		return e.two(root, c, "link", Link, e.nr == unix.SYS_LINK)
	case unix.SYS_SYMLINK:
		c.To = e.text(e.args[0])
		return e.one(root, c, "symlink", Symlink, at, e.args[1], true)
	case unix.SYS_SYMLINKAT:
		c.To = e.text(e.args[0])
		return e.one(root, c, "symlink", Symlink, e.args[1], e.args[2], false)
	case unix.SYS_UNLINK, unix.SYS_RMDIR:
		return e.one(root, c, "unlink", Remove, at, e.args[0], true)
	case unix.SYS_UNLINKAT:
		return e.one(root, c, "unlink", Remove, e.args[0], e.args[1], false)
	case unix.SYS_MKDIR:
		c.Offset = int64(e.args[1])
		return e.one(root, c, "mkdir", Mkdir, at, e.args[0], true)
	case unix.SYS_MKDIRAT:
		c.Offset = int64(e.args[2])
		return e.one(root, c, "mkdir", Mkdir, e.args[0], e.args[1], false)
	case unix.SYS_TRUNCATE:
		c.Offset = int64(e.args[1])
		return e.one(root, c, "truncate", Truncate, at, e.args[0], true)
	case unix.SYS_CHMOD:
		c.Offset = int64(e.args[1])
		return e.one(root, c, "chmod", Chmod, at, e.args[0], true)
	case unix.SYS_FCHMODAT, unix.SYS_FCHMODAT2:
		c.Offset = int64(e.args[2])
		return e.one(root, c, "chmod", Chmod, e.args[0], e.args[1], false)
	case unix.SYS_FTRUNCATE:
		c.Offset = int64(e.args[1])
		return e.onFile(root, c, "ftruncate", Truncate)
	case unix.SYS_FCHMOD:
		c.Offset = int64(e.args[1])
		return e.onFile(root, c, "fchmod", Chmod)
	case unix.SYS_FSYNC, unix.SYS_FDATASYNC:
		return e.onFile(root, c, "fsync", Sync)
	case unix.SYS_SYNC_FILE_RANGE:
		return e.onFile(root, c, "sync_file_range", WriteOut)
	}
	return nil
}

func (e *entry) write(root string, c *Call) *Call {
	fd := e.args[0]
	if e.nr == unix.SYS_COPY_FILE_RANGE {
		fd = e.args[2]
	}
	path, ok := below(root, e.file(fd))
	if !ok {
		return nil
	}
	var st unix.Stat_t
	if unix.Stat(e.proc("fd", fmt.Sprint(fd)), &st) != nil || st.Mode&unix.S_IFMT != unix.S_IFREG {
		return nil
	}
	c.Name, c.Kind, c.Path = "write", Write, path
	switch e.nr {
	case unix.SYS_WRITE:
		c.Data = e.bytes(e.args[1], e.args[2])
		c.Offset = e.position(fd, st.Size)
	case unix.SYS_PWRITE64:
		c.Data = e.bytes(e.args[1], e.args[2])
		c.Offset = int64(e.args[3])
	case unix.SYS_WRITEV:
		vector := e.bytes(e.args[1], 16*e.args[2])
		for ; len(vector) >= 16; vector = vector[16:] {
			c.Data = append(c.Data, e.bytes(binary.LittleEndian.Uint64(vector), binary.LittleEndian.Uint64(vector[8:]))...)
		}
		c.Offset = e.position(fd, st.Size)
	default: // not supported, because no command in the tests uses these calls, and the record would lack the data
		c.Name = fmt.Sprintf("write (system call %d)", e.nr)
	}
	return c
}

// position returns where in the file a write begins that names no offset.
func (e *entry) position(fd uint64, size int64) int64 {
	info, _ := os.ReadFile(e.proc("fdinfo", fmt.Sprint(fd)))
	var pos, flags int64
	for line := range strings.Lines(string(info)) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), ":\t")
		switch key {
		case "pos":
			pos, _ = strconv.ParseInt(value, 10, 64)
		case "flags":
			flags, _ = strconv.ParseInt(value, 8, 64)
		}
	}
	if flags&unix.O_APPEND != 0 {
		return size
	}
	return pos
}

func (e *entry) open(root string, c *Call) *Call {
	dir, name, flags, plain := uint64(0), e.args[0], e.args[1], true
	switch e.nr {
	case unix.SYS_OPENAT:
		dir, name, flags, plain = e.args[0], e.args[1], e.args[2], false
	case unix.SYS_CREAT:
		flags = unix.O_CREAT | unix.O_TRUNC
	}
	if flags&(unix.O_CREAT|unix.O_TRUNC) == 0 {
		return nil
	}
	c = e.one(root, c, "open", Create, dir, name, plain)
	if c == nil {
		return nil
	}
	if _, err := os.Lstat(filepath.Join(root, c.Path)); err == nil {
		if flags&unix.O_TRUNC == 0 {
			return nil // the file exists, and the call does not change it
		}
		c.Kind = Truncate
	} else if flags&unix.O_CREAT == 0 {
		return nil
	}
	return c
}

func (e *entry) one(root string, c *Call, name string, kind Kind, dir, path uint64, plain bool) *Call {
	p, ok := below(root, e.path(dir, path, plain))
	if !ok {
		return nil
	}
	c.Name, c.Kind, c.Path = name, kind, p
	return c
}

func (e *entry) two(root string, c *Call, name string, kind Kind, plain bool) *Call {
	from, to := e.path(0, e.args[0], true), e.path(0, e.args[1], true)
	if !plain {
		from, to = e.path(e.args[0], e.args[1], false), e.path(e.args[2], e.args[3], false)
	}
	p, ok := below(root, from)
	q, ok2 := below(root, to)
	if !ok && !ok2 {
		return nil
	}
	c.Name, c.Kind, c.Path, c.To = name, kind, p, q
	return c
}

func (e *entry) onFile(root string, c *Call, name string, kind Kind) *Call {
	p, ok := below(root, e.file(e.args[0]))
	if !ok {
		return nil
	}
	c.Name, c.Kind, c.Path = name, kind, p
	return c
}

func (e *entry) proc(name ...string) string {
	return filepath.Join(append([]string{"/proc", strconv.Itoa(e.pid)}, name...)...)
}

func (e *entry) file(fd uint64) string {
	path, err := os.Readlink(e.proc("fd", strconv.Itoa(int(int32(fd)))))
	if err != nil || !strings.HasPrefix(path, "/") || strings.HasSuffix(path, " (deleted)") {
		return ""
	}
	return path
}

// path returns a path argument of the call as an absolute path. It does not follow a symbolic link in the last part.
func (e *entry) path(dir, name uint64, plain bool) string {
	p := e.text(name)
	if p == "" {
		return ""
	}
	if !filepath.IsAbs(p) {
		base := ""
		if plain || int32(dir) == unix.AT_FDCWD {
			base, _ = os.Readlink(e.proc("cwd"))
		} else {
			base = e.file(dir)
		}
		if base == "" {
			return ""
		}
		p = filepath.Join(base, p)
	}
	if real, err := filepath.EvalSymlinks(filepath.Dir(p)); err == nil {
		p = filepath.Join(real, filepath.Base(p))
	}
	return filepath.Clean(p)
}

func below(root, path string) (string, bool) {
	if path == root {
		return ".", true
	}
	return strings.CutPrefix(path, root+"/")
}

func (e *entry) text(addr uint64) string {
	data := e.bytes(addr, 4096)
	for i, b := range data {
		if b == 0 {
			return string(data[:i])
		}
	}
	return ""
}

// bytes reads n bytes from the memory of the process, or fewer if not all of them are readable.
func (e *entry) bytes(addr, n uint64) []byte {
	mem, err := os.Open(e.proc("mem"))
	if err != nil {
		return nil
	}
	defer mem.Close()
	data := make([]byte, n)
	got, _ := mem.ReadAt(data, int64(addr))
	return data[:got]
}
