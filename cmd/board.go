package cmd

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/term"

	"github.com/wfs-dev/wfs/cmd/internal/board"
	"github.com/wfs-dev/wfs/cmd/internal/present"
	"github.com/wfs-dev/wfs/internal/proc"
	"github.com/wfs-dev/wfs/internal/screen"
	"github.com/wfs-dev/wfs/session"
)

const boardHelp = `Every line is a session. A star marks the one that is checked out here.

  j k, arrows   select another session (g and G: the first, the last)
  Enter         watch its run; q comes back, and the run continues
  r             run it in the background: wfs run
  s             where it stands, and what to type next: wfs status
  d             what it changed: wfs diff
  n             a message for its next attempt, or an answer: wfs note
  a             approve what it waits for, after a question: wfs approve
  x             reject that, with a reason: wfs reject
  S             stop its run after this attempt, after a question: wfs stop
  ?             these keys
  q, Ctrl-C     leave; nothing that runs is stopped
  Ctrl-Z        back to the shell; fg returns

The board changes nothing itself: each key runs the wfs command that it names,
and shows what that printed. Every other command: wfs help --all`

// lookBoardEvery is the time between two looks at all sessions.
const lookBoardEvery = 500 * time.Millisecond

// boardVerb is the board of `wfs watch` without a session.
type boardVerb struct {
	*looker
	board.Board
	in, out  *os.File
	page     *screen.Page
	keys     screen.Mode
	watching atomic.Bool // a child shows a run on the normal screen
	commands sync.WaitGroup
	ended    chan printed
	typed    string
}

// printed is what a command printed.
type printed struct{ title, text string }

// board shows the board until the user leaves it.
func (a *watchVerb) board(ctx context.Context, l *looker, out *os.File) error {
	b := &boardVerb{looker: l, in: a.env.Stdin.(*os.File), out: out, page: screen.NewPage(out),
		ended: make(chan printed, 16)}
	b.keys.File, b.keys.Set = b.in, screen.Keys
	b.Title, b.Help = filepath.Base(a.Repo.Root()), boardHelp
	b.Set(b.rows())
	if here, err := a.Current(ctx); err == nil {
		b.Select(here)
	}
	leave := func() { b.page.Hide(); b.keys.Off() }
	show := func() {
		b.keys.On()
		if !b.watching.Load() {
			b.page.Show()
		}
	}
	a.env.AtExit(leave)
	defer b.finish()
	defer leave() // also if something below panics
	defer screen.OnStop(leave, show)()
	show()
	return b.loop(ctx)
}

// loop draws, reads keys and looks at the sessions, until the user leaves.
func (b *boardVerb) loop(ctx context.Context) error {
	looks := time.NewTicker(lookBoardEvery)
	defer looks.Stop()
	for ctx.Err() == nil {
		if err := b.draw(); err != nil {
			return err
		}
		if b.fill(ctx, b.Visible()) {
			b.Set(b.rows())
			continue
		}
		if leaves, err := b.press(ctx); leaves || err != nil {
			return err
		}
		select {
		case <-looks.C:
			if _, err := b.look(ctx); err != nil {
				return err
			}
			b.Set(b.rows())
		default:
		}
		if !b.Busy() {
			select {
			case p := <-b.ended:
				b.Show(p.title, p.text, false)
			default:
			}
		}
	}
	return exitWith(b.signals.exitCode())
}

// draw draws the board, unless this process is in the background.
func (b *boardVerb) draw() error {
	columns, rows, err := term.GetSize(int(b.out.Fd()))
	if err != nil || !screen.Foreground(b.out) {
		return err
	}
	colours := b.env.Colours(true)
	var lines []string
	for _, l := range b.Lines(columns, rows, b.env.Now()) {
		lines = append(lines, present.Render(colours, "%s", l))
	}
	return b.page.Draw(columns, rows, lines)
}

// keyWait is how long to wait for a key before the screen is drawn again.
const keyWait = 100 * time.Millisecond

