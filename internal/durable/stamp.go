package durable

import (
	"fmt"
	"os"
)

// Stamp returns a text that changes when a file is written or replaced, or a directory gets another entry.
func Stamp(path string) string {
	info, err := os.Lstat(path)
	if err != nil {
		return "-;"
	}
	return fmt.Sprintf("%d %d;", info.Size(), info.ModTime().UnixNano())
}
