package safety

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// TestBar18LedgerPlace puts an empty directory or a dangling link, which git replaces, at the path of a ledger's ref:
// doctor prints the command that restores the ledger, and the command works.
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

// doneAsTold runs `doctor --repair` and the commands that it prints to type, until it prints no more.
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
