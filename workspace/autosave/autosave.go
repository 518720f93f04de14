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
	"github.com/wfs-dev/wfs/internal/safetext"
	"github.com/wfs-dev/wfs/phases/brief"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
	"github.com/wfs-dev/wfs/workspace"
)

// judgedSoon is how long a judgement must take before its files are saved. Most judgements are faster, and end in a
// checkpoint, which has the files.
const judgedSoon = 5 * time.Second

const (
	everyBeat = time.Second // how often the saver looks for reasons that nothing tells it about
	rested    = 20          // see saver.run
)

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
	c := a.Config(ctx)
	if c.Time <= 0 {
		return nil
	}
	a.watch.now, a.watch.most = a.work.Env.Now, c.Calls
	return func(save engine.AutoSaver, o engine.SavingOptions) (end func()) {
		// Only the caller ends auto-saves: a signal that ends the run must not stop them.
		ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
		s := &saver{config: c, save: save, say: say, log: o.Log, now: a.work.Env.Now,
			soon: make(chan session.Reason, 1)}
		if !o.Once {
			documents := brief.Documents(o.Session.ID, o.Workflow)
			if o.Session.SpecPath != "" {
				documents = append(documents, o.Session.SpecPath)
			}
			s.tasks.of(a.work.Repo.Root(), documents)
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

// Config returns what is configured about auto-saves, with the defaults.
func (a *Saves) Config(ctx context.Context) workflows.AutoSave {
	var c workflows.AutoSave
	if list, err := a.work.Rules(ctx); err == nil { // if the configuration cannot be read, auto-saves stay on
		if s, err := a.work.Settings(list); err == nil {
			c = s.Config.AutoSave
		}
	}
	return c.Or()
}

// saver saves the work tree at intervals and on request.
type saver struct {
	config workflows.AutoSave
	tasks  tasks
	save   engine.AutoSaver
	say    func(string)
	now    func() time.Time
	log    string              // path of the log file for errors
	soon   chan session.Reason // requests for an early auto-save, with their reasons
	failed int                 // number of failed auto-saves in a row
	lost   string              // where lost work is kept, as the last warning said
}

// run saves whenever there is a reason, until ctx ends. To count the changed files it has to look at the work tree.
// That takes long if there are many files, so it then waits for `rested` times as long before it counts again.
func (s *saver) run(ctx context.Context) {
	beat, timer := time.NewTicker(everyBeat), time.NewTimer(s.config.Time)
	defer beat.Stop()
	defer timer.Stop()
	var next time.Time // when to count changed files again
	for {
		var why session.Reason
		select {
		case <-ctx.Done():
			return
		case why = <-s.soon:
		case <-timer.C:
			why = session.Reason{Trigger: "time", Why: "after " + s.config.Time.String()}
		case <-beat.C:
			switch {
			case s.tasks.ticked():
				why = session.Reason{Trigger: "task", Why: "after a task was ticked"}
			case s.config.Files > 0 && !s.now().Before(next):
				why = session.Reason{Trigger: "files", AtLeast: s.config.Files,
					Why: "after " + safetext.Plural(s.config.Files, "file", "files") + " changed"}
			default:
				continue
			}
		}
		began := s.now()
		if s.try(ctx, why) {
			timer.Reset(s.config.Time)
		}
		next = s.now().Add(rested * s.now().Sub(began))
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
		case <-time.After(min(judgedSoon, s.config.Time)):
		}
	}
	s.try(ctx, session.Reason{Trigger: "judged", Why: "before it was judged"})
}

// Soon requests an early auto-save, because work could be lost. It does not wait for it.
func (s *saver) Soon(why session.Reason) {
	select {
	case s.soon <- why:
	default: // there is a pending request already
	}
}

// try saves once. The run continues, whether that succeeds or not. A look that found too few changed files for an
// auto-save is no try: then it returns false.
func (s *saver) try(ctx context.Context, why session.Reason) bool {
	done, err := s.save(ctx, why)
	if why.AtLeast > 0 && !done.New {
		return false
	}
	if err != nil {
		if ctx.Err() != nil {
			return true
		}
		s.failed++
		s.note(err)
		if s.failed == troubleSaid {
			s.say(fmt.Sprintf("warning: the files could not be saved %d times in a row: %v", troubleSaid, err))
		}
		return true
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
	return true
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

// saveAfterWrite is the minimum time since the last save, for a save after a file was written.
const saveAfterWrite = 10 * time.Second

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
	most  int // number of tool calls between auto-saves, negative for any
	calls int
	saved time.Time // when the files were last known to be saved
	soon  func(session.Reason)
}

// saving sets the function that requests an auto-save, nil if there are no auto-saves now.
func (w *watchful) saving(soon func(session.Reason)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.soon, w.calls, w.saved = soon, 0, w.now() // counting starts again: a checkpoint has just saved the files
}

func (w *watchful) event(e agents.Event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.soon == nil { // there are no auto-saves now
		return
	}
	if why := w.reason(e); why.Trigger != "" {
		w.calls, w.saved = 0, w.now()
		w.soon(why)
	}
}

func (w *watchful) reason(e agents.Event) session.Reason {
	switch e.Kind {
	case agents.ToolCall:
		w.calls++
		if e.Tool.Action == agents.Runs && risky(e.Tool.Detail) {
			return session.Reason{Trigger: "risk", Why: "before a command that may throw work away"}
		}
		if w.most > 0 && w.calls >= w.most {
			return session.Reason{Trigger: "tool-calls",
				Why: "after " + safetext.Plural(w.calls, "tool call", "tool calls")}
		}
	case agents.ToolResult:
		if e.Tool.Action == agents.Writes && !e.Failed && w.now().Sub(w.saved) >= saveAfterWrite {
			return session.Reason{Trigger: "write", Why: "after a file was written"}
		}
	}
	return session.Reason{}
}
