package gitstate

// differing cannot tell. On systems where two names may mean one file, what git makes of a path depends on how it is
// written.
func (*index) differing(string, string, []*indexEntry, []byte) ([]string, bool) {
	return nil, false
}

// lookAt cannot tell either.
func lookAt(string) (fileLook, bool) { return fileLook{}, false }
