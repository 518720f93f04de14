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
	"path/filepath"
	"slices"
	"strconv"

	"github.com/wfs-dev/wfs/cmd/internal/board"
	"github.com/wfs-dev/wfs/cmd/internal/page"
	"github.com/wfs-dev/wfs/cmd/internal/sidebyside"
	"github.com/wfs-dev/wfs/cmd/internal/views"
	"github.com/wfs-dev/wfs/engine/history"
	"github.com/wfs-dev/wfs/internal/durable"
	"github.com/wfs-dev/wfs/phases/agent"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workspace"
)

const (
	shownAttempts = 30  // columns of the matrix of tests
	shownEntries  = 100 // of the time line, and of the list of errors
	shownTests    = 200 // its rows
	shownActions  = 20  // newest actions of the agent that works now
	aroundChanges = 5   // unchanged lines around each change
)

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
