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
	"github.com/wfs-dev/wfs/workspace/system"
)

// pager is a program that shows long output screen by screen.
type pager struct {
	stdout io.Writer // standard output from before the pager
	w      *os.File
	left   atomic.Bool // the user has closed the pager
	done   chan struct{}
}

// A shell exits with these codes if it cannot start a command.
const (
	exitNotExecutable = 126
	exitNotFound      = 127
)

// page sends the rest of the output through the user's pager, if standard output is a terminal. If the pager cannot
// start, the output goes directly to the terminal, without an error.
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
	a.signals.patient.Store(true) // let the pager handle Ctrl-C
	ctx = context.WithoutCancel(ctx)
	go func() {
		defer close(p.done)
		defer r.Close()
		exit, err := proc.Interactive(ctx, proc.Cmd{Argv: []string{"sh", "-c", command}, Env: env}, r, terminal, os.Stderr)
		if err != nil || exit == exitNotExecutable || exit == exitNotFound {
			_, _ = io.Copy(terminal, r) // the pager has read nothing, so r still has everything
		}
	}()
	a.pager, a.env.Stdout = p, p
}

// pagerEnviron returns the environment of a pager. Like git, it sets options for less and lv unless the user has set
// some: quit if the text fits on the screen, show colours, leave the text on the screen.
func pagerEnviron(env *system.Env) []string {
	all := slices.Clone(env.Environ)
	for name, options := range map[string]string{"LESS": "FRX", "LV": "-c"} {
		if env.Get(name) == "" {
			all = append(all, name+"="+options)
		}
	}
	return all
}

// pagerCommand returns the user's pager as a shell command, or "" if the user wants none. It is the value of WFS_PAGER
// or GIT_PAGER. If neither is set, git decides by its configuration, PAGER and the system. Outside a repository it is
// PAGER, or else less.
func pagerCommand(ctx context.Context, env *system.Env, repo *gitstate.Repo) string {
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

// Write passes output to the pager. It fails with EPIPE once the user has closed the pager.
func (p *pager) Write(b []byte) (int, error) {
	n, err := p.w.Write(b)
	if errors.Is(err, syscall.EPIPE) {
		p.left.Store(true)
	}
	return n, err
}

// endPager waits until the user closes the pager. If the user closed it before the end of the output, endPager returns
// nil instead of err, because err then only says that.
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
