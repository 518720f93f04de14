package holdout

import (
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"
)

// Sessions that begin with the same hold-out tests at the same time are all recorded as owners of the copy.
func TestClaimedAtOnce(t *testing.T) {
	t.Parallel()
	store := Store(t.TempDir())
	if err := os.Mkdir(filepath.Join(string(store), "digest"), 0o700); err != nil {
		t.Fatal(err)
	}
	var all, got []string
	var wait sync.WaitGroup
	for i := range 8 {
		owner := "/repository/.git\tsession-" + string(rune('a'+i))
		all = append(all, owner)
		wait.Go(func() {
			if err := store.Claim("digest", owner); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	store.Unused(time.Now().Add(time.Hour), func(owner string) bool {
		got = append(got, owner)
		return false
	})
	if slices.Sort(got); !slices.Equal(got, all) {
		t.Errorf("owners are %q", got)
	}
}
