package cmd

import (
	"os"
	"strconv"
)

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

func itoa(n int) string { return strconv.Itoa(n) }
