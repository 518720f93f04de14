package gitstate

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/wfs-dev/wfs/gitstate/refs"
)

// TestFIFOInPlaceOfARef: a FIFO in place of a ref is a broken ref that doctor can replace. Opening it would block
// forever.
func TestFIFOInPlaceOfARef(t *testing.T) {
	t.Parallel()
	r := newSaving(t)
	ref := refs.LedgerRef(testID)
	at := r.resolve(ref)
	file := filepath.Join(r.Git.CommonDir, filepath.FromSlash(ref))
	if err := errors.Join(os.Remove(file), unix.Mkfifo(file, 0o600)); err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	if got, err := r.Refs.Ref(ctx, ref); !errors.Is(err, refs.ErrBrokenRef) || got != "" {
		t.Errorf("%q, %v", got, err)
	}
	kept, err := r.Refs.Replant(ctx, refs.BrokenRef{Ref: ref, File: file}, at, filepath.Join(r.Git.StateDir(), "refs"))
	if err != nil || kept == "" {
		t.Fatalf("%q, %v", kept, err)
	}
	if got := r.resolve(ref); got != at {
		t.Errorf("it is at %s and was at %s", got, at)
	}
	r.wantSound()
}
