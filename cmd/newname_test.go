package cmd

import (
	"context"
	"slices"
	"testing"

	"github.com/wfs-dev/wfs/session"
)

// A session that begins between the look for a free name and the lock has its name for itself: the later one gets the next.
func TestNameOfANewSessionIsTakenMeanwhile(t *testing.T) {
	t.Parallel()
	f := plainTemplate.fixture(t)
	a := f.app()
	defer a.close()
	if err := a.hold("test"); err != nil {
		t.Fatal(err)
	}
	var asked []session.ID
	id, err := a.holdFree(context.Background(), "Same", func(id session.ID) error {
		if asked = append(asked, id); len(asked) == 1 {
			f.ok("wfs", "new", "same", "--workflow", "plain", "--agent", "true", "--worktree", "--dir", "../of-same")
		}
		return a.hold("test", id)
	})
	if err != nil || id != "same-2" || !slices.Equal(asked, []session.ID{"same", "same-2"}) {
		t.Errorf("%q after %q: %v", id, asked, err)
	}
	if _, held, err := a.clone.Driver("same"); held || err != nil {
		t.Errorf("the other session's lock is still held: %v, %v", held, err)
	}
	if _, held, err := a.clone.Driver("same-2"); !held || err != nil {
		t.Errorf("nobody holds the new one: %v, %v", held, err)
	}
}
