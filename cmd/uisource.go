package cmd

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/wfs-dev/wfs/cmd/internal/board"
	"github.com/wfs-dev/wfs/cmd/internal/page"
	"github.com/wfs-dev/wfs/cmd/internal/present"
	"github.com/wfs-dev/wfs/cmd/internal/sidebyside"
	"github.com/wfs-dev/wfs/cmd/internal/views"
	"github.com/wfs-dev/wfs/engine/history"
	"github.com/wfs-dev/wfs/internal/durable"
	"github.com/wfs-dev/wfs/internal/proc"
	"github.com/wfs-dev/wfs/phases/agent"
	"github.com/wfs-dev/wfs/registry"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workspace"
)

const (
	shownAttempts = 30  // columns of the matrix of tests
	shownEntries  = 100 // of the time line, and of the list of errors
	shownTests    = 200 // rows of it
	shownActions  = 20  // newest actions of the agent that works now
	aroundChanges = 5   // unchanged lines around each change
)

// uiSource reads for the page of wfs ui what the commands that print it would read. Each request opens the repository
// anew, so that it sees what other processes have done.
type uiSource struct {
	*app
	here  string   // the repository of the working directory, "" for none
	known sync.Map // see history.Reader

	mu     sync.Mutex
	repos  map[string]*uiRepo // all that the page has shown, by key
	shown  []*uiRepo          // those that it showed last
	stamps map[string]string  // of the last look, by repository/session
}

// uiRepo is a repository on the page.
type uiRepo struct {
	page.Repo
	clone *registry.Clone

	mu   sync.Mutex
	look *registry.Stamps
	rows map[session.ID]boardRow
}

// boardRow is a row of the board, right as long as the session's files have this stamp.
type boardRow struct {
	stamp string
	row   page.Row
}

func (r *uiRepo) stamp(id session.ID) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.look.Of(id)
}

// remember returns a session's row, read again only if its files have changed.
func (r *uiRepo) remember(id session.ID, tip session.Commit, read func() present.Session) present.Session {
	stamp := string(tip) + r.stamp(id)
	r.mu.Lock()
	kept, found := r.rows[id]
	r.mu.Unlock()
	if !found || kept.stamp != stamp {
		kept = boardRow{stamp, read()}
		r.mu.Lock()
		r.rows[id] = kept
		r.mu.Unlock()
	}
	return kept.row
}

// at returns a command line of its own in a directory. What it prints goes to `out`.
func (u *uiSource) at(ctx context.Context, dir string, out io.Writer) (*app, error) {
	env := u.env
	env.Dir, env.Stdin, env.Stdout, env.Stderr = dir, strings.NewReader(""), out, io.Discard
	env.StdinTTY, env.StdoutTTY, env.StderrTTY = false, false, false
	a := newApp(env, u.signals)
	a.env.Color, a.env.Width = "never", 100
	if err := a.Open(ctx); err != nil {
		return a, err
	}
	a.Engine.Known = &u.known
	return a, nil
}

