package cmd

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/wfs-dev/wfs/gitstate"
	"github.com/wfs-dev/wfs/internal/durable"
	"github.com/wfs-dev/wfs/internal/safetext"
	"github.com/wfs-dev/wfs/phases"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
)

// Clean trees that `worktree: setup` has set up are shared by the sessions of a repository, one gate at a time each.

// roomLock stands beside each, and is held by the session that is in it.
const roomLock = "lock"

const (
	sameRooms = 3 // with the same packages: for sessions that judge at the same time
	maxRooms  = 6 // of one repository; those that were used longest ago go first

	roomWait = 200 * time.Millisecond // before it is asked again whether one is free
)

// setUpRooms are what this process knows of them.
type setUpRooms struct {
	held   map[string]*durable.Lock // by name; let go when a judgement is made
	failed map[string]error         // set-ups that failed: they are not tried again
	made   func(dir string, millis int64)
}

// leaveRooms lets other sessions use the rooms of a judgement.
func (a *app) leaveRooms() {
	for name, lock := range a.rooms.held {
		lock.Release()
		delete(a.rooms.held, name)
	}
}

// setUpRoom makes the clean tree of a tree in a room that was set up, nil when there is none. What is wrong with a
// set-up says nothing about the tree, and is told.
func (a *app) setUpRoom(ctx context.Context, plan workflows.Plan, cold bool,
	tree session.Tree) (*session.CleanTree, error) {
	if plan.Setup.IsZero() {
		return nil, nil
	}
	key, err := a.roomKey(ctx, plan, tree)
	if err != nil {
		return nil, err
	}
	if a.rooms.failed[key] != nil {
		return nil, nil
	}
	name, dir, err := a.enterRoom(key)
	for err == nil && name == "" { // other sessions judge in all of them
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(roomWait):
			name, dir, err = a.enterRoom(key)
		}
	}
	if err != nil {
		return nil, err
	}
	c, err := a.Repo.Room(ctx, gitstate.RoomRequest{Dir: dir, Name: name, Tree: tree, Further: plan.Provide, Cold: cold,
		Env: phases.DefaultEnv(a.env.Environ, plan.Env), SetUp: func() error {
			if err := a.trimRooms(filepath.Dir(dir)); err != nil {
				return err
			}
			return a.setUpIn(ctx, plan, dir)
		}})
	var refused *session.Refusal
	switch {
	case err == nil:
		return &c, nil
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case errors.As(err, &refused):
		err = errors.New(refused.Message)
	}
	if a.rooms.failed == nil {
		a.rooms.failed = map[string]error{}
	}
	a.rooms.failed[key] = err
	a.note("gates cannot run where worktree: setup has run: %s", safetext.Line(err.Error(), 300))
	return nil, nil
}

// roomKey tells rooms apart: by what is to be installed, how, and with which programs.
func (a *app) roomKey(ctx context.Context, plan workflows.Plan, tree session.Tree) (string, error) {
	installs, err := a.Repo.Installing(ctx, tree)
	if err != nil {
		return "", err
	}
	env := phases.DefaultEnv(a.env.Environ, plan.Env)
	h := sha256.New()
	fmt.Fprintf(h, "%q %q %q %q", a.Repo.CommonDir(), installs, plan.Setup, phases.Tools(env, plan.Setup))
	return hex.EncodeToString(h.Sum(nil)[:8]), nil
}

// enterRoom finds a room that no other session is in, and keeps others out of it. The name is "" when all are taken.
func (a *app) enterRoom(key string) (name, dir string, err error) {
	state, err := a.env.StateDir()
	if err != nil {
		return "", "", err
	}
	base := filepath.Base(cmp.Or(strings.TrimSuffix(a.Repo.CommonDir(), "/.git"), a.Repo.Root()))
	for n := range sameRooms {
		name = fmt.Sprintf("%s-%d", key, n)
		above := filepath.Join(state, "clean", name)
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
	began := a.env.Now()
	w := *a.Engine.Works.(*works)
	c := session.CleanTree{Root: dir, Live: []string{a.Repo.Root()}}
	r := w.runner()
	r.Root, r.Environ = dir, nil
	for _, entry := range a.env.Environ {
		r.Environ = append(r.Environ, c.Lead(entry))
	}
	err := w.runSetUp(ctx, "set-up of a clean tree", r, phases.SetupRequest{Command: plan.Setup, Timeout: workflows.DefaultWorktreeTimeout, Env: plan.Env,
		RunDir: filepath.Dir(dir), RunID: "room-" + filepath.Base(filepath.Dir(dir))})
	if err == nil && a.rooms.made != nil {
		a.rooms.made(dir, a.env.Now().Sub(began).Milliseconds())
	}
	return err
}

// runSetUp runs a set-up, and tells now and then what it is at in place of all that it prints.
func (w *works) runSetUp(ctx context.Context, what string, r *phases.Runner, req phases.SetupRequest) error {
	w.say(what + ": " + safetext.Line(req.Command.Text(), 200) + " …")
	said := &saysLast{say: w.say}
	r.Report = said.line
	defer said.begin()()
	return r.Setup(ctx, req)
}

// setUpSays is how often a set-up that takes long tells what it is at.
const setUpSays = 5 * time.Second

// saysLast tells now and then what something printed last, and for how long it has been at work.
type saysLast struct {
	say  func(string)
	mu   sync.Mutex
	last string
}

func (s *saysLast) line(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last = text
}

// begin lets it tell until done is called.
func (s *saysLast) begin() (done func()) {
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		tick := time.NewTicker(setUpSays)
		defer tick.Stop()
		for n := time.Duration(1); ; n++ {
			select {
			case <-stop:
				return
			case <-tick.C:
			}
			s.mu.Lock()
			last := s.last
			s.mu.Unlock()
			if last != "" {
				last = ": " + safetext.Line(last, 120)
			}
			s.say(fmt.Sprintf("set-up, for %s%s …", n*setUpSays, last))
		}
	}()
	return func() { close(stop); <-stopped }
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
	return errors.Join(a.Repo.ForgetRoom(filepath.Base(path)), gitstate.RemoveAll(path))
}
