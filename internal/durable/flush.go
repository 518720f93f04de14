package durable

import "os"

// flush writes a file to the disk.
func flush(f *os.File) error { return f.Sync() }
