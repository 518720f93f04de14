package safety

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/wfs-dev/wfs/internal/testkit"
)

// diskFiles and diskCheckpoints are the sizes of the short form; WFS_DISK=all has 10,000 files and 100 checkpoints.
const (
	diskFiles       = 500
	diskCheckpoints = 10
)

// TestBar20Disk makes checkpoints of one-line changes in a repository of many files: each takes at most 64 KB more
// than the changed content, the ledger included; no temporary files are left; and wfs never removes objects that git
// could prune but the user has not pruned.
func TestBar20Disk(t *testing.T) {
	files, checkpoints := diskFiles, diskCheckpoints
	if os.Getenv("WFS_DISK") == "all" {
		files, checkpoints = 10_000, 100
	}
	f := plainTemplate.fixture(t)
	f.ok("wfs", "switch", "main")
	// git would read files as young as the index again at each checkpoint, and rebuild their trees.
	long := time.Unix(1_000_000_000, 0)
	for i := range files {
		name := fmt.Sprintf("many/%02d/%d.txt", i%100, i)
		f.write(name, strings.Repeat(fmt.Sprintf("line of file %d\n", i), 40))
		if err := os.Chtimes(filepath.Join(f.dir, name), long, long); err != nil {
			t.Fatal(err)
		}
	}
	f.ok("git", "add", "-A")
	f.ok("git", "commit", "-q", "-m", "many")
	// An unreachable commit still belongs to the user, who may know its id.
	f.ok("git", "commit", "-q", "--allow-empty", "-m", "taken back")
	unreachable := f.ok("git", "rev-parse", "HEAD")
	f.ok("git", "reset", "-q", "--hard", "HEAD~1")
	f.ok("git", "reflog", "expire", "--expire=now", "--all")
	f.ok("wfs", "new", "disk", "--workflow", "plain", "--agent", "true")
	f.ok("git", "repack", "-dq") // unreachable objects stay where they are
	before, loose := f.weightOf(".git"), f.looseObjects()
	most, content := int64(0), int64(0)
	for i := range checkpoints {
		at := f.weightOf(".git")
		text := strings.Repeat(fmt.Sprintf("line of file %d\n", i), 39) + fmt.Sprintf("changed %d\n", i)
		f.write(fmt.Sprintf("many/%02d/%d.txt", i%100, i), text)
		f.ok("wfs", "checkpoint", "-m", fmt.Sprint(i))
		content += int64(len(text))
		most = max(most, f.weightOf(".git")-at-int64(len(text)))
		if left := testkit.Litter(f.dir); len(left) > 0 {
			t.Fatalf("checkpoint %d left %v", i, left)
		}
	}
	grown := f.weightOf(".git") - before
	t.Logf("%d files, %d checkpoints: %d bytes each, %d of them content; at most %d beside content; %d loose objects more",
		files, checkpoints, grown/int64(checkpoints), content/int64(checkpoints), most, f.looseObjects()-loose)
	if each := (grown - content) / int64(checkpoints); each > 64<<10 {
		t.Errorf("each checkpoint costs %d bytes beside what changed", each)
	}
	if n := f.looseObjects() - loose; n > checkpoints {
		t.Errorf("%d loose objects more", n)
	}
	f.ok("wfs", "gc", "--force", "--days", "0")
	f.ok("git", "cat-file", "commit", unreachable)
	f.sound()
}

// weightOf returns the total size of the files below a directory, in bytes.
func (f *fixture) weightOf(dir string) (sum int64) {
	f.t.Helper()
	err := filepath.WalkDir(filepath.Join(f.dir, dir), func(_ string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err == nil && info.Mode().IsRegular() {
			sum += info.Size()
		}
		return err
	})
	if err != nil {
		f.t.Fatal(err)
	}
	return sum
}

func (f *fixture) looseObjects() (n int) {
	f.t.Helper()
	if _, err := fmt.Sscan(f.ok("git", "count-objects"), &n); err != nil {
		f.t.Fatal(err)
	}
	return n
}
