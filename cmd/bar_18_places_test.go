//go:build unix

package cmd

import (
	"os"
	"path/filepath"
	"testing"
)

// TestBar18LedgerPlace: what is not a file in the place of a ledger's ref is taken out of the way, and the ledger is found
// again: git leaves neither a directory nor a dangling link there, so nobody has deleted the session.
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
			if holdsText(t, out, "wfs doctor --repair"); exit == exitOK {
				t.Errorf("checkpoint: exit %d: %s", exit, out)
			}
			if out, exit = f.inTime("doctor"); exit != exitBlocked {
				t.Errorf("doctor: exit %d: %s", exit, out)
			}
			if out, exit = f.inTime("doctor", "--repair"); exit != exitOK {
				t.Fatalf("doctor --repair: exit %d: %s", exit, out)
			}
			if now := f.ok("git", "rev-parse", "refs/wfs/one/ledger"); now != was {
				t.Errorf("it is at %s, and was at %s: %s", now, was, out)
			}
			if kept, _ := filepath.Glob(filepath.Join(f.dir, ".git/wfs/refs/wfs_one_ledger.corrupt-*")); len(kept) != 1 {
				t.Errorf("what was there is not kept: %v", kept)
			}
			f.ok("wfs", "checkpoint", "-m", "again")
			f.nothingLost(before)
			f.sound()
		})
	}
}