// Repositories returns the repository of the working directory, and all others in which the user has trusted commands.
func (u *uiSource) Repositories() []page.Repo {
	var dirs []string
	var gone []page.Repo
	if u.here != "" {
		dirs = append(dirs, u.here)
	}
	if store, err := u.TrustStore(); err == nil {
		all, _ := store.Repositories() // the page shows the others
		for _, dir := range all {
			switch {
			case dir == u.here:
			case isDir(dir):
				dirs = append(dirs, dir)
			default:
				gone = append(gone, page.Repo{Dir: dir, Gone: true})
			}
		}
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	u.shown = nil
	named := map[string]int{}
	for _, dir := range dirs {
		r := u.repo(dir)
		u.shown = append(u.shown, r)
		named[filepath.Base(r.Dir)]++
	}
	var list []page.Repo
	for _, r := range u.shown {
		if r.Name = filepath.Base(r.Dir); named[r.Name] > 1 {
			r.Name = r.Dir
		}
		list = append(list, r.Repo)
	}
	return append(list, gone...)
}

// repo returns the repository with this common directory. The caller holds the lock.
func (u *uiSource) repo(common string) *uiRepo {
	sum := sha256.Sum256([]byte(common))
	key := hex.EncodeToString(sum[:6])
	if u.repos[key] == nil {
		r := &uiRepo{clone: registry.Open(filepath.Join(common, "wfs")), rows: map[session.ID]boardRow{}}
		r.look = &registry.Stamps{Clone: r.clone}
		if r.Key, r.Dir = key, common; filepath.Base(common) == ".git" {
			r.Dir = filepath.Dir(common)
		}
		u.repos[key] = r
	}
	return u.repos[key]
}

// Board returns the sessions of a repository. It reads only those again whose files have changed.
func (u *uiSource) Board(ctx context.Context, r page.Repo) ([]page.Row, error) {
	a, err := u.at(ctx, r.Dir, io.Discard)
	if err != nil {
		return nil, err
	}
	defer a.Close()
	u.mu.Lock()
	repo := u.repos[r.Key]
	u.mu.Unlock()
	return (&listVerb{app: a, remember: repo.remember}).sessions(ctx, false)
}

func (u *uiSource) State(ctx context.Context, r page.Repo, id session.ID) (page.State, error) {
	a, v, err := u.view(ctx, r, id, io.Discard)
	if err != nil {
		return page.State{}, err
	}
	defer a.Close()
	state, _, err := u.state(ctx, a, &v.Session)
	return state, err
}

// state says where a session is, and which files of its work tree are in no checkpoint.
func (u *uiSource) state(ctx context.Context, a *app, s *session.Session,
) (state page.State, edits []string, err error) {
	state.Seq = s.Seq
	who, held, err := a.Clone.Session(s.ID).Driver()
	if err != nil {
		return state, nil, err
	}
	state.Driven = held && workspace.IsRun(who)
	in, err := a.PlaceOf(ctx, s.ID)
	state.Away = in == nil || in.Gone
	if err != nil || state.Away || state.Driven {
		return state, nil, err
	}
	if in.ID != a.Repo.Worktree() {
		if a, err = u.at(ctx, in.Path, io.Discard); err != nil {
			return state, nil, err
		}
		defer a.Close()
	}
	edits = editsIn(ctx, a.Workspace, s, in)
	sum := sha256.New()
	for _, name := range edits {
		fmt.Fprintln(sum, name, durable.Stamp(filepath.Join(in.Path, name)))
	}
	state.Edits = hex.EncodeToString(sum.Sum(nil)[:8])
	return state, edits, nil
}

// view opens a session for reading.
func (u *uiSource) view(ctx context.Context, r page.Repo, id session.ID, out io.Writer) (*app, history.View, error) {
	a, err := u.at(ctx, r.Dir, out)
	if err != nil {
		return nil, history.View{}, err
	}
	v, err := a.View(ctx, id)
	var no *session.Refusal
	gone := errors.As(err, &no) && no.Code == session.RefuseNoSession
	if gone {
		_, err = a.Resolve(ctx, string(id)) // says that it was deleted
		err = cmp.Or(err, page.ErrNotFound)
	}
	if err != nil {
		f := a.diagnose(err)
		err = &session.Refusal{Message: f.Error, Hint: cmp.Or(f.Hint, "wfs doctor")}
		if gone {
			err = fmt.Errorf("%w: %w", page.ErrNotFound, err)
		}
		a.Close()
	}
	return a, v, err
}

func (u *uiSource) Session(ctx context.Context, r page.Repo, id session.ID, all bool) (*page.Session, error) {
	var text bytes.Buffer
	a, v, err := u.view(ctx, r, id, &text)
	if err != nil {
		return nil, err
	}
	defer a.Close()
	in, err := a.PlaceOf(ctx, id)
	if err != nil {
		return nil, err
	}
	events, err := eventsOfView(ctx, a.Workspace, &v)
	if err != nil {
		return nil, err
	}
	status := &statusVerb{app: a}
	d := &page.Session{Repo: r, Story: status.storyOf(ctx, &v, in)}
	if d.State, d.Story.Edits, err = u.state(ctx, a, &v.Session); err != nil {
		return nil, err
	}
	told := d.Story
	status.print(ctx, &v, &told)
	d.Text = text.String()
	facts := views.Facts(&v.Session, events)
	d.Visits, d.Metrics, d.Errors = views.Timeline(facts), views.Measure(facts), views.Errors(facts)
	columns := shownAttempts
	if all {
		columns = len(d.Metrics.Attempts)
	} else {
		d.Visits, d.Earlier = views.Newest(d.Visits, shownEntries)
		d.Errors = d.Errors[max(0, len(d.Errors)-shownEntries):]
	}
	if plan, err := a.PinnedPlan(ctx, v); err == nil {
		d.Plan = plan
	}
	judged, older := views.Judged(d.Metrics.Attempts, columns)
	tested, err := testsOf(ctx, a, &v, judged)
	if err != nil {
		return nil, err
	}
	d.Older, d.Matrix = older, views.MatrixOf(tested, shownTests)
	if o := v.Session.Open; o != nil && o.Run == nil && d.State.Driven {
		if dir, err := a.Clone.Session(id).RunDir(o.RunID); err == nil && isDir(dir) {
			did, _ := runEvents(dir) // only for display
			d.Agent = did[max(0, len(did)-shownActions):]
			brief, _ := durable.ReadFile(filepath.Join(dir, agent.BriefFile), maxRunLog)
			d.Brief = string(brief)
		}
	}
	return d, nil
}

// testsOf returns the results of tests on the base, if any ran there, and in each of these attempts.
func testsOf(ctx context.Context, a *app, v *history.View, attempts []views.Attempt) ([]views.Column, error) {
	columns := make([]views.Column, len(attempts))
	for i := range attempts {
		columns[i].Place = attempts[i].Place
	}
	commits, err := a.Repo.LedgersFrom(ctx, v.Tip)
	if err != nil {
		return nil, err
	}
	var ledgers []session.Commit
	var of []int                // the column of each
	for _, c := range commits { // newest first
		if len(of) == len(attempts) {
			break
		}
		events, err := a.Engine.EventsOf(ctx, c.Commit)
		if err != nil {
			return nil, err
		}
		if i := slices.IndexFunc(attempts, func(a views.Attempt) bool { return makes(events, *a.Checkpoint) }); i >= 0 {
			ledgers, of = append(ledgers, c.Commit), append(of, i)
		}
	}
	texts, err := a.Repo.Documents(ctx, ledgers, session.FileEvidence)
	for k, text := range texts {
		if text != nil && err == nil {
			err = json.Unmarshal(text, &columns[of[k]].Evidence)
		}
	}
	base := views.Column{Place: views.Place{Checkpoint: new(int)}}
	if err == nil {
		var text []byte
		if text, err = a.Repo.File(ctx, v.Tip, session.FileBaseline); text != nil && err == nil {
			err = json.Unmarshal(text, &base.Evidence)
		}
	}
	if len(base.Evidence.Gates) > 0 {
		columns = slices.Insert(columns, 0, base)
	}
	return columns, err
}

func (u *uiSource) Checkpoint(ctx context.Context, r page.Repo, id session.ID, n int) (*page.Checkpoint, error) {
	var text bytes.Buffer
	a, v, err := u.view(ctx, r, id, &text)
	if err != nil {
		return nil, err
	}
	defer a.Close()
	s := &v.Session
	c := s.At(n)
	if c == nil {
		return nil, page.ErrNotFound
	}
	if err := (&showVerb{app: a}).showCheckpoint(ctx, id, n); err != nil {
		return nil, err
	}
	d := &page.Checkpoint{Repo: r, ID: id, Number: n, On: c.On, Last: len(s.Checkpoints) - 1,
		State: page.State{Seq: s.Seq}, Subject: c.Summary, Text: text.String()}
	events, err := eventsOfView(ctx, a.Workspace, &v)
	if err != nil {
		return nil, err
	}
	run := runUntil(events, n)
	if run.RunID == "" {
		return d, nil
	}
	if dir, err := a.Clone.Session(id).RunDir(run.RunID); err == nil && isDir(dir) {
		run.Events, _ = runEvents(dir) // what can be read of it
		brief, _ := durable.ReadFile(filepath.Join(dir, agent.BriefFile), maxRunLog)
		d.Brief = string(brief)
		if len(run.Events) == 0 {
			output, _ := durable.ReadFile(filepath.Join(dir, agent.OutputFile), maxRunLog)
			d.Output = string(output[:min(len(output), maxTold)])
		}
	}
	d.Run = &run
	return d, nil
}

func (u *uiSource) Diff(ctx context.Context, r page.Repo, id session.ID, from, to string) (*page.Diff, error) {
	a, v, err := u.view(ctx, r, id, io.Discard)
	if err != nil {
		return nil, err
	}
	defer a.Close()
	s := &v.Session
	d := &page.Diff{Repo: r, ID: id, From: cmp.Or(from, "base"), To: cmp.Or(to, strconv.Itoa(s.Current))}
	if d.State, d.Edits, err = u.state(ctx, a, s); err != nil {
		return nil, err
	}
	for i := range s.Checkpoints {
		d.Numbers = append(d.Numbers, i)
	}
	ends := [2]session.Commit{}
	for i, name := range []string{d.From, d.To} {
		if name == "base" {
			ends[i] = s.Base
			continue
		}
		n, err := strconv.Atoi(name)
		if err != nil || s.At(n) == nil {
			return nil, page.ErrNotFound
		}
		ends[i] = s.At(n).Code
	}
	d.Waits = board.Decides(s.Status, s.Waiting) && !d.State.Driven && !d.State.Away && d.To == strconv.Itoa(s.Current)
	command := "wfs diff " + string(id)
	if d.From != "base" {
		command = fmt.Sprintf("wfs diff %s@%s %[1]s@%[3]s", id, d.From, d.To)
	}
	diff, err := sidebyside.Read(ctx, a.Repo.Objects, string(ends[0]), string(ends[1]), aroundChanges, command)
	if err != nil {
		return nil, err
	}
	d.HTML, err = diff.HTML()
	return d, err
}

// Run runs wfs itself, as if it was typed in a directory.
func (u *uiSource) Run(ctx context.Context, dir string, args []string) (string, int, error) {
	argv := append([]string{u.env.Exe, "-C", dir, "--color=never"}, args...)
	out, errs, exit, err := proc.Output(ctx, proc.Cmd{Argv: argv, Dir: dir, Env: u.env.Environ})
	return strings.TrimSpace(string(errs) + string(out)), exit, err
}

// Changes returns the sessions of all repositories on the page whose files have changed since the last call.
func (u *uiSource) Changes() []string {
	u.mu.Lock()
	defer u.mu.Unlock()
	now := map[string]string{}
	for _, r := range u.shown {
		ids, _ := r.clone.Sessions() // the repository may have been removed
		for _, id := range ids {
			now[r.Key+"/"+string(id)] = r.stamp(id)
		}
	}
	var changed []string
	for name, stamp := range now {
		if u.stamps[name] != stamp {
			changed = append(changed, name)
		}
	}
	for name := range u.stamps {
		if _, there := now[name]; !there {
			changed = append(changed, name)
		}
	}
	u.stamps = now
	return changed
}

// MayDecide refuses a process that belongs to a run of any repository on the page: its agent must not approve its own
// work. While a run is in progress, `sure` is false if wfs cannot tell which process asks.
func (u *uiSource) MayDecide(here, there netip.AddrPort) (sure bool, err error) {
	peers := proc.Peer(here, there)
	var above []int
	for _, pid := range peers {
		above = append(above, proc.AboveOf(pid)...)
	}
	u.Repositories() // some may be new
	u.mu.Lock()
	defer u.mu.Unlock()
	running := false
	for _, r := range u.shown {
		agents, err := workspace.AnyRun(r.clone, func(pid int) bool {
			running = true
			return slices.Contains(above, pid)
		})
		if err != nil {
			return false, err
		}
		if agents {
			return false, workspace.ByAgent("wfs ui")
		}
	}
	return len(peers) > 0 || !running, nil
}
