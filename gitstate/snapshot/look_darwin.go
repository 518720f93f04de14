package snapshot

import (
	"io/fs"
	"os"
)

func listDir(path string) (list []fs.DirEntry, fd int, end func(), err error) {
	list, err = os.ReadDir(path)
	return list, -1, func() {}, err
}
