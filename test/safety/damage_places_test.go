package safety

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
)

// TestBar18LedgerPlace: with an empty directory or a dangling link in the place of a ledger's ref, which git replaces, the
// command that puts the ledger back is printed, and works.
func TestBar18LedgerPlace(t *testing.T) {
	t.Parallel()
	for name, put := range map[string]func(path string) error{
		"an empty directory":    func(path string) error { return os.Mkdir(path, 0o777) },
		"a directory with more": func(path string) error { return os.MkdirAll(filepath.Join(path, "below", "it"), 0o777) },
		"a dangling link":       func(path string) error { return os.Symlink("../nowhere", path) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := plainTemplate.fixture(t)
			before := f.blobs()
			ledger := filepath.Join(f.dir, ".git/refs/wfs/one/ledger")
			was := f.ok("git", "rev-parse", "refs/wfs/one/ledger")
			if err := os.Remove(ledger); err != nil {
				t.Fatal(err)
			}
			if err := put(ledger); err != nil {
				t.Fatal(err)
			}
			out, exit := f.inTime("checkpoint")
			if holdsText(t, out, "git update-ref refs/wfs/one/ledger"); exit == exitOK {
				t.Errorf("checkpoint: exit %d: %s", exit, out)
			}
			out = f.doneAsTold()
			if now := f.ok("git", "rev-parse", "refs/wfs/one/ledger"); now != was {
				t.Errorf("it is at %s, and was at %s: %s", now, was, out)
			}
			f.ok("wfs", "checkpoint", "-m", "again")
			f.nothingLost(before)
			f.sound()
		})
	}
}

// TestBar18RefPlaces: what git would wait for, or walk through without end, in a place of refs stops no command for longer
// than it takes to say so; the repair and the commands that the doctor prints bring back what was there. With WFS_SWEEP=all
// there are more kinds of it.
func TestBar18RefPlaces(t *testing.T) {
	t.Parallel()
	kinds := map[string]func(path string) error{
		"a link to a directory":         func(path string) error { return os.Symlink("/", path) },
		"a FIFO":                        func(path string) error { return syscall.Mkfifo(path, 0o600) },
		"a link that leads in a circle": func(path string) error { return os.Symlink(filepath.Base(path), path) },
		"a link to a device":            func(path string) error { return os.Symlink("/dev/zero", path) },
		"a socket":                      listening,
		"a directory with links back up": func(path string) error {
			return errors.Join(os.Mkdir(path, 0o777), os.Symlink("..", filepath.Join(path, "up")))
		},
	}
	places := []string{"refs/wfs/one/ledger", "refs/heads/wfs/one", "refs/wfs", "refs/heads/wfs", "packed-refs"}
	for kind, put := range kinds {
		for _, place := range places {
			if strings.HasPrefix(kind, "a directory") && place != "refs/wfs/one/ledger" && place != "packed-refs" {
				continue // git takes a directory for one of refs, and what is in it is looked at
			}
			if kind != "a FIFO" && kind != "a link to a directory" && os.Getenv("WFS_SWEEP") != "all" {
				continue
			}
			t.Run(kind+" at "+place, func(t *testing.T) {
				t.Parallel()
				f := plainTemplate.fixture(t)
				before, refs := f.blobs(), f.ok("git", "for-each-ref")
				if place == "packed-refs" {
					f.ok("git", "pack-refs", "--all")
				}
				path := filepath.Join(f.dir, ".git", place)
				if err := errors.Join(os.RemoveAll(path), put(path)); err != nil {
					t.Fatal(err)
				}
				for _, args := range [][]string{{"status"}, {"list"}, {"log"}, {"checkpoint"}, {"gc"}} {
					if out, exit := f.inTime(args...); exit != exitOK {
						holdsText(t, out, "wfs doctor")
					}
				}
				if out, exit := f.inTime("doctor"); exit != exitBlocked {
					t.Errorf("doctor: exit %d: %s", exit, out)
				}
				out := f.doneAsTold()
				if place == "packed-refs" { // nothing else tells where the operation log was
					refs = regexp.MustCompile(`.*\trefs/wfs-ops/.*\n`).ReplaceAllString(refs, "")
				}
				if now := f.ok("git", "for-each-ref"); now != refs {
					t.Errorf("refs are\n%s\nand were\n%s\n%s", now, refs, out)
				}
				f.ok("wfs", "checkpoint", "-m", "again")
				if place != "packed-refs" {
					f.nothingLost(before)
				}
				f.sound()
			})
		}
	}
}

// doneAsTold lets the doctor repair, and types what it prints to type, until it has nothing more of that kind.
func (f *fixture) doneAsTold() string {
	f.t.Helper()
	all := ""
	for range 5 {
		out, exit := f.inTime("doctor", "--repair")
		all += out
		lines := regexp.MustCompile(`(?m) Type: ((?:mv|git update-ref|git branch) .*)$`).FindAllStringSubmatch(out, -1)
		if len(lines) == 0 {
			if exit != exitOK {
				f.t.Errorf("doctor --repair: exit %d: %s", exit, all)
			}
			return all
		}
		for _, l := range lines {
			f.ok("sh", "-c", l[1])
		}
	}
	f.t.Errorf("the doctor does not come to an end: %s", all)
	return all
}

// listening puts a socket somewhere. Its name may be too long to be bound from elsewhere.
func listening(path string) error {
	fd, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err != nil {
		return err
	}
	short, err := os.MkdirTemp("", "s")
	if err != nil {
		return err
	}
	at := filepath.Join(short, "s")
	return errors.Join(syscall.Bind(fd, &syscall.SockaddrUnix{Name: at}), syscall.Close(fd), os.Rename(at, path), os.Remove(short))
}

// TestBar18HeadPlace: a HEAD or a configuration that git would wait for is said, with the way out.
func TestBar18HeadPlace(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"HEAD", "config", "index"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := plainTemplate.fixture(t)
			path := filepath.Join(f.dir, ".git", name)
			if err := errors.Join(os.Remove(path), syscall.Mkfifo(path, 0o600)); err != nil {
				t.Fatal(err)
			}
			for _, args := range [][]string{{"status"}, {"checkpoint"}, {"doctor", "--repair"}} {
				out, exit := f.inTime(args...)
				holdsText(t, out, path+" is a FIFO")
				if holdsText(t, out, "mv "+path); exit != exitError {
					t.Errorf("%v: exit %d: %s", args, exit, out)
				}
			}
		})
	}
}
