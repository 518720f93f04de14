package workspace

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/wfs-dev/wfs/internal/proc"
	"github.com/wfs-dev/wfs/registry"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workspace/system"
)

// Drivers finds the processes that drive (run) sessions of this clone.
type Drivers struct {
	clone *registry.Clone
	env   *system.Env
}

// PeoplesWords are the commands with which people make decisions. Agents must not use them, for any session.
var PeoplesWords = []string{
	"note", "approve", "reject", "allow", "finish", "stop", "abandon", "delete", "edit", "trust",
	"gc", "uninstall", "undo", "redo", "status --seen", "run --agree", "run --note",
	"phase back", "phase skip", "repin", "rename", "budget set", "worktree remove", // former names of these commands
	"run --reset-breaker", "run --ignore-survivors",
}

// ForPeople reports whether a command, such as "wfs allow", is one of PeoplesWords.
func ForPeople(command string) bool {
	return slices.Contains(PeoplesWords, strings.TrimPrefix(command, "wfs "))
}

// ByAgent returns the refusal of a command in PeoplesWords that an agent's run has called.
func ByAgent(command string) error {
	return session.Refuse(session.RefuseUsage, "ask in $WFS_RESULT",
		"%s is for people; an agent's run cannot use it", command)
}

// IsRun reports whether the holder of a lock is a `wfs run`, in the foreground or in the background.
func IsRun(who registry.Holder) bool { return strings.HasPrefix(who.Command, "wfs run") }

// Undriven refuses a command that only a person may give, while a run drives one of these sessions. The run's agent
// could type the command as well, and no environment variable proves who did.
func (d *Drivers) Undriven(command string, ids ...session.ID) error {
	for _, id := range ids {
		who, held, err := d.clone.Session(id).Driver()
		if err != nil {
			return err
		}
		if held && IsRun(who) {
			return session.Refuse(session.RefuseDriven, fmt.Sprintf("wfs stop %s, then type it again", id),
				"%s is for you to type, and while `%s` (pid %d) works on %s its agent could type it as well", command,
				who.Command, who.PID, id)
		}
	}
	return nil
}

// NoneDriven is like Undriven, for commands that concern all sessions of this clone.
func (d *Drivers) NoneDriven(command string) error {
	ids, err := d.clone.Sessions()
	if err != nil {
		return err
	}
	return d.Undriven(command, ids...)
}

// notWithin refuses a command in PeoplesWords if a run started this process, whatever the environment says. It applies
// to all sessions: an agent could otherwise decide about another session, whose lock is free.
func (d *Drivers) notWithin(command string) error {
	if !ForPeople(command) {
		return nil
	}
	above := proc.Above()
	run, err := AnyRun(d.clone, func(pid int) bool { return slices.Contains(above, pid) })
	if run {
		return ByAgent(command)
	}
	return err
}

// DrivenElsewhere reports whether another process drives a session of this clone. It also reports true if this cannot
// be determined.
func (d *Drivers) DrivenElsewhere() bool {
	run, err := AnyRun(d.clone, func(pid int) bool { return pid != os.Getpid() })
	return run || err != nil
}

// AnyRun reports whether a session of a clone is driven by a run whose process id satisfies `is`.
func AnyRun(clone *registry.Clone, is func(pid int) bool) (bool, error) {
	ids, err := clone.Sessions()
	if err != nil {
		return false, err
	}
	for _, id := range ids {
		who, held, err := clone.Session(id).Driver()
		if err != nil {
			return false, err
		}
		if held && IsRun(who) && is(who.PID) {
			return true, nil
		}
	}
	return false, nil
}

// Driver returns the process that drives a session, and whether there is one. The process writes its name into the lock
// file right after it has taken the lock, so Driver waits a moment for the name.
func (d *Drivers) Driver(ctx context.Context, id session.ID) (registry.Holder, bool, error) {
	for try := 0; ; try++ {
		who, held, err := d.clone.Session(id).Driver()
		if err != nil || !held || who.PID != 0 {
			return who, held, err
		}
		if try == 10 {
			return who, true, fmt.Errorf("session %s is running, and its lock names no process", id)
		}
		select {
		case <-ctx.Done():
			return who, true, ctx.Err()
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// Drives reports whether the process `who` still drives a session.
func (d *Drivers) Drives(id session.ID, who registry.Holder) (bool, error) {
	now, held, err := d.clone.Session(id).Driver()
	return held && (now.PID == 0 || now.Name() == who.Name()), err
}

// driven reports whether another process may be writing to a session. It also reports true if this cannot be
// determined.
func (d *Drivers) driven(id session.ID) bool {
	_, held, err := d.clone.Session(id).Driver()
	return err != nil || held
}

// NotHeld returns a refusal if another process has locked a session. `what` completes its message, such as "is in use".
func (d *Drivers) NotHeld(id session.ID, what string) error {
	who, held, err := d.clone.Session(id).Driver()
	if err == nil && held {
		err = d.HeldBy(who, "session %s %s", id, what)
	}
	return err
}

// HeldBy returns the refusal for a lock that the process `who` holds.
func (d *Drivers) HeldBy(who registry.Holder, format string, args ...any) error {
	return &registry.HeldError{Holder: who, What: fmt.Sprintf(format, args...), At: d.env.Now().Unix()}
}

// Post adds a request to a session's inbox.
func (d *Drivers) Post(id session.ID, r session.Request) (session.Request, error) {
	return d.clone.Session(id).Inbox().Post(r, d.env.Now(), d.env.NewID(4))
}

const (
	// maximum time until a run ends after the signal: its agent gets a few seconds to end by itself
	endWait  = 30 * time.Second
	endEvery = 200 * time.Millisecond
)

// EndRun stops a run as Ctrl-C in its terminal would, and waits until it has ended.
func (d *Drivers) EndRun(ctx context.Context, id session.ID, who registry.Holder) error {
	drives := func() (bool, error) { return d.Drives(id, who) }
	if err := proc.Terminate(who.PID, drives); err != nil {
		if still, e := drives(); e != nil || still {
			return fmt.Errorf("the run (pid %d) cannot be signalled from here: %w; it ends after its present attempt",
				who.PID, err)
		}
	}
	for waited := time.Duration(0); ; waited += endEvery {
		if still, err := drives(); err != nil || !still {
			return err
		}
		if waited >= endWait {
			return d.HeldBy(who, "asked to end at once, but session %s still runs", id)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(endEvery):
		}
	}
}

// SeeInterrupted sets the status of s to interrupted if its events say that it is running, but no process drives it.
func (d *Drivers) SeeInterrupted(s *session.Session) error {
	if s.Status != session.StatusRunning {
		return nil
	}
	_, held, err := d.clone.Session(s.ID).Driver()
	if err == nil && !held {
		s.Status, s.Why = session.StatusInterrupted, "the process that ran it is gone"
	}
	return err
}
