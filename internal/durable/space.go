package durable

import "golang.org/x/sys/unix"

// Space is the free space of a file system.
type Space struct {
	Bytes uint64 // that this user may still write
	Files uint64 // that may still be created, if the file system counts them
	Count bool   // Files is known
}

// SpaceAt returns the free space at a path; known is false if the system does not report it.
func SpaceAt(path string) (s Space, known bool) {
	var st unix.Statfs_t
	if unix.Statfs(path, &st) != nil {
		return Space{}, false
	}
	s.Bytes = uint64(st.Bavail) * uint64(st.Bsize)
	s.Files, s.Count = uint64(st.Ffree), st.Files > 0 // some file systems create inodes on demand, and report 0 of 0
	return s, true
}
