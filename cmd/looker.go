package cmd

import (
	"context"
	"errors"
	"maps"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/wfs-dev/wfs/cmd/internal/board"
	"github.com/wfs-dev/wfs/cmd/internal/present"
	"github.com/wfs-dev/wfs/cmd/internal/present/live"
	"github.com/wfs-dev/wfs/gitstate/refs"
	"github.com/wfs-dev/wfs/gitstate/worktree"
	"github.com/wfs-dev/wfs/internal/agents"
	"github.com/wfs-dev/wfs/internal/durable"
	"github.com/wfs-dev/wfs/phases/agent"
	"github.com/wfs-dev/wfs/registry"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/session/cost"
	"github.com/wfs-dev/wfs/workspace"
)

// looker follows all sessions of the repository. A look at a session that has not changed costs a few file stats.
type looker struct {
	*app
	stamp string
	seen  map[session.ID]*looked
}

// looked is what the last look found of one session.
type looked struct {
	id      session.ID
	tip     session.Commit
	stamp   string
	s       *session.Session // nil if only the cached row is read, or if the session cannot be read
	j       present.Session
	in      *worktree.Worktree
	held    bool // a process holds the session's lock
	runs    bool // and it is a run
	runID   string
	log     tail
	does    string // what the agent does
	spent   float64
	changed bool // the row differs from the one of the look before
}

// look reads what has changed since the last look. It returns the sessions that are gone.
func (l *looker) look(ctx context.Context) (gone []session.ID, err error) {
	stamp := l.Repo.Stamp("") + durable.Stamp(filepath.Join(l.Repo.GitDir(), "HEAD"))
	if stamp != l.stamp {
		if gone, err = l.list(ctx); err != nil {
			return nil, err
		}
		l.stamp = stamp
	}
	l.parallel(slices.Collect(maps.Values(l.seen)), func(k *looked) {
		k.changed = k.stamp == "" || k.stamp != l.stampOf(k) || k.held && !l.heldStill(k)
		if k.changed {
			l.read(ctx, k)
		}
	})
	for _, k := range l.seen {
		k.log.drain(k.saw)
	}
	return gone, nil
}

// list reads which sessions there are, and where they are checked out.
func (l *looker) list(ctx context.Context) (gone []session.ID, err error) {
	all, err := l.Repo.Sessions(ctx)
	if err != nil && !errors.Is(err, refs.ErrBrokenRef) { // the sessions with a sound ref are shown
		return nil, err
	}
	trees, err := l.Repo.Worktrees(ctx)
	if err != nil {
		return nil, err
	}
	for id := range l.seen {
		if _, there := all[id]; !there {
			gone = append(gone, id)
			delete(l.seen, id)
		}
	}
	slices.Sort(gone)
	for id, tip := range all {
		k, known := l.seen[id]
		if !known {
			k = &looked{id: id}
			l.seen[id] = k
		}
		in := l.On(trees, id)
		if k.tip != tip || (in == nil) != (k.in == nil) || in != nil && *in != *k.in {
			k.tip, k.in, k.stamp = tip, in, ""
		}
	}
	return gone, nil
}

// stampOf returns a text that changes when the session's ledger moves or its journal grows.
func (l *looker) stampOf(k *looked) string {
	journal, err := l.Clone.Session(k.id).JournalPath(k.tip)
	if err != nil {
		return ""
	}
	return l.Repo.Stamp(k.id) + durable.Stamp(journal)
}

func (l *looker) heldStill(k *looked) bool {
	_, held, err := l.Clone.Session(k.id).Driver()
	return err != nil || held
}

// parallel calls f for each session on all processors.
func (l *looker) parallel(list []*looked, f func(*looked)) {
	var wait sync.WaitGroup
	for part := range slices.Chunk(list, len(list)/runtime.GOMAXPROCS(0)+1) {
		wait.Go(func() {
			for _, k := range part {
				f(k)
			}
		})
	}
	wait.Wait()
}

// read reads a session that is new or has changed. If it does not wait or run, its cached row is enough at first.
func (l *looker) read(ctx context.Context, k *looked) {
	first := k.stamp == ""
	if !first {
		if tip, err := l.Repo.Ref(ctx, session.LedgerOf(k.id)); err == nil && tip != "" {
			k.tip = tip
		}
	}
	k.stamp = l.stampOf(k) // before the session is read: what changes meanwhile is read again
	var row present.Session
	if quiet := first && l.Clone.Session(k.id).Row(k.tip, &row); quiet && row.Status != session.StatusRunning &&
		row.Status != session.StatusWaiting {
		k.s, k.j = nil, row
		l.placed(&k.j, k.in)
		return
	}
	l.readAll(ctx, k)
}

