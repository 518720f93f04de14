package durable

import "os"

// flush makes the content of a file durable.
func flush(f *os.File) error { return f.Sync() }
