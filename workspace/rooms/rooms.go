// Package rooms keeps the clean trees of a repository, in which gates run.
//
// A clean tree is in a room: a directory that the sessions of a repository share, but that only one gate uses at a
// time. Rooms are in the user's state directory, because tools that search parent directories for packages, modules or
// configuration must not find those of the work tree. In the room, the directory with the clean tree has the
// repository's name, because some tools use it as the project's name.
package rooms

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/wfs-dev/wfs/phases/agent"
	"github.com/wfs-dev/wfs/phases/process"

	"github.com/wfs-dev/wfs/gitstate/room"
	"github.com/wfs-dev/wfs/internal/durable"
	"github.com/wfs-dev/wfs/internal/safetext"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
	"github.com/wfs-dev/wfs/workspace"
)

// cleanFor is the name of a file next to a clean tree. It has the time of the tree's last use (Unix time) and its
// owner: the path of the repository's common git directory.
const cleanFor = "for"

// roomLock is the name of a lock file next to a clean tree. The session that uses the clean tree holds the lock.
const roomLock = "lock"

const (
	sameRooms = 3 // maximum number of rooms with the same packages, for sessions that judge at the same time
	maxRooms  = 6 // maximum number of rooms of one repository; the least recently used ones are removed first

	roomWait = 200 * time.Millisecond // pause before looking for a free room again
)

// Rooms has the rooms that this process uses.
type Rooms struct {
	work   *workspace.Workspace
	runner func() *agent.Runner     // makes a runner for set-ups
	held   map[string]*durable.Lock // locks of rooms by name; they are released after a judgement
	failed map[string]error         // set-ups that failed, by key; they are not tried again
	notes  map[string][]byte        // contents of notes, by path

	// Made is called after a new room was made, with the time that this took. It may be nil.
	Made func(dir string, took time.Duration)
}

// New returns the rooms of a repository. It locks none of them yet.
func New(work *workspace.Workspace, runner func() *agent.Runner) *Rooms {
	return &Rooms{work: work, runner: runner, held: map[string]*durable.Lock{}, failed: map[string]error{},
		notes: map[string][]byte{}}
}

// Leave releases the rooms that were used for a judgement, so that other sessions can use them.
func (r *Rooms) Leave() {
	for name, lock := range r.held {
		lock.Release()
		delete(r.held, name)
	}
}

// setUpFailed reports a failed set-up, and records it so that it is not tried again.
func (r *Rooms) setUpFailed(key string, err error) {
	r.failed[key] = err
	r.work.Front.Note("gates cannot run where worktree: setup has run: %s", safetext.Line(err.Error(), 300))
}

// room makes a clean tree in a free room for `key`, which stands for the installed packages. It waits until a room is
// free.
func (r *Rooms) room(ctx context.Context, key string, plan workflows.Plan, q room.Request,
	setUp func(dir string) error) (*session.CleanTree, error) {
	var err error
	if q.Name, q.Dir, err = r.await(ctx, key); err != nil {
		return nil, err
	}
	env := r.work.Env
	began := env.Now()
	_, there := os.Lstat(q.Dir)
	if there != nil {
		if err := r.trim(filepath.Dir(q.Dir)); err != nil {
			return nil, err
		}
	}
	q.Further, q.Env = plan.Provide, process.DefaultEnv(r.work.Environ(), plan.Env)
	if setUp != nil {
		q.SetUp = func() error { return setUp(q.Dir) }
	}
	c, err := r.work.Repo.Rooms.Make(ctx, q)
	if there != nil && r.Made != nil {
		r.Made(q.Dir, env.Now().Sub(began))
	}
	return &c, err
}

// await locks a free room for a key. If all are in use, it waits until one is free.
func (r *Rooms) await(ctx context.Context, key string) (name, dir string, err error) {
	name, dir, err = r.enter(key)
	for err == nil && name == "" {
		select {
		case <-ctx.Done():
			return "", "", ctx.Err()
		case <-time.After(roomWait):
			name, dir, err = r.enter(key)
		}
	}
	return name, dir, err
}

// enter locks a free room for a key, and returns its name and the directory for the clean tree. The name is "" if all
// rooms for the key are in use.
func (r *Rooms) enter(key string) (name, dir string, err error) {
	all, err := r.Dir()
	if err != nil {
		return "", "", err
	}
	repo := r.work.Repo
	base := filepath.Base(cmp.Or(strings.TrimSuffix(repo.CommonDir(), "/.git"), repo.Root()))
	for n := range sameRooms {
		name = fmt.Sprintf("%s-%d", key, n)
		above := filepath.Join(all, name)
		err := r.lock(name, above)
		if errors.Is(err, durable.ErrLocked) {
			continue
		}
		if err == nil {
			err = r.use(above)
		}
		return name, filepath.Join(above, base), err
	}
	return "", "", nil
}

