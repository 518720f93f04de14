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

// pager is a program that shows the output of a command, screen by screen.
type pager struct {
	stdout io.Writer // the terminal, for after the pager
	w      *os.File
	left   atomic.Bool // the user has closed the pager
	done   chan struct{}
}

// Exit codes of a shell that cannot start a command.
const (
	exitNotExecutable = 126
	exitNotFound      = 127
)

// page sends the rest of the output through the user's pager if it goes to a terminal. If the pager cannot start, the
// output goes to the terminal, without an error.
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
	a.signals.patient.Store(true) // Ctrl-C goes to the pager
	ctx = context.WithoutCancel(ctx)
	go func() {
		defer close(p.done)
		defer r.Close()
		exit, err := proc.Interactive(ctx, proc.Cmd{Argv: []string{"sh", "-c", command}, Env: env}, r, terminal, os.Stderr)
		if err != nil || exit == exitNotExecutable || exit == exitNotFound {
			_, _ = io.Copy(terminal, r) // the pager has read nothing, so all of it is still there
		}
	}()
	a.pager, a.env.Stdout = p, p
}

// pagerEnviron is the environment of a pager, with git's default options: quit if the text fits, pass colours, keep the
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

// pagerCommand is the user's pager as a shell command, "" for none: WFS_PAGER or GIT_PAGER, else git's answer (from its
// configuration, PAGER and the system), or outside a repository PAGER or less.
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

// Write passes output to the pager. After the user has closed the pager, it drops the output.
func (p *pager) Write(b []byte) (int, error) {
	n, err := p.w.Write(b)
	if errors.Is(err, syscall.EPIPE) {
		p.left.Store(true)
	}
	return n, err
}

// endPager waits until the user closes the pager. It ignores an error if the user closed it before the end of the
// output.
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
