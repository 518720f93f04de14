package durable

import (
	"errors"
	"io/fs"
	"sync"
)

// WriteOut hands the content of files to the disk. When any file on the same file system is synced afterwards, the
// content is durable. This is much cheaper than to sync each file; git does the same for many objects
// (core.fsyncMethod=batch). WriteOut skips paths that are missing, unreadable, or not regular files.
func WriteOut(paths []string) error {
	const workers = 8 // more than processors, because they mostly wait for the disk
	next := make(chan string)
	errs := make([]error, workers)
	var done sync.WaitGroup
	for i := range workers {
		done.Go(func() {
			for path := range next {
				err := writeOut(path)
				if errors.Is(err, fs.ErrNotExist) || errors.Is(err, ErrNotRegular) || errors.Is(err, fs.ErrPermission) {
					err = nil
				}
				errs[i] = errors.Join(errs[i], err)
			}
		})
	}
	for _, path := range paths {
		next <- path
	}
	close(next)
	done.Wait()
	if len(paths) > 0 {
		Hit(FilesOut)
	}
	return errors.Join(errs...)
}
