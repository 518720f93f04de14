package durable

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
)

func lockPath(t *testing.T) string { return filepath.Join(t.TempDir(), "driver.lock") }

func probe(t *testing.T, path string) (bool, string) {
	t.Helper()
	held, info, err := Probe(path)
	if err != nil {
		t.Fatal(err)
	}
	return held, string(info)
}

func TestLockExcludesAnotherProcess(t *testing.T) {
	t.Parallel()
	path := lockPath(t)
	end := begin(t, another(t, "hold", path))
	if _, err := TryLock(path, nil); !errors.Is(err, ErrLocked) {
		t.Fatalf("TryLock = %v, want ErrLocked", err)
	}
	if held, info := probe(t, path); !held || info != "pid of the child" {
		t.Fatalf("Probe = %v, %q", held, info)
	}
	end()
	if held, _ := probe(t, path); held {
		t.Fatal("held after its holder ended")
	}
	l, err := TryLock(path, []byte("me"))
	if err != nil {
		t.Fatal(err)
	}
	if held, info := probe(t, path); !held || info != "me" {
		t.Fatalf("Probe = %v, %q", held, info)
	}
	if err := l.Release(); err != nil {
		t.Fatal(err)
	}
	if held, _ := probe(t, path); held {
		t.Fatal("held after Release")
	}
}

func TestLockEndsWithAKilledProcess(t *testing.T) {
	t.Parallel()
	path := lockPath(t)
	cmd := another(t, "hold", path)
	end := begin(t, cmd)
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	end()
	l, err := TryLock(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	l.Release()
}

func TestProbeChangesNothing(t *testing.T) {
	t.Parallel()
	path := lockPath(t)
	if held, _ := probe(t, path); held {
		t.Fatal("held without a file")
	}
	if _, err := os.Lstat(path); !errors.Is(err, os.ErrNotExist) {
		t.Fatalf("Probe made the file: %v", err)
	}
}

func TestReadersDoNotMakeALockHeld(t *testing.T) {
	t.Parallel()
	path := lockPath(t)
	l, err := TryLock(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	l.Release()
	reader, err := openRegular(path, os.O_RDONLY)
	if err != nil {
		t.Fatal(err)
	}
	if err := lockFile(reader, false); err != nil {
		t.Fatal(err)
	}
	pauses := 0
	l, err = tryLock(path, nil, func() {
		if pauses++; pauses == 3 {
			reader.Close()
		}
	})
	if err != nil || pauses != 3 {
		t.Fatalf("%v after %d pauses", err, pauses)
	}
	l.Release()
}

func TestManyWantOneLock(t *testing.T) {
	t.Parallel()
	path := lockPath(t)
	const n = 8
	locks := make([]*Lock, n)
	var done sync.WaitGroup
	for i := range n {
		done.Go(func() {
			l, err := TryLock(path, nil)
			if err != nil && !errors.Is(err, ErrLocked) {
				t.Error(err)
			}
			locks[i] = l
		})
	}
	done.Wait()
	got := 0
	for _, l := range locks {
		if l != nil {
			got++
			l.Release()
		}
	}
	if got != 1 {
		t.Fatalf("%d got the lock at once", got)
	}
}

// A file that another process is about to lock is either removed or locked, never both.
func TestRemoveUnheld(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	stop := make(chan struct{})
	var removers sync.WaitGroup
	for range 4 {
		removers.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				files, _ := os.ReadDir(dir)
				for _, f := range files {
					_ = RemoveUnheld(filepath.Join(dir, f.Name()))
				}
			}
		})
	}
	for i := range 2000 {
		path := filepath.Join(dir, strconv.Itoa(i))
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		l, err := TryLock(path, []byte("held"))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(path, path+".shown"); err != nil {
			t.Error(err)
		}
		l.Release()
	}
	close(stop)
	removers.Wait()
	if err := RemoveUnheld(filepath.Join(dir, "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("nothing is removed: %v", err)
	}
}
