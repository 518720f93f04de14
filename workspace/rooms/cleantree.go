package rooms

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/wfs-dev/wfs/phases/agent"
	"github.com/wfs-dev/wfs/phases/process"

	"github.com/wfs-dev/wfs/gitstate/room"
	"github.com/wfs-dev/wfs/internal/durable"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
)

// Packages says which installed packages a gate in a clean tree gets.
type Packages struct {
	Judged session.Tree // the packages are those that the manifests of this tree require
	Fresh  bool         // use the packages that are installed in the work tree now, because a person has approved them
	Cold   bool         // start without the files that earlier gates left in the clean tree

	note note // the session's record of the packages with which its work began, by the digest of their manifests
}

// Packages returns the packages for gates of a run that judge the tree `judged`.
func (r *Rooms) Packages(runDir string, judged session.Tree, fresh bool) Packages {
	return Packages{Judged: judged, Fresh: fresh, note: r.note(runDir, "packages")}
}

// CleanTree makes a clean tree with the files of `tree`, in which gates of a plan can run.
func (r *Rooms) CleanTree(ctx context.Context, plan workflows.Plan, in Packages,
	tree session.Tree) (session.CleanTree, error) {
	c, err := r.setUpRoom(ctx, plan, in.Cold, tree)
	if err == nil && c == nil {
		c, err = r.copiedTree(ctx, plan, in, tree)
	}
	if err != nil {
		return session.CleanTree{}, err
	}
	if c.LeadsBack != nil {
		c.LeadsBack.Mend = r.Mend(ctx, plan)
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

// setUpRoom makes a clean tree in which the configured `worktree: setup` has run. It returns nil if the plan has no
// set-up, or if the set-up fails: the failure is reported, but says nothing about the judged tree.
func (r *Rooms) setUpRoom(ctx context.Context, plan workflows.Plan, cold bool,
	tree session.Tree) (*session.CleanTree, error) {
	if plan.Setup.IsZero() {
		return nil, nil
	}
	installs, err := r.work.Repo.Rooms.Installing(ctx, tree)
	if err != nil {
		return nil, err
	}
	tools := process.Tools(process.DefaultEnv(r.work.Env.Environ, plan.Env), plan.Setup)
	key := r.key(fmt.Sprintf("%q %q %q", installs, plan.Setup, tools))
	if r.failed[key] != nil {
		return nil, nil
	}
	c, err := r.room(ctx, key, plan, room.Request{Tree: tree, Cold: cold},
		func(dir string) error { return r.setUpIn(ctx, plan, dir) })
	if err == nil || ctx.Err() != nil {
		return c, err
	}
	if refused := (*session.Refusal)(nil); errors.As(err, &refused) {
		err = errors.New(refused.Message)
	}
	r.setUpFailed(key, err)
	return nil, nil
}

// copiedTree makes a clean tree with packages that are copied from the work tree.
func (r *Rooms) copiedTree(ctx context.Context, plan workflows.Plan, in Packages,
	tree session.Tree) (*session.CleanTree, error) {
	key, err := r.work.Repo.Rooms.Installing(ctx, in.Judged)
	if err != nil {
		return nil, err
	}
	packages, known := in.note.read(key)
	if !known || in.Fresh {
		if !plan.Setup.IsZero() && !in.Fresh && len(in.note.text()) > 0 {
			// the set-up could not install the packages that the manifests now require, and a copy would have other
			// packages
			return nil, session.ErrOtherPackages
		}
		if packages, err = r.work.Repo.Rooms.PackagesDigest(ctx, in.Judged); err != nil {
			return nil, err
		}
		if err := in.note.write(key, packages); err != nil {
			return nil, err
		}
	}
	c, err := r.room(ctx, r.key(packages), plan, room.Request{Tree: tree, Cold: in.Cold, Judged: in.Judged,
		Packages: packages}, nil)
	if err != nil {
		return nil, err
	}
	c.Stale = func() bool {
		now, err := r.work.Repo.Rooms.PackagesDigest(ctx, in.Judged)
		return err == nil && now != packages
	}
	return c, nil
}

// KeepPackages copies the installed packages before an agent starts, unless there is a copy for the current manifests
// already. Gates in clean trees use this copy, so that packages which the agent changes later have no effect on them.
func (r *Rooms) KeepPackages(ctx context.Context, run session.RunRequest, say func(string)) error {
	in := r.Packages(run.RunDir, run.Started.Tree, false)
	if run.Plan.Unproven {
		return nil
	}
	if err := in.note.save(); err != nil {
		return err
	}
	key, err := r.work.Repo.Rooms.Installing(ctx, in.Judged)
	if err != nil {
		return err
	}
	there, err := r.work.Repo.Rooms.Installed(ctx, in.Judged)
	if err != nil {
		return err
	}
	if len(there) == 0 {
		return in.note.write(key, room.NoPackages())
	}
	defer r.Leave()
	if c, err := r.setUpRoom(ctx, run.Plan, false, in.Judged); err != nil {
		return err
	} else if c != nil {
		return in.note.write(key, "set-up")
	}
	say("keeping a copy of what is installed …")
	_, err = r.copiedTree(ctx, run.Plan, in, in.Judged)
	durable.Hit(durable.PackagesKept)
	return err
}

// key returns an identifier for the rooms of this repository that have the same installed packages.
func (r *Rooms) key(installed string) string {
	sum := sha256.Sum256([]byte(r.work.Repo.CommonDir() + "\x00" + installed))
	return hex.EncodeToString(sum[:6])
}
