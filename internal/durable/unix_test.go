package durable

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

func init() {
	parts["umask"] = func(args []string) error { // the umask is process-wide
		var mask int
		if _, err := fmt.Sscanf(args[0], "%o", &mask); err != nil {
			return err
		}
		top := args[1]
		unix.Umask(mask)
		dir := filepath.Join(top, "a", "b")
		if err := MkdirAll(dir); err != nil {
			return err
		}
		if err := WriteFile(filepath.Join(dir, "written"), nil, 0o600); err != nil {
			return err
		}
		a, err := OpenAppend(filepath.Join(dir, "appended"))
		if err != nil {
			return err
		}
		defer a.Close()
		l, err := TryLock(filepath.Join(dir, "lock"), nil)
		if err != nil {
			return err
		}
		return l.Release()
	}
	parts["full"] = func(args []string) error { // a disk with room for 10 bytes of each file
		signal.Ignore(unix.SIGXFSZ)
		a, err := OpenAppend(args[0] + ".log")
		if err != nil {
			return err
		}
		limit := unix.Rlimit{Cur: 10, Max: 10}
		if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &limit); err != nil {
			return err
		}
		if err := WriteFile(args[0], []byte("much too long for it"), 0o600); err == nil {
			return errors.New("WriteFile said yes")
		}
		if err := a.Append([]byte("much too long for it\n")); err == nil {
			return errors.New("Append said yes")
		}
		if err := Truncate(args[0]+".log", 0); err != nil { // there is room again
			return err
		}
		if err := a.Append([]byte("x\n")); err == nil {
			return errors.New("Append said yes after a failure")
		}
		return nil
	}
}

func TestModesDoNotDependOnTheUmask(t *testing.T) {
	t.Parallel()
	for _, mask := range []string{"000", "022", "777"} {
		t.Run(mask, func(t *testing.T) {
			t.Parallel()
			top := t.TempDir()
			if out, err := another(t, "umask", mask, top).Output(); err != nil {
				t.Fatal(err, string(out))
			}
			for name, want := range map[string]fs.FileMode{"a": 0o700, "a/b": 0o700, "a/b/written": 0o600, "a/b/appended": 0o600, "a/b/lock": 0o600} {
				info, err := os.Stat(filepath.Join(top, name))
				if err != nil {
					t.Fatal(err)
				}
				if got := info.Mode().Perm(); got != want {
					t.Errorf("%s has mode %04o, want %04o", name, got, want)
				}
			}
		})
	}
}

func TestFullDisk(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "state")
	if err := WriteFile(path, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := another(t, "full", path).Output(); err != nil {
		t.Fatal(err)
	}
	if got, err := ReadFile(path, 100); err != nil || string(got) != "old" {
		t.Fatalf("%q, %v", got, err)
	}
	if got := names(t, dir); got != "state state.log" {
		t.Fatalf("left behind: %s", got)
	}
}

func TestWhatIsNoRegularFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "file"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	fifo, link := filepath.Join(dir, "fifo"), filepath.Join(dir, "link")
	if err := unix.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("file", link); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{fifo, link, dir} {
		_, readErr := ReadFile(path, 10)
		_, appendErr := OpenAppend(path)
		_, lockErr := TryLock(path, nil)
		_, _, probeErr := Probe(path)
		for what, err := range map[string]error{"ReadFile": readErr, "OpenAppend": appendErr, "TryLock": lockErr, "Probe": probeErr} {
			if !errors.Is(err, ErrNotRegular) {
				t.Errorf("%s(%s) = %v, want ErrNotRegular", what, filepath.Base(path), err)
			}
		}
		// The same without the check before, as if the file had been swapped in between.
		if path != dir {
			for _, flag := range []int{os.O_RDONLY, os.O_WRONLY} {
				f, err := open(path, flag)
				if err == nil {
					if info, _ := f.Stat(); info.Mode().IsRegular() {
						t.Errorf("open(%s) followed the link", path)
					}
					f.Close()
				} else if !errors.Is(err, ErrNotRegular) {
					t.Errorf("open(%s) = %v", path, err)
				}
			}
		}
	}
}

func TestDirectoriesThatAreRefused(t *testing.T) {
	t.Parallel()
	top := t.TempDir()
	dir, link := filepath.Join(top, "dir"), filepath.Join(top, "link")
	if err := MkdirAll(dir); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("dir", link); err != nil {
		t.Fatal(err)
	}
	if err := MkdirAll(link); !errors.Is(err, ErrNotPrivate) || !strings.Contains(err.Error(), "symbolic link") {
		t.Fatalf("MkdirAll(link) = %v", err)
	}
	if err := MkdirAll(filepath.Join(link, "below")); err != nil {
		t.Fatalf("a link as a parent: %v", err)
	}
	if found, err := CheckPrivateDir(dir); !found || err != nil {
		t.Fatalf("%v, %v", found, err)
	}
	if found, err := CheckPrivateDir(dir + "-absent"); found || err != nil {
		t.Fatalf("%v, %v", found, err)
	}
	for _, mode := range []fs.FileMode{0o720, 0o702, 0o777} {
		if err := os.Chmod(dir, mode); err != nil {
			t.Fatal(err)
		}
		if _, err := CheckPrivateDir(dir); !errors.Is(err, ErrNotPrivate) {
			t.Fatalf("mode %04o: %v", mode, err)
		}
	}
}

func TestAChildInheritsALock(t *testing.T) {
	t.Parallel()
	path := lockPath(t)
	l, err := TryLock(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	heir := another(t, "wait")
	heir.ExtraFiles = append(heir.ExtraFiles, l.File())
	endHeir := begin(t, heir)
	endOther := begin(t, another(t, "wait")) // it did not get the lock, so it must not matter
	if err := l.Release(); err != nil {
		t.Fatal(err)
	}
	if held, _ := probe(t, path); !held {
		t.Fatal("free while the child that was given it lives")
	}
	endHeir()
	if held, _ := probe(t, path); held {
		t.Fatal("held by a child that was not given it")
	}
	endOther()
}
