package gitcmd

import (
	"errors"
	"io/fs"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// InodeOf tells a file that was replaced from one that was left alone.
func InodeOf(info fs.FileInfo) uint64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(st.Ino)
	}
	return 0
}

// DeviceOf is the file system that a file is in.
func DeviceOf(info fs.FileInfo) uint64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(st.Dev)
	}
	return 0
}

// LinksOf is how many names a file has.
func LinksOf(info fs.FileInfo) uint64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(st.Nlink)
	}
	return 1
}

// Writable reports whether names can be made and removed in a directory.
func Writable(dir string) bool {
	return !errors.Is(unix.Access(dir, unix.W_OK|unix.X_OK), syscall.EACCES)
}

// notDirectory reports whether a path leads through something that is no directory.
func notDirectory(err error) bool { return errors.Is(err, syscall.ENOTDIR) }

// Absent reports whether a path is not there, a file in place of one of its directories included.
func Absent(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || notDirectory(err)
}

func IsHex(s string) bool { return s != "" && strings.Trim(s, "0123456789abcdef") == "" }

func IgnoreAbsent(err error) error {
	if Absent(err) {
		return nil
	}
	return err
}