// readAll reads a session whole.
func (l *looker) readAll(ctx context.Context, k *looked) {
	who, held, err := l.Clone.Session(k.id).Driver()
	k.held, k.runs = held, held && workspace.IsRun(who)
	v, e := l.Engine.Load(ctx, k.id, k.tip)
	if err = errors.Join(e, err); err == nil {
		err = l.SeeInterrupted(&v.Session)
	}
	if err != nil {
		k.s, k.j = nil, present.Unread(k.id, err, "wfs show "+string(k.id))
		return
	}
	k.s, k.j = &v.Session, present.Describe(&v.Session)
	l.placed(&k.j, k.in)
	k.follow(l.Clone)
}

// fill reads whole sessions of which only the row is known: those in `wanted`.
func (l *looker) fill(ctx context.Context, wanted []session.ID) (filled bool) {
	var list []*looked
	for _, id := range wanted {
		if k := l.seen[id]; k != nil && k.s == nil && k.j.Status != present.Unreadable {
			list = append(list, k)
		}
	}
	l.parallel(list, func(k *looked) { l.readAll(ctx, k) })
	return len(list) > 0
}

// follow begins to follow the log of the agent that runs now, or stops it.
func (k *looked) follow(clone *registry.Clone) {
	o := k.s.Open
	switch {
	case o == nil || o.Run != nil || k.s.Status != session.StatusRunning:
		k.runID, k.log, k.does, k.spent = "", tail{}, "", 0
	case o.RunID != k.runID:
		k.runID, k.does, k.spent = o.RunID, "is working", 0
		if dir, err := clone.Session(k.id).RunDir(o.RunID); err == nil {
			k.log = tail{path: filepath.Join(dir, agent.EventsFile)}
			k.log.skip()
		}
	}
}

// saw handles one line of the log with the agent's events.
func (k *looked) saw(line []byte) {
	if r, ok := agents.DecodeRecord(line); ok {
		if does := live.Does(r.Event); does != "" {
			k.does = does
		}
		if r.Event.Kind == agents.Usage {
			k.spent = r.Event.Spent.USD
		}
	}
}

// rows returns the rows of the board.
func (l *looker) rows() []board.Row {
	rows := make([]board.Row, 0, len(l.seen))
	for _, k := range l.seen {
		rows = append(rows, l.row(k))
	}
	return rows
}

// row describes a session in one row.
func (l *looker) row(k *looked) board.Row {
	j, s := &k.j, k.s
	var wait *session.Waiting
	if s != nil {
		wait = s.Waiting
	}
	r := board.Row{ID: k.id, Status: j.Status, At: j.At(), Updated: j.UpdatedAt, Here: j.Current,
		Checkpoint: j.Checkpoint,
		Group:      board.GroupOf(j.Status, wait, k.runs), Runs: k.runs,
		Decide: board.Decides(j.Status, wait)}
	title := j.Goal
	if j.Title != "" {
		title = j.Title
	}
	r.Now, r.About = title, []string{title}
	if j.Status == present.Unreadable {
		r.Now = j.Why
	}
	if s == nil {
		r.Checkpoint = -1
		return r
	}
	if item := s.Item(); item != "" {
		r.About = append(r.About, "item: "+item)
	}
	if r.Attempt = s.Visit.Attempts; s.Open != nil {
		r.Attempt = s.Open.Attempt
	}
	used := s.Used
	if used.USD.USD()+k.spent > 0 {
		used.USD = cost.Dollars(used.USD.USD() + k.spent)
		r.Cost = present.USD(used)
	}
	switch why := present.WhyStopped(s, l.env.Now()); {
	case len(why) > 0:
		r.Now = strings.TrimPrefix(strings.TrimPrefix(why[0], "waiting for you: "), "blocked, ")
		if s.Status == session.StatusBlocked && len(why) > 1 {
			r.Now += " " + why[1]
		}
		r.About = append(r.About, why...)
		return r
	case s.Status == session.StatusRunning:
		r.Now = k.doing()
	case s.Status == session.StatusInterrupted && s.Why != "":
		r.Now = s.Why
	case s.Status == session.StatusFinished && s.Finished != nil:
		r.Now = "on " + present.ShortRef(s.Finished.Branch)
	}
	if r.Now != title {
		r.About = append(r.About, r.Now)
	}
	return r
}

// doing says what a session that runs does now.
func (k *looked) doing() string {
	o := k.s.Open
	switch {
	case o == nil:
		return "starting"
	case o.Run == nil:
		who := k.s.Agent
		if who == "" || strings.Contains(who, " ") { // a command
			who = "the agent"
		}
		return who + " " + k.does
	case o.Judgement == nil:
		return "running the gates"
	}
	return "saving a checkpoint"
}
