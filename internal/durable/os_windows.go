package durable

import (
	"fmt"
	"io/fs"
	"os"

	"golang.org/x/sys/windows"
)

func open(path string, flag int) (*os.File, error) { return os.OpenFile(path, flag, 0o600) }

// SyncDir does nothing: Windows cannot flush a directory. NTFS journals names, so they are old or new, but the newest
// may be lost with the power.
func SyncDir(string) error { return nil }

func checkOwner(string, fs.FileInfo, []fs.FileInfo) error { return nil }

// The byte that is locked lies far behind the text for people: a Windows lock forbids others to read what it covers.
const lockOffset = 1 << 30

func lockFile(f *os.File, exclusive bool) error {
	flags := uint32(windows.LOCKFILE_FAIL_IMMEDIATELY)
	if exclusive {
		flags |= windows.LOCKFILE_EXCLUSIVE_LOCK
	}
	at := windows.Overlapped{Offset: lockOffset}
	switch err := windows.LockFileEx(windows.Handle(f.Fd()), flags, 0, 1, 0, &at); err {
	case nil:
		return nil
	case windows.ERROR_LOCK_VIOLATION, windows.ERROR_IO_PENDING:
		return ErrLocked
	case windows.ERROR_NOT_SUPPORTED, windows.ERROR_INVALID_FUNCTION:
		return fmt.Errorf("%s: %w: %v", f.Name(), ErrNoLocks, err)
	default:
		return &fs.PathError{Op: "LockFileEx", Path: f.Name(), Err: err}
	}
}

// FileID knows nothing here.
func FileID(fs.FileInfo) (device, inode uint64, known bool) { return 0, 0, false }
