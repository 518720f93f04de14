// Package workspace gives a command access to a work tree. It opens the repository, finds sessions and work trees,
// takes locks in their order, recovers from killed commands, and reads and trusts the configuration. Each command of
// package cmd uses it.
package workspace

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/wfs-dev/wfs/engine"
	"github.com/wfs-dev/wfs/engine/checkpoint"
	"github.com/wfs-dev/wfs/engine/hand"
	"github.com/wfs-dev/wfs/engine/history"
	"github.com/wfs-dev/wfs/gitstate"
	"github.com/wfs-dev/wfs/gitstate/gitcmd"
	"github.com/wfs-dev/wfs/internal/redact"
	"github.com/wfs-dev/wfs/registry"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workspace/system"
)

// Front has the functions of the calling command that a workspace needs.
type Front struct {
	Note func(format string, args ...any) // prints progress or a warning
	// Engine returns an engine with the command's own functions: Works, Cut, Recovered, Refused, Version.
	Engine func(*hand.Base) *engine.Engine
	// Tidy completes or removes work trees that a killed command left half-made. It is called before the first lock is
	// taken.
	Tidy func(ctx context.Context, command string)
	// Opening is called before a session is opened for writing.
	Opening func()
}

// Workspace is the repository that a command works in, seen from one of its work trees.
type Workspace struct {
	Env   *system.Env
	Front Front
	// Directly means that Open reads files, see gitcmd.Options.
	Directly bool

	Repo   *gitstate.Repo
	Clone  *registry.Clone
	Engine *engine.Engine
	Locks
	Drivers
	Names
	Config
	Trust
	Places
	Hands
	Births
	Absent

	secrets     *redact.Redactor
	readSecrets sync.Once
}

// New returns a workspace that has not been opened yet.
func New(env *system.Env, front Front) *Workspace {
	w := &Workspace{Env: env, Front: front}
	w.Forget()
	return w
}

// Forget closes the repository, so that the next Open begins again in the directory where the command was typed. The
// command must hold no locks.
func (w *Workspace) Forget() {
	w.Repo = nil
	w.Config, w.Trust, w.Hands, w.Births, w.Places = Config{w}, Trust{w}, Hands{w}, Births{w}, Places{w: w}
	w.Absent.w = w
	w.Locks, w.Names = Locks{w: w, since: w.Locks.since}, Names{w: w, Verb: w.Verb}
}

// Open opens the repository for reading. It writes nothing and takes no lock.
func (w *Workspace) Open(ctx context.Context) error { return w.open(ctx, false) }

// OpenWriter opens the repository for commands that may write.
func (w *Workspace) OpenWriter(ctx context.Context) error { return w.open(ctx, true) }

func (w *Workspace) open(ctx context.Context, write bool) error {
	if w.Repo != nil {
		return nil
	}
	repo, err := w.RepoAt(ctx, w.Env.Dir, write)
	if err != nil {
		return err
	}
	w.Clone = registry.Open(repo.StateDir())
	w.Drivers = Drivers{w.Clone, w.Env}
	w.Engine = w.newEngine()
	w.Act(repo)
	return nil
}

// RepoAt opens the repository that contains a directory.
func (w *Workspace) RepoAt(ctx context.Context, dir string, write bool) (*gitstate.Repo, error) {
	return gitstate.Open(ctx, gitcmd.Options{Dir: dir, Env: w.Env.Environ, Write: write, Directly: w.Directly,
		Waits: func(why string) { w.Front.Note("%s", why) }})
}

// Environ returns the environment for gates, agents and set-ups in the work tree.
func (w *Workspace) Environ() []string {
	return w.Repo.Rooms.OwnEnviron(context.Background(), w.Env.Environ)
}

// Redactor returns a redactor that removes the secrets of this environment and texts that look like secrets. It is made
// when it is first needed, because commands that only read do not need it.
func (w *Workspace) Redactor() *redact.Redactor {
	// with sync.Once, because sessions are read in parallel
	w.readSecrets.Do(func() { w.secrets = redact.New(w.Env.Environ) })
	return w.secrets
}

// Redact removes secrets from a text.
func (w *Workspace) Redact(text string) string { return w.Redactor().String(text) }

// Ready opens the repository for a command that writes. It refuses a repository that is not in a usable state.
// `detached` says that HEAD may be on no branch.
func (w *Workspace) Ready(ctx context.Context, detached bool) error {
	if err := w.inOrder(ctx, detached); err != nil {
		return err
	}
	return w.Repo.Able(ctx)
}

// inOrder is like Ready, but does not wait for git processes that are still starting.
func (w *Workspace) inOrder(ctx context.Context, detached bool) error {
	if err := w.OpenWriter(ctx); err != nil {
		return err
	}
	err := w.Repo.Ready(ctx, detached)
	if err == nil {
		return w.know(ctx)
	}
	var not *gitcmd.ReadyError
	// the reason may be that HEAD is on a session's branch that was deleted
	if errors.As(err, &not) && (not.Code == gitcmd.NotCommitted || not.Code == gitcmd.NotBorn) {
		if id, e := w.Current(ctx); e == nil && id != "" {
			if v, e := w.View(ctx, id); e == nil {
				return checkpoint.BranchGone(&v.Session)
			}
		}
	}
	return err
}

// Close releases all locks of the command.
func (w *Workspace) Close() {
	if w.Repo != nil {
		w.Repo.Quiet() // finish the remaining writes while the locks are held
	}
	w.release(0)
}

// Current returns the current session of this work tree: the one whose branch HEAD is on. It returns "" if there is
// none.
func (w *Workspace) Current(ctx context.Context) (session.ID, error) {
	head, err := w.Repo.Head(ctx)
	if err != nil {
		return "", err
	}
	id, err := session.ParseID(strings.TrimPrefix(head.Ref, session.BranchPrefix))
	if err != nil || session.BranchOf(id) != head.Ref {
		return "", nil // the branch belongs to no session
	}
	tip, err := w.Repo.Ref(ctx, session.LedgerOf(id))
	if err != nil || tip == "" {
		return "", err
	}
	return id, nil
}

// View reads a session without taking locks.
func (w *Workspace) View(ctx context.Context, id session.ID) (history.View, error) {
	tip, err := w.Repo.Ref(ctx, session.LedgerOf(id))
	if err != nil {
		return history.View{}, err
	}
	if tip == "" {
		return history.View{}, session.Refuse(session.RefuseNoSession, "wfs list", "no session %q", id)
	}
	v, err := w.Engine.Load(ctx, id, tip)
	if err != nil {
		return v, err
	}
	return v, w.SeeInterrupted(&v.Session)
}

// OpenNamed opens the repository for reading, and returns the id of the session with a name.
func (w *Workspace) OpenNamed(ctx context.Context, name string) (session.ID, error) {
	if err := w.Open(ctx); err != nil {
		return "", err
	}
	return w.Resolve(ctx, name)
}

// OpenView opens the repository for reading, and reads the session with a name.
func (w *Workspace) OpenView(ctx context.Context, name string) (history.View, error) {
	id, err := w.OpenNamed(ctx, name)
	if err != nil {
		return history.View{}, err
	}
	return w.View(ctx, id)
}

// clock is the engine's clock.
type clock struct{ now func() time.Time }

func (c clock) Now() time.Time { return c.now().UTC() }

func (c clock) Sleep(ctx context.Context, until time.Time) error {
	// Sleep in short steps, so that the end of the wait is noticed at once after a laptop was asleep.
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(min(until.Sub(c.now()), time.Second)):
		return nil
	}
}
