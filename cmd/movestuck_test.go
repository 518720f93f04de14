package cmd

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/wfs-dev/wfs/engine"
	"github.com/wfs-dev/wfs/gitstate"
	"github.com/wfs-dev/wfs/session"
)

// immovable is a store that moves one file and then none any more, in either direction.
type immovable struct {
	*gitstate.Repo
	f *fixture
}

var errImmovable = errors.New("no space left on device")

func (i immovable) MoveTree(_ context.Context, p session.Move) error {
	i.f.moveOne(p)
	return errImmovable
}

func (i immovable) MoveBack(context.Context, session.Move, session.Tree) error { return errImmovable }

// A move that can be neither carried out nor taken back is named by the error and by the doctor, with a way out that works.
func TestMoveThatStaysHalfWay(t *testing.T) {
	t.Parallel()
	f := plainTemplate.fixture(t)
	f.dirty()
	before := f.blobs()
	a := f.app()
	ctx := context.Background()
	a.eng.Store = immovable{a.repo, f}
	if err := a.hold("test", "two"); err != nil {
		t.Fatal(err)
	}
	h, err := a.take(ctx, "two")
	if err == nil {
		_, err = h.Enter(ctx)
	}
	said := a.diagnose(err)
	a.gone("two")
	var failed *engine.MoveFailedError
	if !errors.As(err, &failed) || failed.Stuck == nil || len(failed.Kept) == 0 || said.Code != "move_failed" || !strings.Contains(said.Hint, "git switch -c put-aside") {
		t.Fatalf("%v: %+v", err, said)
	}
	f.nothingLost(before)
	f.happened("two", "move_started move_started")
	out, exit := f.try(nil, "wfs", "doctor")
	if exit != exitBlocked || !strings.Contains(out, "a command stopped half-way: switch from wfs/one to two") || !strings.Contains(out, "Type: git switch -c put-aside") {
		t.Errorf("doctor: exit %d: %s", exit, out)
	}
	f.ok("git", "switch", "-q", "-c", "put-aside")
	f.ok("wfs", "switch", "one")
	f.on("wfs/one")
	f.happened("two", "move_started move_started dropped")
	f.nothingLost(before)
	f.ok("wfs", "doctor")
	f.ok("wfs", "switch", "two")
	onTwo(f)
	f.sound()
}
