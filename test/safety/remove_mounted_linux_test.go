package safety

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"
)

// Files that are mounted in a work tree, as containers do, are not deleted with it, even if all its own files may be.
func TestRemoveWhatIsMounted(t *testing.T) {
	t.Parallel()
	f := plainTemplate.fixture(t)
	f.ok("wfs", "new", "three", "--workflow", "plain", "--agent", "true", "--worktree")
	f.writeAll(map[string]string{".git/info/exclude": "cache\n", "cache/data": "data\n", "../repo-three/cache/data": "other\n"})
	const mounted = `mount --bind cache "$0" && exec "$@"`
	mount := []string{"unshare", "-rm", "sh", "-c", mounted, "../repo-three/cache"}
	try := exec.Command(mount[0], append(mount[1:], "cmp", "cache/data", "../repo-three/cache/data")...)
	try.Dir = f.dir
	if out, err := try.CombinedOutput(); err != nil {
		notHere(t, fmt.Sprintf("no mount of one's own: %v: %s", err, out))
	}
	out, exit := f.try(nil, append(mount, "wfs", "delete", "--worktree", "three", "--discard-ignored", "--discard-unsaved")...)
	if exit != 1 || !strings.Contains(out, "umount ") {
		t.Errorf("exit %d: %s", exit, out)
	}
	if got := f.ok("cat", "cache/data", "../repo-three/cache/data"); got != "data\nother" {
		t.Errorf("left is %q", got)
	}
	f.ok("wfs", "delete", "--worktree", "three", "--discard-ignored")
}
