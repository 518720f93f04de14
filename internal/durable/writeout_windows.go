package durable

import "os"

func writeOut(path string) error {
	f, err := openRegular(path, os.O_RDWR)
	if err != nil {
		return err
	}
	defer f.Close()
	return f.Sync()
}
