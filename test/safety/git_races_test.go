package safety

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// TestBar06RacesWithGit makes checkpoints while git runs in loops: it commits on another branch in another work tree,
// collects garbage with --prune=now, packs all objects and packs all refs. Each failure is reported, and the command
// succeeds within three tries; nothing that was reported as saved is missing in the end. WFS_RACES sets the number of
// checkpoints.
func TestBar06RacesWithGit(t *testing.T) {
	checkpoints := 10
	if many := os.Getenv("WFS_RACES"); many != "" {
		if _, err := fmt.Sscan(many, &checkpoints); err != nil {
			t.Fatalf("WFS_RACES=%s", many)
		}
	}
	f := plainTemplate.fixture(t)
	f.ok("git", "worktree", "add", "-q", "-b", "other", "../other")
	over, loops, rounds := make(chan struct{}), sync.WaitGroup{}, map[string]*[2]int{}
	var apart sync.Mutex // git deletes objects that another git is about to commit
	for _, line := range []string{"git -C ../other commit -q --allow-empty -m theirs", "git gc -q --prune=now", "git repack -adq", "git pack-refs --all"} {
		n := &[2]int{}
		rounds[line] = n
		loops.Go(func() {
			for {
				select {
				case <-over:
					return
				default:
				}
				c := exec.Command("sh", "-c", line)
				c.Dir, c.Env = f.dir, f.env
				packs := !strings.Contains(line, "pack-refs")
				if packs {
					apart.Lock()
				}
				n[0]++
				if c.Run() != nil {
					n[1]++
				}
				if packs {
					apart.Unlock()
				}
			}
		})
	}
	end := sync.OnceFunc(func() { close(over); loops.Wait() })
	defer end()

	var saved []string
	again := 0
	for i := range checkpoints {
		f.write("raced.txt", fmt.Sprintf("raced %d\n", i))
		f.write(fmt.Sprintf("raced/%d.txt", i%7), fmt.Sprintf("file %d\n", i))
		for try := 1; ; try++ {
			out, exit := f.try(nil, "wfs", "checkpoint", "-m", fmt.Sprint(i))
			if exit == 0 && strings.HasPrefix(out, "checkpoint ") {
				break
			}
			again++
			t.Logf("checkpoint %d, try %d: exit %d: %s", i, try, exit, out)
			if try > 3 {
				t.Fatalf("checkpoint %d did not come through", i)
			}
		}
		for _, ref := range []string{"refs/heads/wfs/one", "refs/wfs/one/ledger"} {
			saved = append(saved, f.ok("git", "rev-parse", ref))
		}
		if text := f.ok("git", "show", "wfs/one:raced.txt"); text != fmt.Sprintf("raced %d", i) {
			t.Errorf("checkpoint %d holds %q", i, text)
		}
	}
	end()
	reached := f.reachable()
	lost := 0
	for _, c := range saved {
		if !reached[c] {
			lost++
			t.Errorf("%s is not reachable", c)
		}
	}
	f.sound()
	if left, _ := filepath.Glob(filepath.Join(f.dir, ".git/objects/pack/*.keep")); len(left) > 0 {
		t.Errorf("git must keep these packs for ever: %v", left)
	}
	t.Logf("%d checkpoints, %d typed again, %d of %d commits lost", checkpoints, again, lost, len(saved))
	for line, n := range rounds {
		t.Logf("%s: %d times, %d failed", strings.TrimPrefix(line, "git "), n[0], n[1])
	}
}
