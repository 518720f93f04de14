// archive packs a directory into DIRECTORY.tar.gz, so that equal files make equal bytes: sorted, of nobody, and all of
// one time. It prints the line of the archive for SHA256SUMS.
//
//	archive SECONDS DIRECTORY
package main

import (
	"archive/tar"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

func main() {
	if err := archive(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "archive:", err)
		os.Exit(1)
	}
}

func archive(seconds, dir string) error {
	unix, err := strconv.ParseInt(seconds, 10, 64)
	if err != nil {
		return err
	}
	out, err := os.Create(dir + ".tar.gz")
	if err != nil {
		return err
	}
	sum := sha256.New()
	zip, err := gzip.NewWriterLevel(io.MultiWriter(out, sum), gzip.BestCompression)
	if err != nil {
		return err
	}
	to := tar.NewWriter(zip)
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error { // in order
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		name, err := filepath.Rel(filepath.Dir(dir), path)
		if err != nil {
			return err
		}
		mode := int64(0o644)
		if info.Mode()&0o100 != 0 {
			mode = 0o755
		}
		h := &tar.Header{Name: filepath.ToSlash(name), Mode: mode, Size: int64(len(data)), ModTime: time.Unix(unix, 0), Format: tar.FormatUSTAR}
		if err := to.WriteHeader(h); err != nil {
			return err
		}
		_, err = to.Write(data)
		return err
	})
	for _, c := range []io.Closer{to, zip, out} {
		if e := c.Close(); err == nil {
			err = e
		}
	}
	if err != nil {
		return err
	}
	fmt.Printf("%x  %s\n", sum.Sum(nil), filepath.Base(dir)+".tar.gz")
	return nil
}
