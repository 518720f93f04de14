package object

import "golang.org/x/sys/unix"

// ComparesFiles is true on systems where wfs can compare files with their index entries.
const ComparesFiles = true

// LookAt returns the stat data of a file. It returns false if the file does not exist, or if git cannot store its time.
func LookAt(path string) (FileLook, bool) { return LookIn(unix.AT_FDCWD, path) }

// LookIn does the same as LookAt for a file in an open directory.
func LookIn(dir int, name string) (FileLook, bool) {
	var st unix.Stat_t
	if unix.Fstatat(dir, name, &st, unix.AT_SYMLINK_NOFOLLOW) != nil || st.Mtim.Sec < 0 || st.Mtim.Sec>>32 != 0 {
		return FileLook{}, false
	}
	return FileLook{uint32(st.Ctim.Sec), uint32(st.Ctim.Nsec), uint32(st.Mtim.Sec), uint32(st.Mtim.Nsec),
		uint32(st.Dev), uint32(st.Ino), st.Mode, st.Uid, st.Gid, uint32(st.Size)}, true
}
