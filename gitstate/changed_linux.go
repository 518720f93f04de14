package gitstate

import (
	"path/filepath"

	"golang.org/x/sys/unix"
)

// differing returns the names of those files of a directory that are not for certain as their entries say. prefix is
// the directory's path in the index. It reports false when it cannot tell.
func (x *index) differing(root, prefix string, files []*indexEntry, empty []byte) (names []string, ok bool) {
	if len(files) == 0 {
		return nil, true
	}
	dir, err := unix.Open(filepath.Join(root, prefix), unix.O_PATH|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, false
	}
	defer unix.Close(dir)
	for _, e := range files {
		name := string(e.name[len(prefix):])
		if f, ok := lookIn(dir, name); !ok || !x.unchanged(e, f, empty) {
			names = append(names, name)
		}
	}
	return names, true
}

// lookAt looks at a file, and reports false when there is none, or when its time is none that git could write down.
func lookAt(path string) (fileLook, bool) { return lookIn(unix.AT_FDCWD, path) }

// lookIn is lookAt for a file in an open directory.
func lookIn(dir int, name string) (fileLook, bool) {
	var st unix.Stat_t
	if unix.Fstatat(dir, name, &st, unix.AT_SYMLINK_NOFOLLOW) != nil || st.Mtim.Sec < 0 || st.Mtim.Sec>>32 != 0 {
		return fileLook{}, false
	}
	return fileLook{uint32(st.Ctim.Sec), uint32(st.Ctim.Nsec), uint32(st.Mtim.Sec), uint32(st.Mtim.Nsec),
		uint32(st.Ino), st.Mode, st.Uid, st.Gid, uint32(st.Size)}, true
}
