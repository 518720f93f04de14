package object

// ComparesFiles is false where two names may mean one file: what git makes of a path depends on how it is written.
const ComparesFiles = false

func LookAt(string) (FileLook, bool)      { return FileLook{}, false }
func LookIn(int, string) (FileLook, bool) { return FileLook{}, false }
