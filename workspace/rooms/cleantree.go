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

// Packages says which installed packages gates run with.
type Packages struct {
	Judged session.Tree // its manifests define them
	Fresh  bool         // use the current packages of the work tree: a person has approved them
	Cold   bool         // without files that earlier gates left there

	note note // of a session: the packages that its work began with, by the digest of its manifests
}

// Packages returns the packages for the gates of a run.
func (r *Rooms) Packages(runDir string, judged session.Tree, fresh bool) Packages {
	return Packages{Judged: judged, Fresh: fresh, note: r.note(runDir, "packages")}
}

// CleanTree makes a clean tree for the gates of a plan.
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
		c.LeadsBack.Mend = r.Mend(plan)
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

// setUpRoom makes a clean tree in which `worktree: setup` has run, nil if the plan has no set-up. A failed set-up says
// nothing about the tree: it is reported, and the result is nil.
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

// copiedTree makes a clean tree with packages copied from the work tree.
func (r *Rooms) copiedTree(ctx context.Context, plan workflows.Plan, in Packages,
	tree session.Tree) (*session.CleanTree, error) {
	key, err := r.work.Repo.Rooms.Installing(ctx, in.Judged)
	if err != nil {
		return nil, err
	}
	packages, known := in.note.read(key)
	if !known || in.Fresh {
		if !plan.Setup.IsZero() && !in.Fresh && len(in.note.text()) > 0 {
			return nil, session.ErrOtherPackages // the packages that manifests now require could not be installed
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

// KeepPackages copies the installed packages before an agent starts, unless there is a copy for the current manifests.
// Gates in clean trees run with this copy, regardless of later changes.
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

// key identifies the rooms of a repository with the same installed packages.
func (r *Rooms) key(installed string) string {
	sum := sha256.Sum256([]byte(r.work.Repo.CommonDir() + "\x00" + installed))
	return hex.EncodeToString(sum[:6])
}
