package rooms

import (
	"errors"
	"os"
	"path/filepath"

	"github.com/wfs-dev/wfs/internal/durable"
	"github.com/wfs-dev/wfs/internal/holdout"
)

// roomHoldout is the name of a marker file next to a clean tree. It exists while the clean tree contains hold-out
// tests.
const roomHoldout = "holdout"

func holdoutMark(dir string) string { return filepath.Join(filepath.Dir(dir), roomHoldout) }

// LayHoldout adds hold-out tests to the clean tree in a directory, and marks the directory before.
func LayHoldout(dir string, pack holdout.Pack) error {
	if err := durable.WriteFile(holdoutMark(dir), nil, 0o600); err != nil {
		return err
	}
	err := pack.Lay(dir)
	durable.Hit(durable.HoldoutLaid)
	return err
}

// HoldoutGone removes the mark of a clean tree that was rebuilt without hold-out tests.
func HoldoutGone(dir string) { _ = os.Remove(holdoutMark(dir)) }

// ClearHoldouts removes clean trees of this repository that still contain hold-out tests, for instance because a
// process was killed: agents must not see those tests.
func (r *Rooms) ClearHoldouts() {
	dir, err := r.Dir()
	if err != nil {
		return
	}
	marks, _ := filepath.Glob(filepath.Join(dir, "*", roomHoldout))
	for _, mark := range marks {
		path := filepath.Dir(mark)
		if _, whose, ok := Used(path); !ok || whose != r.work.Repo.CommonDir() {
			continue
		}
		if err := r.Remove(path); err != nil && !errors.Is(err, durable.ErrLocked) {
			r.work.Front.Note("a clean checkout with hold-out tests was not removed: %v", err)
		}
	}
}
