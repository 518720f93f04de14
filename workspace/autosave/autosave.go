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

// judgedSoon is how long a judgement may take before what it judges is saved: most take less, and end in a checkpoint.
const judgedSoon = 5 * time.Second

// troubleSaid is how many auto-saves in a row have to fail before somebody is told.
const troubleSaid = 3

// Saves saves the files of one work tree.
type Saves struct {
	work  *workspace.Workspace
	watch watchful
}

// New returns the auto-saves of a work tree.
func New(work *workspace.Workspace) *Saves { return &Saves{work: work} }

// Saw asks for an auto-save if what the agent does may lose work.
func (a *Saves) Saw(e agents.Event) { a.watch.event(e) }

// Saving is the engine's port for auto-saves, nil when they are switched off. say prints warnings.
func (a *Saves) Saving(ctx context.Context, say func(string)) func(engine.AutoSaver, engine.SavingOptions) func() {
	a.watch.now = a.work.Env.Now
	every := a.every(ctx)
	if every <= 0 {
		return nil
	}
	return func(save engine.AutoSaver, o engine.SavingOptions) (end func()) {
		// It is ended by its caller: a signal to the run is none to what saves its files.
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

// every is how often files are saved, as it is configured now, 0 for never.
func (a *Saves) every(ctx context.Context) time.Duration {
	every := time.Duration(0)
	if list, err := a.work.Rules(ctx); err == nil { // what cannot be read does not switch it off
		if s, err := a.work.Settings(list); err == nil {
			every = s.Config.AutoSave
		}
	}
	return max(cmp.Or(every, workflows.DefaultAutoSave), 0)
}

// saver saves what is in the work tree, every now and then and when something says that it is time.
type saver struct {
	every  time.Duration
	save   engine.AutoSaver
	say    func(string)
	now    func() time.Time
	log    string      // file for what fails
	soon   chan string // reasons to save before it is due
	failed int         // in a row
	lost   string      // where lost work is kept, as it was said last
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

// once saves what is being judged, at once or when the judgement takes its time.
func (s *saver) once(ctx context.Context, now bool) {
	if now { // what is gone by now gets a ref of its own, however soon the judgement ends
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

// Soon asks for an auto-save before it is due: something has happened after which much could be lost. Nobody waits.
func (s *saver) Soon(why string) {
	select {
	case s.soon <- why:
	default: // one is asked for already
	}
}

// try saves once. Nothing that becomes of it touches the run.
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

// note keeps a failure in the log of the run.
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
	saveAfterWrite = 10 * time.Second // from one file that was written to the next that counts
)

// overwrites is a redirection into a file.
var overwrites = lazyregexp.New(`(^|[^>&\d-])>\s*[^>&\s|]`)

// risky tells commands that may throw work away. All others are saved with everything else, when it is time.
func risky(command string) bool {
	return agents.Risk(command) != "" || overwrites.MatchString(command)
}

// watchful asks for auto-saves by what an agent does. A call of a tool is told when it begins, so that a save before a
// command that throws work away is a race: mostly won, because the command has to be started first, and never promised.
type watchful struct {
	mu    sync.Mutex
	now   func() time.Time
	calls int
	saved time.Time // when the files were safe, as far as is known here
	soon  func(why string)
}

// saving says whom to ask from now on; nil: nobody saves.
func (w *watchful) saving(soon func(why string)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.soon, w.calls, w.saved = soon, 0, w.now() // what is there now is in a checkpoint
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
