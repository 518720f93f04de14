package gitstate

// notDirectory is never needed on Windows: a path through a file does not exist there.
func notDirectory(error) bool { return false }

// writable is not known on Windows before it is tried.
func writable(string) bool { return true }
