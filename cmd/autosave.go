package cmd

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/wfs-dev/wfs/engine"
	"github.com/wfs-dev/wfs/gitstate"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
)

// judgedSoon is how long a judgement may take before what it judges is saved: most take less, and end in a checkpoint.
const judgedSoon = 5 * time.Second

// troubleSaid is how many auto-saves in a row have to fail before somebody is told.
const troubleSaid = 3

// autoSaving is what saves files while somebody works, nil when that is switched off.
func (a *app) autoSaving(ctx context.Context, say func(string)) func(engine.AutoSaver, engine.SavingOptions) func() {
	a.watchful.now = a.env.Now
	every := a.autoSaveEvery(ctx)
	if every <= 0 {
		return nil
	}
	return func(save engine.AutoSaver, o engine.SavingOptions) (end func()) {
		// It is ended by whoever has begun it: a signal to the run is none to what saves its files.
		ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
		s := &saver{every: every, save: save, say: say, log: o.Log, now: a.env.Now, soon: make(chan string, 1)}
		if !o.Once {
			a.watchful.saving(s.Soon)
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
			a.watchful.saving(nil)
			cancel()
			done.Wait()
		}
	}
}

// autoSaveEvery is how often files are saved, as it is configured now, 0 for never.
func (a *app) autoSaveEvery(ctx context.Context) time.Duration {
	every := time.Duration(0)
	if list, err := a.Rules(ctx); err == nil { // what cannot be read does not switch it off
		if s, err := a.Settings(list); err == nil {
			every = s.Config.AutoSave
		}
	}
	if every == 0 {
		every = workflows.DefaultAutoSave
	}
	return max(every, 0)
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
	if where != "" && where != s.lost {
		s.say(fmt.Sprintf("warning: what was done in %d %s is gone from the work tree; it is kept in %s", done.Lost, plural(done.Lost, "file", "files"), where))
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

// autoSaveJSON is an auto-save that is newer than the newest checkpoint.
type autoSaveJSON struct {
	At      time.Time      `json:"at"`
	Commit  session.Commit `json:"commit"` // of the files
	Ref     string         `json:"ref"`
	Changes int            `json:"changes"`           // files that differ from the present checkpoint
	Missing int            `json:"missing,omitempty"` // of those, how many are not in the work tree now
}

// addAutoSave tells of a session's auto-save when it holds something that no checkpoint has; not while the session is
// driven: then it is about to be replaced. in is the work tree that has the session checked out, nil for none.
func (a *app) addAutoSave(ctx context.Context, d *sessionJSON, s *session.Session, tip session.Commit, in *gitstate.Worktree) {
	if s.Status.Final() {
		return
	}
	auto, err := a.Repo.Auto(ctx, s.ID)
	c := s.At(s.Current)
	if err != nil || auto == nil || auto.Ledger != tip || c == nil || auto.Tree == c.Tree {
		return
	}
	if _, held, err := a.Clone.Driver(s.ID); err != nil || held {
		return
	}
	j := &autoSaveJSON{At: unix(auto.At).UTC(), Commit: auto.Code, Ref: session.AutoOf(s.ID), Changes: auto.Changes}
	for _, c := range auto.Changed {
		if c.Status == "D" || in == nil || in.Gone {
			continue
		}
		if _, err := os.Lstat(filepath.Join(in.Path, filepath.FromSlash(c.Path))); err != nil {
			j.Missing++
		}
	}
	d.AutoSave = j
	if j.Missing > 0 && (s.Status == session.StatusInterrupted || s.Status == session.StatusPaused) {
		d.Next = append([]string{a.autoCommand("resume --backup", d)}, d.Next...)
	}
}

// autoCommand is a command for a session's auto-save, as it has to be typed here.
func (a *app) autoCommand(command string, d *sessionJSON) string {
	return a.typedFor("wfs "+command, d.ID, d.Worktree)
}

// sayAutoSave tells people of it.
func (a *app) sayAutoSave(d *sessionJSON) {
	j := d.AutoSave
	if j == nil {
		return
	}
	a.out("backup of %s: %d changed %s", ago(j.At, a.env.Now()), j.Changes, plural(j.Changes, "file", "files"))
	if j.Missing > 0 {
		a.out("  %d of them %s not in the work tree any more; to restore them: %s", j.Missing, plural(j.Missing, "is", "are"), a.autoCommand("resume --backup", d))
		return
	}
	a.out("  the work tree may be newer, and is what wfs run continues with; to see what was saved: %s", a.autoCommand("diff auto", d))
}
