package durable

import "os"

// flush brings a file to the disk.
func flush(f *os.File) error { return f.Sync() }
