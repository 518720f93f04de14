// Package onevent runs the user's on-event command when something happens during a run that a person should know about.
package onevent

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/wfs-dev/wfs/phases/process"

	"github.com/wfs-dev/wfs/internal/proc"
	"github.com/wfs-dev/wfs/internal/safetext"
	"github.com/wfs-dev/wfs/workflows"
	"github.com/wfs-dev/wfs/workspace"
)

// timeLimit is the time limit of one on-event command. wfs waits for the command when it ends, so it also limits that
// delay.
const timeLimit = 10 * time.Second

// Commands runs the on-event command. Failures of the command do not affect the run of the session.
type Commands struct {
	work    *workspace.Workspace
	say     func(string)
	bell    func()
	Quiet   atomic.Bool // print no warnings
	running sync.WaitGroup
	trouble sync.Once
}

// New returns Commands that print warnings with `say`. They call `bell` if the command prints a bell character, because
// the command itself has no terminal.
func New(work *workspace.Workspace, say func(string), bell func()) *Commands {
	return &Commands{work: work, say: say, bell: bell}
}

// Start starts the on-event command, if one is configured, and does not wait for its end. `gets` returns the command's
// input and environment variables.
func (o *Commands) Start(gets func() (input []byte, vars []string, err error)) {
	command, env, err := configured(context.Background(), o.work)
	if err != nil {
		o.warn(err)
	}
	if command.IsZero() {
		return
	}
	input, vars, err := gets()
	if err != nil {
		o.warn(err)
		return
	}
	argv := command.Argv
	if command.Shell != "" {
		argv = []string{"sh", "-c", command.Shell}
	}
	c := proc.Cmd{Argv: argv, Dir: o.work.Repo.Root(), Stdin: bytes.NewReader(append(input, '\n')),
		Env: append(environ(o.work.Env.Environ, env), vars...)}
	o.running.Go(func() {
		ctx, cancel := context.WithTimeout(context.Background(), timeLimit)
		defer cancel()
		out, said := &lastBytes{}, &lastBytes{}
		exit, err := proc.Stream(ctx, c, out, said)
		if bytes.ContainsRune(out.data, '\a') {
			o.bell()
		}
		switch {
		case err != nil:
			o.warn(err)
		case exit != 0:
			o.warn(fmt.Errorf("exit %d: %s", exit, safetext.Line(string(said.data), 200)))
		}
	})
}

// warn prints a warning, but only for the first failure: usually the command fails each time for the same reason.
func (o *Commands) warn(err error) {
	o.trouble.Do(func() {
		if !o.Quiet.Load() {
			o.say("warning: on-event: " + err.Error())
		}
	})
}

// Wait waits until all started commands have ended or reached their time limit.
func (o *Commands) Wait() { o.running.Wait() }

// configured returns the on-event command from the current configuration files, not from a pinned plan, because it is
// about the user and not about the work. If the files below .wfs/ are not trusted or cannot be read, it returns the
// command of the user's own file.
func configured(ctx context.Context, work *workspace.Workspace) (workflows.Command, []string, error) {
	list, err := work.Rules(ctx)
	var all *workflows.Settings
	if err == nil {
		all, err = work.Settings(list)
	}
	if err == nil && !all.Config.OnEvent.IsZero() { // the repository's command must be trusted before it runs
		err = work.MustTrust(list)
	}
	if err == nil {
		return all.Config.OnEvent, all.Config.Env, nil
	}
	own, e := work.Settings(nil)
	if e != nil {
		return workflows.Command{}, nil, e
	}
	if !own.Config.OnEvent.IsZero() {
		err = nil
	}
	return own.Config.OnEvent, own.Config.Env, err
}

// desktop has environment variables that a command needs to reach the user's display or terminal.
var desktop = []string{"DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY", "DBUS_SESSION_BUS_ADDRESS", "TMUX", "STY"}

// environ returns the environment variables of the on-event command.
func environ(all, extra []string) []string {
	var env []string
	for _, entry := range process.DefaultEnv(all, append(desktop[:len(desktop):len(desktop)], extra...)) {
		if !strings.HasPrefix(entry, "WFS_") {
			env = append(env, entry)
		}
	}
	return env
}

// lastBytes is a writer that keeps only the last 4 KiB.
type lastBytes struct{ data []byte }

func (l *lastBytes) Write(p []byte) (int, error) {
	const kept = 4 << 10
	l.data = append(l.data, p...)
	l.data = l.data[max(0, len(l.data)-kept):]
	return len(p), nil
}