// lock locks a room for this process, unless it is locked for it already.
func (r *Rooms) lock(name, above string) error {
	if r.held[name] != nil {
		return nil
	}
	if err := durable.MkdirAll(above); err != nil {
		return err
	}
	lock, err := durable.TryLock(filepath.Join(above, roomLock), nil)
	if err == nil {
		r.held[name] = lock
	}
	return err
}

// setUpIn runs the plan's set-up in the directory of a clean tree.
func (r *Rooms) setUpIn(ctx context.Context, plan workflows.Plan, dir string) error {
	c := session.CleanTree{Root: dir, Live: []string{r.work.Repo.Root()}}
	runner := r.runner()
	runner.Root, runner.Environ = dir, nil
	for _, entry := range r.work.Environ() {
		runner.Environ = append(runner.Environ, c.Lead(entry))
	}
	return SetUp(ctx, "set-up of a clean tree", runner,
		agent.SetupRequest{Command: plan.Setup, Timeout: workflows.DefaultWorktreeTimeout, Env: plan.Env,
			RunDir: filepath.Dir(dir), RunID: "room-" + filepath.Base(filepath.Dir(dir))})
}

// SetUp runs a set-up command and reports that it has begun. The command's output goes to its log.
func SetUp(ctx context.Context, what string, r *agent.Runner, req agent.SetupRequest) error {
	r.Report(what + ": " + safetext.Line(req.Command.Text(), 200) + " …")
	r.Report = nil
	return r.Setup(ctx, req)
}

// trim removes rooms of this repository, so that another one can be made within the maximum. It removes the least
// recently used ones that no session is using.
func (r *Rooms) trim(except string) error {
	entries, err := os.ReadDir(filepath.Dir(except))
	if err != nil {
		return err
	}
	used := map[string]int64{}
	for _, e := range entries {
		path := filepath.Join(filepath.Dir(except), e.Name())
		at, whose, ok := Used(path)
		if _, err := os.Lstat(filepath.Join(path, roomLock)); ok && err == nil && path != except &&
			whose == r.work.Repo.CommonDir() {
			used[path] = at
		}
	}
	newest := slices.SortedFunc(maps.Keys(used), func(x, y string) int { return cmp.Compare(used[y], used[x]) })
	for _, path := range newest[min(len(newest), maxRooms-1):] {
		if err := r.Remove(path); err != nil && !errors.Is(err, durable.ErrLocked) {
			return err
		}
	}
	return nil
}

// Remove removes a room with its clean tree. If a session is using it, the error is durable.ErrLocked.
func (r *Rooms) Remove(path string) error {
	if _, err := os.Lstat(filepath.Join(path, roomLock)); err == nil && r.held[filepath.Base(path)] == nil {
		lock, err := durable.TryLock(filepath.Join(path, roomLock), nil)
		if err != nil {
			return err
		}
		defer lock.Release()
	}
	return errors.Join(r.work.Repo.Rooms.Forget(filepath.Base(path)), durable.RemoveTree(path))
}

// Dir returns the directory that contains all rooms.
func (r *Rooms) Dir() (string, error) {
	state, err := r.work.Env.StateDir()
	return filepath.Join(state, "clean"), err
}

// use records the current time as the last use of the clean tree in a room.
func (r *Rooms) use(above string) error {
	text := fmt.Appendf(nil, "%d %s\n", r.work.Env.Now().Unix(), r.work.Repo.CommonDir())
	return durable.WriteCache(filepath.Join(above, cleanFor), text, 0o600)
}

// Used returns when the clean tree in a room was last used (Unix time), and the repository that owns it. It returns
// false if that is not recorded.
func Used(above string) (used int64, whose string, ok bool) {
	owner, err := os.ReadFile(filepath.Join(above, cleanFor))
	when, whose, ok := strings.Cut(strings.TrimSuffix(string(owner), "\n"), " ")
	used, bad := strconv.ParseInt(when, 10, 64)
	return used, whose, ok && err == nil && bad == nil
}

// Unused returns the rooms of this repository that were not used since a time, and such rooms of repositories that no
// longer exist.
func (r *Rooms) Unused(since time.Time) (paths []string) {
	all, err := r.Dir()
	if err != nil {
		return nil // without a state directory there are no rooms
	}
	entries, _ := os.ReadDir(all)
	for _, e := range entries {
		path := filepath.Join(all, e.Name())
		used, whose, ok := Used(path)
		if !ok || !time.Unix(used, 0).Before(since) {
			continue
		}
		// rooms of another existing repository are left to the gc of that one
		if _, err := os.Lstat(whose); err != nil || whose == r.work.Repo.CommonDir() {
			paths = append(paths, path)
		}
	}
	return paths
}

// Size returns the total size of the files below a directory.
func Size(dir string) (bytes int64) {
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
