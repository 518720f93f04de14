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

// lookEvery is how often a follower looks for news.
const lookEvery = 200 * time.Millisecond

// following tells what happens to a session that another process drives, as `wfs run` tells it itself.
type following struct {
	*history.Follower
	work  *workspace.Workspace
	p     *live.Progress
	log   tail
	drove bool // a run has begun since this was last looked at
}

// follow begins to follow a session. What the present run prints from now on is told too.
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

// agent tells a line of a run's log.
func (w *following) agent(line []byte) {
	if r, ok := agents.DecodeRecord(line); ok {
		w.p.Agent(r.Event)
	}
}

// catchUp tells a view what it would know if it had been there from the beginning.
func (w *following) catchUp(ctx context.Context, began time.Time) {
	v := w.p.View
	v.Began(began)
	v.Stands(&w.S, nil)
	if now, err := w.work.View(ctx, w.S.ID); err == nil {
		if plan, err := w.work.PinnedPlan(ctx, now); err == nil { // without one it knows less
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

// look tells the news.
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

// untilRun tells the news until a run drives the session. One that ends before it is seen is not returned.
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

// untilEnd tells the news until the process that drives the session has ended.
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

// pause waits until it is time to look again.
func pause(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(lookEvery):
		return nil
	}
}

// tail reads the lines that are appended to a run's log.
type tail struct {
	path string // "" for none
	at   int64
}

const (
	shownBefore = 2 << 10  // bytes of a log that are told to somebody who comes later
	shownAtOnce = 64 << 10 // bytes; of a flood only the end is told
)

// skip passes over all but the newest lines. The rest of a line that it begins in is no record, and told to nobody.
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

// drain tells the lines that are new. A log whose middle was cut out goes on at its end.
func (t *tail) drain(tell func(line []byte)) {
	info, err := os.Stat(t.path)
	if err != nil {
		return
	}
	t.at = max(min(t.at, info.Size()), info.Size()-shownAtOnce)
	data := t.read(info.Size() - t.at)
	data = data[:bytes.LastIndexByte(data, '\n')+1] // an unfinished line is read again
	t.at += int64(len(data))
	for line := range bytes.Lines(data) {
		tell(line)
	}
}
