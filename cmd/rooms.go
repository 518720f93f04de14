package cmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/wfs-dev/wfs/gitstate/room"
	"github.com/wfs-dev/wfs/internal/durable"
	"github.com/wfs-dev/wfs/internal/safetext"
	"github.com/wfs-dev/wfs/phases/agent"
	"github.com/wfs-dev/wfs/phases/process"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
)

// Clean trees lie in rooms, which the sessions of a repository share, one gate at a time each. They are in the person's
// state directory: tools that look in the directories above for packages, modules or configuration must not find the
// work tree's. The room itself is called as the repository, which some tools take for the project's name.

// cleanFor is the file beside a clean tree that says when it was used last, in Unix seconds, and whose it is:
// the path of the repository's common git directory.
const cleanFor = "for"

// roomLock stands beside each, and is held by the session that is in it.
const roomLock = "lock"

const (
	sameRooms = 3 // with the same packages: for sessions that judge at the same time
	maxRooms  = 6 // of one repository; those that were used longest ago go first

	roomWait = 200 * time.Millisecond // before it is asked again whether one is free
)

// rooms are those of this process.
type rooms struct {
	held   map[string]*durable.Lock // by name; let go when a judgement is made
	failed map[string]error         // set-ups that failed: they are not tried again
	made   func(dir string, took time.Duration)
}

// leaveRooms lets other sessions use the rooms of a judgement.
func (a *app) leaveRooms() {
	for name, lock := range a.rooms.held {
		lock.Release()
		delete(a.rooms.held, name)
	}
}

// setUpFailed reports a set-up that failed, and keeps it from being tried again.
func (a *app) setUpFailed(key string, err error) {
	if a.rooms.failed == nil {
		a.rooms.failed = map[string]error{}
	}
	a.rooms.failed[key] = err
	a.note("gates cannot run where worktree: setup has run: %s", safetext.Line(err.Error(), 300))
}

// room makes a clean tree in a room with a key that no other session is in; it waits for one.
func (a *app) room(ctx context.Context, key string, plan workflows.Plan, q room.Request,
	setUp func(dir string) error) (*session.CleanTree, error) {
	var err error
	q.Name, q.Dir, err = a.enterRoom(key)
	for err == nil && q.Name == "" {
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(roomWait):
			q.Name, q.Dir, err = a.enterRoom(key)
		}
	}
	if err != nil {
		return nil, err
	}
	began := a.env.Now()
	_, there := os.Lstat(q.Dir)
	if there != nil {
		if err := a.trimRooms(filepath.Dir(q.Dir)); err != nil {
			return nil, err
		}
	}
	q.Further, q.Env = plan.Provide, process.DefaultEnv(a.env.Environ, plan.Env)
	if setUp != nil {
		q.SetUp = func() error { return setUp(q.Dir) }
	}
	c, err := a.Repo.Rooms.Make(ctx, q)
	if there != nil && a.rooms.made != nil {
		a.rooms.made(q.Dir, a.env.Now().Sub(began))
	}
	return &c, err
}

// enterRoom finds a room that no other session is in, and keeps others out of it. The name is "" when all are taken.
func (a *app) enterRoom(key string) (name, dir string, err error) {
	all, err := a.roomsDir()
	if err != nil {
		return "", "", err
	}
	base := filepath.Base(cmp.Or(strings.TrimSuffix(a.Repo.CommonDir(), "/.git"), a.Repo.Root()))
	for n := range sameRooms {
		name = fmt.Sprintf("%s-%d", key, n)
		above := filepath.Join(all, name)
		dir = filepath.Join(above, base)
		if a.rooms.held[name] == nil {
			if err := durable.MkdirAll(above); err != nil {
				return "", "", err
			}
			lock, err := durable.TryLock(filepath.Join(above, roomLock), nil)
			if errors.Is(err, durable.ErrLocked) {
				continue
			}
			if err != nil {
				return "", "", err
			}
			if a.rooms.held == nil {
				a.rooms.held = map[string]*durable.Lock{}
			}
			a.rooms.held[name] = lock
		}
		return name, dir, a.usesClean(above)
	}
	return "", "", nil
}

