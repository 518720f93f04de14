package durable

import "golang.org/x/sys/unix"

// Space is the free space of a file system, for this user.
type Space struct {
	Bytes uint64 // number of bytes that can still be written
	Files uint64 // number of files that can still be created; see Count
	Count bool   // whether Files is known
}

// SpaceAt returns the free space of the file system at `path`; known is false if the system does not report it.
func SpaceAt(path string) (s Space, known bool) {
	var st unix.Statfs_t
	if unix.Statfs(path, &st) != nil {
		return Space{}, false
	}
	s.Bytes = uint64(st.Bavail) * uint64(st.Bsize)
	s.Files, s.Count = uint64(st.Ffree), st.Files > 0 // some file systems create inodes on demand, and report 0 of 0
	return s, true
}
