package safety

import (
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/wfs-dev/wfs/internal/testkit"
)

// reading are the commands that only read, as text and as JSON.
var reading = slices.Concat(lookers, asJSON(lookers), []string{"completion bash", "__complete resume ", "__complete diff one@", "run --dry-run", "config schema", "version", "help"})

var lookers = []string{
	"", "status", "status one", "status two", "list", "list --all", "log", "log two", "show", "show one@1", "show 0", "diff", "diff 0 1", "diff two",
	"log --events", "log --events two", "path", "path one", "config list", "config get workflow", "config path", "workflow list", "workflow check", "undo --list", "backups", "stats", "gc", "doctor",
}

func asJSON(commands []string) (all []string) {
	for _, args := range commands {
		all = append(all, strings.TrimSpace(args+" --json"))
	}
	return all
}

// unread are states about which readers have much to report: edits, an attempt that a dead process left open, half a
// move.
var unread = []struct {
	name  string
	build func(f *fixture)
}{
	{"edits of every sort, and a file that only looks changed, which git would note in the index", func(f *fixture) {
		f.dirty()
		f.write("second.txt", "second\n")
	}},
	{"an attempt that nobody carries on", func(f *fixture) { f.attempt(2); f.dirty() }},
	{"half a move", func(f *fixture) { f.switchDies(moveHalf) }},
	{"a turn that is not settled", func(f *fixture) { f.checkpointDies(ledgerMoved) }},
}

// TestBar10ReadersOnReadOnly checks that reading commands print the same for a repository on a read-only file system.
func TestBar10ReadersOnReadOnly(t *testing.T) {
	t.Parallel()
	const readOnly = `mount --bind "$0" "$0" && mount -o remount,ro,bind "$0" && cd "$0" && exec "$@"`
	if out, err := exec.Command("unshare", "-rm", "sh", "-c", readOnly, t.TempDir(), "sh", "-c", "! touch x").CombinedOutput(); err != nil {
		notHere(t, fmt.Sprintf("no read-only mount: %v: %s", err, out))
	}
	asked := 0
	for _, s := range unread {
		t.Run(s.name, func(t *testing.T) {
			testkit.Sample(t)
			f := plainTemplate.fixture(t)
			s.build(f)
			before := f.everything()
			for _, args := range reading {
				typed := append([]string{"wfs"}, strings.Split(args, " ")...)
				if args == "" {
					typed = typed[:1]
				}
				want, wantExit := f.try([]string{"WFS_NOW=1900000000"}, typed...)
				got, exit := f.try([]string{"WFS_NOW=1900000000"}, append([]string{"unshare", "-rm", "sh", "-c", readOnly, f.dir}, typed...)...)
				if exit != wantExit || got != want {
					t.Errorf("wfs %s: exit %d:\n%s\nwhere it may write: exit %d:\n%s", args, exit, got, wantExit, want)
				}
				asked++
			}
			if now := f.everything(); now != before {
				t.Errorf("reading changed\n%s\nto\n%s", before, now)
			}
		})
	}
	t.Logf("%d commands", asked)
}