// setUpIn runs the set-up in a room.
func (a *app) setUpIn(ctx context.Context, plan workflows.Plan, dir string) error {
	w := *a.Engine.Works.(*works)
	c := session.CleanTree{Root: dir, Live: []string{a.Repo.Root()}}
	r := w.runner()
	r.Root, r.Environ = dir, nil
	for _, entry := range a.env.Environ {
		r.Environ = append(r.Environ, c.Lead(entry))
	}
	return w.runSetUp(ctx, "set-up of a clean tree", r,
		agent.SetupRequest{Command: plan.Setup, Timeout: workflows.DefaultWorktreeTimeout, Env: plan.Env,
			RunDir: filepath.Dir(dir), RunID: "room-" + filepath.Base(filepath.Dir(dir))})
}

// runSetUp runs a set-up. Its output is in its log.
func (w *works) runSetUp(ctx context.Context, what string, r *agent.Runner, req agent.SetupRequest) error {
	w.say(what + ": " + safetext.Line(req.Command.Text(), 200) + " …")
	r.Report = nil
	return r.Setup(ctx, req)
}

// trimRooms makes place for one more: it removes those rooms of this repository that were used longest ago and that
// nobody is in.
func (a *app) trimRooms(except string) error {
	entries, err := os.ReadDir(filepath.Dir(except))
	if err != nil {
		return err
	}
	type room struct {
		path string
		used int64
	}
	var list []room
	for _, e := range entries {
		path := filepath.Join(filepath.Dir(except), e.Name())
		used, whose, ok := cleanUsed(path)
		if !ok || path == except || whose != a.Repo.CommonDir() {
			continue
		}
		if _, err := os.Lstat(filepath.Join(path, roomLock)); err != nil {
			continue
		}
		list = append(list, room{path, used})
	}
	slices.SortFunc(list, func(x, y room) int { return cmp.Compare(y.used, x.used) })
	for _, r := range list[min(len(list), maxRooms-1):] {
		if err := a.removeRoom(r.path); err != nil && !errors.Is(err, durable.ErrLocked) {
			return err
		}
	}
	return nil
}

// removeRoom removes a clean tree's directory, unless a session is in it.
func (a *app) removeRoom(path string) error {
	if _, err := os.Lstat(filepath.Join(path, roomLock)); err == nil && a.rooms.held[filepath.Base(path)] == nil {
		lock, err := durable.TryLock(filepath.Join(path, roomLock), nil)
		if err != nil {
			return err
		}
		defer lock.Release()
	}
	return errors.Join(a.Repo.Rooms.Forget(filepath.Base(path)), durable.RemoveTree(path))
}

func (a *app) roomsDir() (string, error) {
	state, err := a.env.StateDir()
	return filepath.Join(state, "clean"), err
}

// usesClean notes that the clean tree below a directory is used now.
func (a *app) usesClean(above string) error {
	text := fmt.Appendf(nil, "%d %s\n", a.env.Now().Unix(), a.Repo.CommonDir())
	return durable.WriteCache(filepath.Join(above, cleanFor), text, 0o600)
}

// cleanUsed reads that: when, in Unix seconds, and by which repository.
func cleanUsed(above string) (used int64, whose string, ok bool) {
	owner, err := os.ReadFile(filepath.Join(above, cleanFor))
	when, whose, ok := strings.Cut(strings.TrimSuffix(string(owner), "\n"), " ")
	used, bad := strconv.ParseInt(when, 10, 64)
	return used, whose, ok && err == nil && bad == nil
}

// cleanTrees finds clean trees of this repository that were not used since a time, and those of repositories
// that no longer exist.
func (g *search) cleanTrees() error {
	all, err := g.roomsDir()
	if err != nil {
		return nil //nolint:nilerr // there is no place for them
	}
	entries, _ := os.ReadDir(all)
	for _, e := range entries {
		path := filepath.Join(all, e.Name())
		used, whose, ok := cleanUsed(path)
		if !ok || g.young(used) {
			continue
		}
		if _, err := os.Lstat(whose); err != nil || whose == g.Repo.CommonDir() { // else its own gc sees to it
			g.addOutside("clean tree for gates", path)
		}
	}
	return nil
}

// sizeBelow is how much the files below a directory weigh.
func sizeBelow(dir string) (bytes int64) {
	_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			if info, err := d.Info(); err == nil {
				bytes += info.Size()
			}
		}
		return nil
	})
	return bytes
}
