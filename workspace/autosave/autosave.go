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

// judgedSoon is the delay before the files of a judgement are saved: most judgements are faster, and end in a
// checkpoint.
const judgedSoon = 5 * time.Second

// troubleSaid is the number of auto-saves in a row that must fail before the user is warned.
const troubleSaid = 3

// Saves saves the files of one work tree.
type Saves struct {
	work  *workspace.Workspace
	watch watchful
}

// New returns the auto-saves of a work tree.
func New(work *workspace.Workspace) *Saves { return &Saves{work: work} }

// Saw requests an auto-save if the agent's action may lose work.
func (a *Saves) Saw(e agents.Event) { a.watch.event(e) }

// Saving returns the engine's port for auto-saves, nil if they are turned off. say prints warnings.
func (a *Saves) Saving(ctx context.Context, say func(string)) func(engine.AutoSaver, engine.SavingOptions) func() {
	a.watch.now = a.work.Env.Now
	every := a.every(ctx)
	if every <= 0 {
		return nil
	}
	return func(save engine.AutoSaver, o engine.SavingOptions) (end func()) {
		// The caller ends it: a signal to the run must not stop the auto-saves.
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

// every returns the configured interval between auto-saves, 0 for never.
func (a *Saves) every(ctx context.Context) time.Duration {
	every := time.Duration(0)
	if list, err := a.work.Rules(ctx); err == nil { // an unreadable configuration does not turn it off
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
	log    string      // file for errors
	soon   chan string // reasons for an early auto-save
	failed int         // in a row
	lost   string      // where lost work is kept, in the last warning
}

// run saves until ctx ends.
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

// once saves the files that are being judged, at once or if the judgement takes long.
func (s *saver) once(ctx context.Context, now bool) {
	if now { // lost files get a ref of their own, even if the judgement ends at once
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

// Soon requests an early auto-save, because work could be lost. It does not wait.
func (s *saver) Soon(why string) {
	select {
	case s.soon <- why:
	default: // already requested
	}
}

// try saves once. Neither its result nor an error affects the run.
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
	saveEveryCalls = 20               // tool calls
	saveAfterWrite = 10 * time.Second // minimum time between saves after written files
)

// overwrites matches a redirection into a file.
var overwrites = lazyregexp.New(`(^|[^>&\d-])>\s*[^>&\s|]`)

// risky reports whether a command may discard work. Other commands only get the regular auto-saves.
func risky(command string) bool {
	return agents.Risk(command) != "" || overwrites.MatchString(command)
}

// watchful requests auto-saves because of an agent's actions. The agent announces a tool call when it begins, so a save
// before a command that discards work is a race. It is usually won, because the command has yet to be started, but
// there is no guarantee.
type watchful struct {
	mu    sync.Mutex
	now   func() time.Time
	calls int
	saved time.Time // last time when the files were known to be saved
	soon  func(why string)
}

// saving sets the function that requests an auto-save; nil: there are none.
func (w *watchful) saving(soon func(why string)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.soon, w.calls, w.saved = soon, 0, w.now() // a checkpoint has the current files
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
