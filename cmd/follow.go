package cmd

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/wfs-dev/wfs/cmd/internal/present/live"
	"github.com/wfs-dev/wfs/engine/history"
	"github.com/wfs-dev/wfs/internal/agents"
	"github.com/wfs-dev/wfs/phases/agent"
	"github.com/wfs-dev/wfs/registry"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workspace"
)

// lookEvery is the time between two looks at the session that wfs watch follows.
const lookEvery = 200 * time.Millisecond

// following prints what happens in a session that another process runs. The output looks as if this process ran the
// session itself.
type following struct {
	*history.Follower
	work  *workspace.Workspace
	p     *live.Progress
	log   tail
	drove bool // a run has begun since we began to follow
}

// follow begins to follow a session. If an agent is running, its latest messages are printed, too.
func follow(ctx context.Context, work *workspace.Workspace, id session.ID, p *live.Progress) (*following, error) {
	f, err := work.Engine.Follow(ctx, id)
	if err != nil {
		return nil, err
	}
	w := &following{Follower: f, work: work, p: p}
	if o := f.S.Open; o != nil && o.Run == nil {
		w.watchRun(o.RunID)
		w.log.skip()
	}
	return w, nil
}

func (w *following) watchRun(runID string) {
	if dir, err := w.work.Clone.Session(w.S.ID).RunDir(runID); err == nil {
		w.log = tail{path: filepath.Join(dir, agent.EventsFile)}
	}
}

// agent prints one line of the log with the agent's events.
func (w *following) agent(line []byte) {
	if r, ok := agents.DecodeRecord(line); ok {
		w.p.Agent(r.Event)
	}
}

// catchUp fills the live view with everything that happened since the run began.
func (w *following) catchUp(ctx context.Context, began time.Time) {
	v := w.p.View
	v.Began(began)
	v.Stands(&w.S, nil)
	if now, err := w.work.View(ctx, w.S.ID); err == nil {
		if plan, err := w.work.PinnedPlan(ctx, now); err == nil { // without a plan the view shows less
			v.Stands(&w.S, plan)
			w.p.Plan = plan
		}
	}
	past := tail{path: w.log.path}
	for line := range bytes.Lines(past.read(w.log.at)) {
		if r, ok := agents.DecodeRecord(line); ok {
			v.Agent(r.Event)
		}
	}
	if o := w.S.Open; o != nil && o.Run != nil {
		v.Does("running the gates")
	}
}

// look prints what has happened since the last look.
func (w *following) look(ctx context.Context) error {
	steps, err := w.Next(ctx)
	w.log.drain(w.agent)
	for _, s := range steps {
		if a, ok := s.Event.Body.(session.AttemptStarted); ok {
			w.watchRun(a.RunID)
		}
		w.drove = w.drove || s.Event.Kind() == session.KindDriving
		if s.Event.Kind() == session.KindRunEnded {
			w.log.drain(w.agent)
			w.log = tail{}
		}
		w.p.Event(s.Event, &s.Session)
	}
	return err
}

// untilRun prints what happens until a run holds the session. It returns the process of that run. `found` is false if
// the run ended before it was seen.
func (w *following) untilRun(ctx context.Context) (who registry.Holder, found bool, err error) {
	for {
		begun := w.drove
		who, held, err := w.work.Clone.Session(w.S.ID).Driver()
		if err != nil || held && workspace.IsRun(who) || begun {
			return who, err == nil && held && workspace.IsRun(who), err
		}
		if err := w.look(ctx); err != nil {
			return who, false, err
		}
		if err := pause(ctx); err != nil {
			return who, false, err
		}
	}
}

// untilEnd prints what happens until the process `driver` no longer runs the session.
func (w *following) untilEnd(ctx context.Context, driver registry.Holder) error {
	for {
		now, held, err := w.work.Clone.Session(w.S.ID).Driver()
		if err != nil {
			return err
		}
		if err := w.look(ctx); err != nil {
			return err
		}
		if !held || now.PID != 0 && now.Name() != driver.Name() {
			return nil
		}
		if err := pause(ctx); err != nil {
			return err
		}
	}
}

// pause waits until it is time for the next look.
func pause(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(lookEvery):
		return nil
	}
}

// tail reads new lines at the end of a run's log.
type tail struct {
	path string // "": no log
	at   int64
}

const (
	shownBefore = 2 << 10  // how much of a log is shown at first, in bytes
	shownAtOnce = 64 << 10 // how much is shown at once, in bytes; the start of more is skipped
)

// skip moves close to the end of the log. It may land inside a line; the rest of that line does not decode, and so is
// not printed.
func (t *tail) skip() {
	if info, err := os.Stat(t.path); err == nil {
		t.at = max(0, info.Size()-shownBefore)
	}
}

func (t *tail) read(most int64) []byte {
	f, err := os.Open(t.path)
	if err != nil {
		return nil
	}
	defer f.Close()
	data, _ := io.ReadAll(io.NewSectionReader(f, t.at, most))
	return data
}

// drain passes each new line to `tell`. If the log has become shorter, drain continues at its new end.
func (t *tail) drain(tell func(line []byte)) {
	info, err := os.Stat(t.path)
	if err != nil {
		return
	}
	t.at = max(min(t.at, info.Size()), info.Size()-shownAtOnce)
	data := t.read(info.Size() - t.at)
	data = data[:bytes.LastIndexByte(data, '\n')+1] // an incomplete line is read the next time
	t.at += int64(len(data))
	for line := range bytes.Lines(data) {
		tell(line)
	}
}
