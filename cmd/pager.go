package cmd

import (
	"context"
	"errors"
	"io"
	"os"
	"slices"
	"sync/atomic"
	"syscall"

	"github.com/wfs-dev/wfs/gitstate"
	"github.com/wfs-dev/wfs/internal/proc"
	"github.com/wfs-dev/wfs/workspace"
)

// pager is a program that shows what a command answers, screen by screen.
type pager struct {
	stdout io.Writer // the terminal, for when the pager is gone
	w      *os.File
	left   atomic.Bool // the person has seen enough
	done   chan struct{}
}

// What a shell says when it cannot start a command.
const (
	exitNotExecutable = 126
	exitNotFound      = 127
)

// page sends the rest of the answer through the user's pager when a person reads it. A pager that cannot be started is
// no error: the answer goes to the terminal.
func (a *app) page(ctx context.Context) {
	out, ok := a.env.Stdout.(*output)
	if !ok || a.json || a.noPager || !a.env.StdoutTTY {
		return
	}
	terminal, ok := out.file()
	if !ok {
		return
	}
	command := pagerCommand(ctx, &a.env.Env, a.Repo)
	if command == "" || command == "cat" {
		return
	}
	r, w, err := os.Pipe()
	if err != nil {
		return
	}
	p := &pager{stdout: out, w: w, done: make(chan struct{})}
	env := pagerEnviron(&a.env.Env)
	a.signals.patient.Store(true) // Ctrl-C is the pager's
	ctx = context.WithoutCancel(ctx)
	go func() {
		defer close(p.done)
		defer r.Close()
		exit, err := proc.Interactive(ctx, proc.Cmd{Argv: []string{"sh", "-c", command}, Env: env}, r, terminal, os.Stderr)
		if err != nil || exit == exitNotExecutable || exit == exitNotFound {
			_, _ = io.Copy(terminal, r) // it has read nothing, so all of it is still there
		}
	}()
	a.pager, a.env.Stdout = p, p
}

// pagerEnviron is the environment of a pager, with the options that git sets: quit when it fits, pass colours, keep the
// screen.
func pagerEnviron(env *workspace.Env) []string {
	all := slices.Clone(env.Environ)
	for name, options := range map[string]string{"LESS": "FRX", "LV": "-c"} {
		if env.Get(name) == "" {
			all = append(all, name+"="+options)
		}
	}
	return all
}

// pagerCommand is the user's pager as a line of shell, "" for none. Git knows its own configuration, PAGER and the
// system's pager.
func pagerCommand(ctx context.Context, env *workspace.Env, repo *gitstate.Repo) string {
	for _, name := range []string{"WFS_PAGER", "GIT_PAGER"} {
		if command, set := env.Lookup(name); set {
			return command
		}
	}
	if repo != nil {
		if command, err := repo.Answers.Pager(ctx); err == nil {
			return command
		}
	}
	if command, set := env.Lookup("PAGER"); set {
		return command
	}
	return "less"
}

// Write passes output to the pager. When the person has left it, the rest is not wanted.
func (p *pager) Write(b []byte) (int, error) {
	n, err := p.w.Write(b)
	if errors.Is(err, syscall.EPIPE) {
		p.left.Store(true)
	}
	return n, err
}

// endPager waits until the person has seen enough. What failed only because nobody wants the rest is no error.
func (a *app) endPager(err error) error {
	p := a.pager
	if p == nil {
		return err
	}
	_ = p.w.Close()
	<-p.done
	a.signals.patient.Store(false)
	a.env.Stdout = p.stdout
	if p.left.Load() {
		return nil
	}
	return err
}
