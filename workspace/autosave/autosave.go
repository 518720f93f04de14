// Package autosave saves the files of a work tree while an agent works or a gate runs.
package autosave

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/wfs-dev/wfs/engine"
	"github.com/wfs-dev/wfs/internal/agents"
	"github.com/wfs-dev/wfs/internal/lazyregexp"
	"github.com/wfs-dev/wfs/workflows"
	"github.com/wfs-dev/wfs/workspace"
)

// judgedSoon is how long a judgement must take before its files are saved. Most judgements are faster, and end in a
// checkpoint, which has the files.
const judgedSoon = 5 * time.Second

// troubleSaid is how many auto-saves in a row must fail before the user is warned.
const troubleSaid = 3

// Saves makes auto-saves of one work tree.
type Saves struct {
	work  *workspace.Workspace
	watch watchful
}

// New returns auto-saves of a work tree.
func New(work *workspace.Workspace) *Saves { return &Saves{work: work} }

// Saw requests an auto-save if an agent's action could lose work.
func (a *Saves) Saw(e agents.Event) { a.watch.event(e) }

// Saving returns the function with which the engine starts auto-saves, nil if they are turned off. That function
// returns another one, which ends them. `say` prints warnings.
func (a *Saves) Saving(ctx context.Context, say func(string)) func(engine.AutoSaver, engine.SavingOptions) func() {
	a.watch.now = a.work.Env.Now
	every := a.every(ctx)
	if every <= 0 {
		return nil
	}
	return func(save engine.AutoSaver, o engine.SavingOptions) (end func()) {
		// Only the caller ends auto-saves: a signal that ends the run must not stop them.
		ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
		s := &saver{every: every, save: save, say: say, log: o.Log, now: a.work.Env.Now, soon: make(chan string, 1)}
		if !o.Once {
			a.watch.saving(s.Soon)
		}
		var done sync.WaitGroup
		done.Go(func() {
			if o.Once {
				s.once(ctx, o.Now)
			} else {
				s.run(ctx)
			}
		})
		return func() {
			a.watch.saving(nil)
			cancel()
			done.Wait()
		}
	}
}

// every returns the configured interval between auto-saves, 0 if they are turned off.
func (a *Saves) every(ctx context.Context) time.Duration {
	every := time.Duration(0)
	if list, err := a.work.Rules(ctx); err == nil { // if the configuration cannot be read, auto-saves stay on
		if s, err := a.work.Settings(list); err == nil {
			every = s.Config.AutoSave
		}
	}
	return max(cmp.Or(every, workflows.DefaultAutoSave), 0)
}

// saver saves the work tree at intervals and on request.
type saver struct {
	every  time.Duration
	save   engine.AutoSaver
	say    func(string)
	now    func() time.Time
	log    string      // path of the log file for errors
	soon   chan string // requests for an early auto-save, with their reasons
	failed int         // number of failed auto-saves in a row
	lost   string      // where lost work is kept, as the last warning said
}

// run saves at intervals and on request until ctx ends.
func (s *saver) run(ctx context.Context) {
	tick := time.NewTicker(s.every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			s.try(ctx, "while a person worked")
		case why := <-s.soon:
			s.try(ctx, why)
		}
	}
}

// once saves the files that are being judged: immediately with `now`, else only if the judgement takes long.
func (s *saver) once(ctx context.Context, now bool) {
	if now { // must not be cut off, even if the judgement ends at once: lost files get a ref of their own in this save
		ctx = context.WithoutCancel(ctx)
	} else {
		select {
		case <-ctx.Done():
			return
		case <-time.After(min(judgedSoon, s.every)):
		}
	}
	s.try(ctx, "before it was judged")
}

// Soon requests an early auto-save, because work could be lost. It does not wait for it.
func (s *saver) Soon(why string) {
	select {
	case s.soon <- why:
	default: // there is a pending request already
	}
}

// try saves once. The run continues, whether that succeeds or not.
func (s *saver) try(ctx context.Context, why string) {
	done, err := s.save(ctx, why)
	if err != nil {
		if ctx.Err() != nil {
			return
		}
		s.failed++
		s.note(err)
		if s.failed == troubleSaid {
			s.say(fmt.Sprintf("warning: the files could not be saved %d times in a row: %v", troubleSaid, err))
		}
		return
	}
	s.failed = 0
	where := ""
	if done.Lost > 0 {
		where = cmp.Or(done.Kept, "the newest backup, and gets a ref of its own when the run has ended")
	}
	files := "files"
	if done.Lost == 1 {
		files = "file"
	}
	if where != "" && where != s.lost {
		s.say(fmt.Sprintf("warning: what was done in %d %s is gone from the work tree; it is kept in %s", done.Lost,
			files, where))
	}
	s.lost = where
}

// note appends an error to the log of the run.
func (s *saver) note(err error) {
	f, e := os.OpenFile(s.log, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if e != nil {
		return
	}
	defer f.Close()
	_, _ = fmt.Fprintf(f, "%s %v\n", s.now().UTC().Format(time.RFC3339), err)
}

const (
	saveEveryCalls = 20               // save after this many tool calls
	saveAfterWrite = 10 * time.Second // minimum time since the last save, for a save after a file was written
)

// overwrites matches a shell redirection that overwrites a file.
var overwrites = lazyregexp.New(`(^|[^>&\d-])>\s*[^>&\s|]`)

// risky reports whether a command may discard work, so that the files must be saved before it.
func risky(command string) bool {
	return agents.Risk(command) != "" || overwrites.MatchString(command)
}

// watchful requests auto-saves because of an agent's actions. The agent announces a tool call when the call begins, so
// a save before a command that discards work is a race. The save usually wins, because the command must still be
// started, but there is no guarantee.
type watchful struct {
	mu    sync.Mutex
	now   func() time.Time
	calls int
	saved time.Time // when the files were last known to be saved
	soon  func(why string)
}

// saving sets the function that requests an auto-save, nil if there are no auto-saves now.
func (w *watchful) saving(soon func(why string)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.soon, w.calls, w.saved = soon, 0, w.now() // counting starts again: a checkpoint has just saved the files
}

func (w *watchful) event(e agents.Event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if why := w.reason(e); why != "" && w.soon != nil {
		w.calls, w.saved = 0, w.now()
		w.soon(why)
	}
}

func (w *watchful) reason(e agents.Event) string {
	switch e.Kind {
	case agents.ToolCall:
		w.calls++
		if e.Tool.Action == agents.Runs && risky(e.Tool.Detail) {
			return "before a command that may throw work away"
		}
		if w.calls >= saveEveryCalls {
			return "after 20 tool calls"
		}
	case agents.ToolResult:
		if e.Tool.Action == agents.Writes && !e.Failed && w.now().Sub(w.saved) >= saveAfterWrite {
			return "after a file was written"
		}
	}
	return ""
}
