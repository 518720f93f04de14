package cmd

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"
	"testing"

	"github.com/wfs-dev/wfs/gitstate/gitcmd"
)

// TestDiskFull recognizes a full disk in errors of wfs and of git, and nothing else.
func TestDiskFull(t *testing.T) {
	a := newApp(Env{}, &signals{})
	for _, err := range []error{
		&fs.PathError{Op: "write", Path: "events.jsonl", Err: syscall.ENOSPC},
		fmt.Errorf("journal: %w", &fs.PathError{Op: "sync", Path: "events.jsonl", Err: syscall.EDQUOT}),
		&gitcmd.GitError{Args: []string{"commit"}, Exit: 128, Stderr: "error: unable to write file: No space left on device"},
		errors.Join(errors.New("first"), &gitcmd.GitError{Args: []string{"add"}, Exit: 128, Stderr: "fatal: write error: Disk quota exceeded"}),
	} {
		if f := a.diagnose(err); f.Code != "disk_full" || f.Exit != exitError || !strings.HasPrefix(f.Error, "the disk is full") || f.Hint == "" {
			t.Errorf("%v: %+v", err, f)
		}
	}
	if f := a.diagnose(&fs.PathError{Op: "write", Path: "x", Err: syscall.EIO}); f.Code == "disk_full" {
		t.Errorf("%+v", f)
	}
}
