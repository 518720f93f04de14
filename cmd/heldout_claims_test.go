package cmd

import (
	"slices"
	"sync"
	"testing"
)

// Sessions that begin with the same hold-out tests at the same time are all written down as those that want the copy.
func TestHoldoutsClaimedAtOnce(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var all []string
	var wait sync.WaitGroup
	for i := range 8 {
		owner := "/repository/.git\tsession-" + string(rune('a'+i))
		all = append(all, owner)
		wait.Go(func() {
			if err := claimHoldout(dir, owner); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	got := (&app{}).holdoutOwners(dir)
	if slices.Sort(got); !slices.Equal(got, all) {
		t.Errorf("owners are %q", got)
	}
}
