// Package onevent runs the user's on-event command beside a run.
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

// timeLimit limits one run of the on-event command. The end of wfs is not delayed longer than that.
const timeLimit = 10 * time.Second

// Commands runs the on-event command. Its failures do not touch the run.
type Commands struct {
	work    *workspace.Workspace
	say     func(string)
	bell    func()
	Quiet   atomic.Bool // no warning any more
	running sync.WaitGroup
	trouble sync.Once
}

// New returns one that prints warnings by say, and passes the bell of the command on: it has no terminal
// of its own.
func New(work *workspace.Workspace, say func(string), bell func()) *Commands {
	return &Commands{work: work, say: say, bell: bell}
}

// Start starts the command, if there is one, and does not wait for it. What it gets is made when it is needed.
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

// warn reports the first failure only: a command that fails each time is one piece of news.
func (o *Commands) warn(err error) {
	o.trouble.Do(func() {
		if !o.Quiet.Load() {
			o.say("warning: on-event: " + err.Error())
		}
	})
}

// Wait gives commands that still run the time that they have.
func (o *Commands) Wait() { o.running.Wait() }

// configured reads the command from the files as they are now: it is about the user who waits, not about the work.
// While the files below .wfs/ are not trusted, or cannot be read, only the user's own file counts.
func configured(ctx context.Context, work *workspace.Workspace) (workflows.Command, []string, error) {
	list, err := work.Rules(ctx)
	var all *workflows.Settings
	if err == nil {
		all, err = work.Settings(list)
	}
	if err == nil && !all.Config.OnEvent.IsZero() { // one that the user has not looked at does not run
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

// desktop are the variables by which a command finds the user's screen.
var desktop = []string{"DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY", "DBUS_SESSION_BUS_ADDRESS", "TMUX", "STY"}

// environ is the environment of an on-event command.
func environ(all, extra []string) []string {
	var env []string
	for _, entry := range process.DefaultEnv(all, append(desktop[:len(desktop):len(desktop)], extra...)) {
		if !strings.HasPrefix(entry, "WFS_") {
			env = append(env, entry)
		}
	}
	return env
}

// lastBytes keeps the end of what is written to it.
type lastBytes struct{ data []byte }

func (l *lastBytes) Write(p []byte) (int, error) {
	const kept = 4 << 10
	l.data = append(l.data, p...)
	l.data = l.data[max(0, len(l.data)-kept):]
	return len(p), nil
}