// read returns the keys that are typed within a moment.
func (b *boardVerb) read() (keys []string, err error) {
	if !screen.Foreground(b.in) { // the system would stop a background process that reads
		time.Sleep(keyWait)
		return nil, nil
	}
	before := b.typed
	typed, err := screen.ReadKeys(b.in, keyWait)
	if keys, b.typed = board.Keys(before + typed); typed == "" {
		b.typed = "" // the rest of a key did not come
	}
	return keys, err
}

// press handles the keys that were typed. It reports whether the user leaves.
func (b *boardVerb) press(ctx context.Context) (leaves bool, err error) {
	keys, err := b.read()
	for _, key := range keys {
		do := b.Key(key)
		switch {
		case do.Quit:
			return true, nil
		case do.Watch != "":
			b.watchOne(ctx, do.Watch)
		case do.Args != nil:
			b.start(ctx, do.Args)
		}
		if b.Asks() {
			break // what was typed before the question was read is no answer to it
		}
	}
	return false, err
}

// command returns the command line that runs this program.
func (b *boardVerb) command(args []string) proc.Cmd {
	env := slices.DeleteFunc(slices.Clone(b.env.Environ),
		func(kv string) bool { return strings.HasPrefix(kv, "GIT_PREFIX=") })
	return proc.Cmd{Argv: append([]string{b.env.Exe}, args...), Dir: b.env.Dir, Env: env}
}

// start runs wfs in the background, and shows what it prints when it has ended.
func (b *boardVerb) start(ctx context.Context, args []string) {
	title := "$ wfs"
	for _, arg := range args {
		if arg != "-m" {
			arg = shellWord(arg)
		}
		title += " " + arg
	}
	b.Show(title, "", true)
	b.commands.Go(func() {
		var out bytes.Buffer
		exit, err := proc.Stream(ctx, b.command(args), &out, &out)
		switch {
		case err != nil:
			fmt.Fprintln(&out, err)
		case out.Len() == 0:
			fmt.Fprintln(&out, "it printed nothing")
		}
		if exit > 0 {
			title += fmt.Sprintf("   (exit %d)", exit)
		}
		b.ended <- printed{title, out.String()}
	})
}

// finish waits for the commands that the user has started, and prints what they printed.
func (b *boardVerb) finish() {
	done := make(chan struct{})
	go func() { b.commands.Wait(); close(done) }()
	for {
		select {
		case p := <-b.ended:
			b.tell(p)
		case <-done:
			for len(b.ended) > 0 {
				b.tell(<-b.ended)
			}
			return
		}
	}
}

func (b *boardVerb) tell(p printed) {
	b.env.Out("%s", present.Strong(p.title))
	b.env.Out("%s", strings.TrimRight(p.text, "\n"))
}

// watchOne shows the run of a session on the normal screen, until it ends or the user presses q or Ctrl-C.
func (b *boardVerb) watchOne(ctx context.Context, id session.ID) {
	none, err := os.Open(os.DevNull)
	if err != nil {
		b.Show("wfs watch", err.Error(), false)
		return
	}
	defer none.Close()
	b.watching.Store(true)
	b.page.Hide()
	b.signals.patient.Store(true) // Ctrl-C ends the child, not the board
	defer func() {
		b.signals.patient.Store(false)
		b.watching.Store(false)
		b.page.Show()
	}()
	b.env.Note("%s", present.Strong("$ wfs watch "+string(id)+"   (q comes back)"))
	child, end := context.WithCancel(ctx)
	defer end()
	type result struct {
		exit int
		err  error
	}
	ended := make(chan result, 1)
	go func() {
		exit, err := proc.Interactive(child, b.command([]string{"watch", string(id)}), none, b.out, b.out)
		ended <- result{exit, err}
	}()
	left := false
	for {
		select {
		case r := <-ended:
			if left || r.exit == exitInterrupted || ctx.Err() != nil {
				return
			}
			if r.err != nil && !errors.Is(r.err, context.Canceled) {
				b.env.Fail(r.err.Error(), "")
			}
			b.env.Note("%s", present.Strong("any key goes back to the board"))
			for keys, err := b.read(); len(keys) == 0 && err == nil && ctx.Err() == nil; keys, err = b.read() {
			}
			return
		default:
		}
		keys, err := b.read()
		if err != nil || slices.Contains(keys, "q") || slices.Contains(keys, "esc") {
			left = true
			end()
		}
	}
}
