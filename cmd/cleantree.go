package cmd

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/wfs-dev/wfs/gitstate/room"
	"github.com/wfs-dev/wfs/internal/durable"
	"github.com/wfs-dev/wfs/phases/agent"
	"github.com/wfs-dev/wfs/phases/process"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
)

// packagesOf says which packages gates run with.
type packagesOf struct {
	note   note         // of a session: which ones its work began with, by the digest of its manifests
	judged session.Tree // its manifests say which ones are meant
	fresh  bool         // those of the work tree are taken as they are now: a person has approved it
	cold   bool         // without what gates left that ran there before
}

// cleanTree makes the clean tree of a tree, for the gates of a plan.
func (a *app) cleanTree(ctx context.Context, plan workflows.Plan, in packagesOf,
	tree session.Tree) (session.CleanTree, error) {
	c, err := a.setUpRoom(ctx, plan, in.cold, tree)
	if err == nil && c == nil {
		c, err = a.copiedTree(ctx, plan, in, tree)
	}
	if err != nil {
		return session.CleanTree{}, err
	}
	if c.LeadsBack != nil {
		c.LeadsBack.Mend = a.mendRooms(plan)
	}
	c.Home, c.Temp = filepath.Join(filepath.Dir(c.Root), "wfs-home"), filepath.Join(filepath.Dir(c.Root), "wfs-tmp")
	for _, dir := range []string{c.Home, c.Temp} {
		if err := errors.Join(durable.RemoveTree(dir), durable.MkdirAll(dir)); err != nil {
			return *c, err
		}
	}
	if len(c.Temp) > agent.MaxTempDir {
		c.Temp = ""
	}
	return *c, nil
}

// setUpRoom makes the clean tree of a tree where `worktree: setup` has run, nil when there is none. A set-up that fails
// says nothing about the tree, and is reported.
func (a *app) setUpRoom(ctx context.Context, plan workflows.Plan, cold bool,
	tree session.Tree) (*session.CleanTree, error) {
	if plan.Setup.IsZero() {
		return nil, nil
	}
	installs, err := a.Repo.Rooms.Installing(ctx, tree)
	if err != nil {
		return nil, err
	}
	tools := process.Tools(process.DefaultEnv(a.env.Environ, plan.Env), plan.Setup)
	key := a.roomKey(fmt.Sprintf("%q %q %q", installs, plan.Setup, tools))
	if a.rooms.failed[key] != nil {
		return nil, nil
	}
	c, err := a.room(ctx, key, plan, room.Request{Tree: tree, Cold: cold},
		func(dir string) error { return a.setUpIn(ctx, plan, dir) })
	if err == nil || ctx.Err() != nil {
		return c, err
	}
	if refused := (*session.Refusal)(nil); errors.As(err, &refused) {
		err = errors.New(refused.Message)
	}
	a.setUpFailed(key, err)
	return nil, nil
}

// copiedTree makes it with packages that are copied from the work tree.
func (a *app) copiedTree(ctx context.Context, plan workflows.Plan, in packagesOf,
	tree session.Tree) (*session.CleanTree, error) {
	key, err := a.Repo.Rooms.Installing(ctx, in.judged)
	if err != nil {
		return nil, err
	}
	packages, known := in.note.read(key)
	if !known || in.fresh {
		if !plan.Setup.IsZero() && !in.fresh && len(in.note.text()) > 0 {
			return nil, session.ErrOtherPackages // the ones that manifests ask for now could not be installed
		}
		if packages, err = a.Repo.Rooms.PackagesDigest(ctx, in.judged); err != nil {
			return nil, err
		}
		if err := in.note.write(key, packages); err != nil {
			return nil, err
		}
	}
	c, err := a.room(ctx, a.roomKey(packages), plan, room.Request{Tree: tree, Cold: in.cold, Judged: in.judged,
		Packages: packages}, nil)
	if err != nil {
		return nil, err
	}
	c.Stale = func() bool {
		now, err := a.Repo.Rooms.PackagesDigest(ctx, in.judged)
		return err == nil && now != packages
	}
	return c, nil
}

// takePackages copies what is installed before an agent starts, if there is no copy yet of what manifests ask
// for: gates in clean trees run with that, whatever is done to it meanwhile.
func (w *works) takePackages(ctx context.Context, r session.RunRequest) error {
	a := w.app
	in := packagesOf{note: a.noteOf(r.RunDir, "packages"), judged: r.Started.Tree}
	if r.Plan.Unproven {
		return nil
	}
	if err := in.note.save(); err != nil {
		return err
	}
	key, err := a.Repo.Rooms.Installing(ctx, in.judged)
	if err != nil {
		return err
	}
	there, err := a.Repo.Rooms.Installed(ctx, in.judged)
	if err != nil {
		return err
	}
	if len(there) == 0 {
		return in.note.write(key, room.NoPackages())
	}
	defer a.leaveRooms()
	if c, err := a.setUpRoom(ctx, r.Plan, false, in.judged); err != nil {
		return err
	} else if c != nil {
		return in.note.write(key, "set-up")
	}
	w.say("keeping a copy of what is installed …")
	_, err = a.copiedTree(ctx, r.Plan, in, in.judged)
	durable.Hit(durable.PackagesKept)
	return err
}

// roomKey tells rooms of a repository apart by what is installed in them.
func (a *app) roomKey(installed string) string {
	sum := sha256.Sum256([]byte(a.Repo.CommonDir() + "\x00" + installed))
	return hex.EncodeToString(sum[:6])
}
