package cmd

import (
	"context"
	"crypto/rand"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/wfs-dev/wfs/engine"
	"github.com/wfs-dev/wfs/gitstate"
	"github.com/wfs-dev/wfs/registry"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
)

// step is where a process dies, named after the last thing that it did.
type step int

const (
	staged       step = iota + 1 // a checkpoint's index is installed
	unpublished                  // the journal ends in the turn
	ledgerMoved                  // the turn is true
	indexMoved                   // and the index is what the turn leads to
	branchMoved                  // and the branches are
	headMoved                    // and HEAD is
	moveBegun                    // the journal says so, no file is moved
	moveHalf                     // one file is moved
	moveDone                     // all files are
	finishBegun                  // the journal says so
	finishBranch                 // the user's branch is at the base
	finishCommit                 // and has its commit
	deleteBegun                  // the journal says so
	deleteCopied                 // and what it removes is kept below refs/wfs-deleted
	deleteHalf                   // and the branch is gone
)

// dying is a store whose process dies at one step: it panics, and what comes after the step never happens.
type dying struct {
	*gitstate.Repo
	f      *fixture
	at     step
	passed *int // so many turns come to their end before; nil for none
}

// lives reports whether this turn comes to its end.
func (d dying) lives() bool {
	if d.passed == nil || *d.passed == 0 {
		return false
	}
	*d.passed--
	return true
}

type killed struct{}

func (d dying) Prepare(ctx context.Context, draft session.Draft, seal func(session.Made) (session.Files, error)) (session.Prepared, error) {
	return d.Repo.Prepare(ctx, draft, func(m session.Made) (session.Files, error) {
		if d.at == staged {
			panic(killed{})
		}
		return seal(m)
	})
}

func (d dying) Publish(ctx context.Context, p session.Prepared) (session.Settled, error) {
	if d.lives() {
		return d.Repo.Publish(ctx, p)
	}
	f := d.f
	f.prepared = p
	if d.at >= ledgerMoved && d.at <= headMoved {
		f.moveRef(session.LedgerOf(p.Session), p.Ledger, p.LedgerOld)
	}
	if d.at >= indexMoved && d.at <= headMoved && p.Turn.Index != "" {
		f.ok("git", "read-tree", string(p.Turn.Index))
	}
	if d.at == branchMoved || d.at == headMoved {
		for _, m := range p.Turn.Refs {
			f.moveRef(m.Ref, m.New, m.Old)
		}
	}
	if d.at == headMoved && p.Turn.HeadNew != "" {
		f.ok("git", "symbolic-ref", "HEAD", p.Turn.HeadNew)
	}
	panic(killed{})
}

func (d dying) LogOp(ctx context.Context, op session.Op) (int64, error) {
	if d.at == deleteBegun {
		panic(killed{})
	}
	return d.Repo.LogOp(ctx, op)
}

func (d dying) Settle(ctx context.Context, id session.ID, t session.Turn) (session.Settled, error) {
	if d.at != deleteCopied && d.at != deleteHalf {
		return d.Repo.Settle(ctx, id, t)
	}
	for _, m := range t.Refs {
		if m.Old == "" || d.at == deleteHalf && m.Ref == session.BranchOf(id) {
			d.f.moveRef(m.Ref, m.New, m.Old)
		}
	}
	panic(killed{})
}

func (f *fixture) moveRef(ref string, to, from session.Commit) {
	f.t.Helper()
	if to == "" {
		f.ok("git", "update-ref", "-d", ref, string(from))
		return
	}
	if now, _ := f.try(nil, "git", "rev-parse", "-q", "--verify", ref); strings.TrimSpace(now) != string(to) {
		f.ok("git", "update-ref", ref, string(to), string(from))
	}
}

func (d dying) MoveTree(ctx context.Context, m session.Move) error {
	switch d.at {
	case moveBegun:
		panic(killed{})
	case moveHalf:
		d.f.moveOne(m)
		panic(killed{})
	}
	if err := d.Repo.MoveTree(ctx, m); err != nil {
		return err
	}
	if d.at == moveDone {
		panic(killed{})
	}
	return nil
}

// moveOne carries the first change of a plan out.
func (f *fixture) moveOne(m session.Move) {
	f.t.Helper()
	if len(m.Changes) < 2 {
		f.t.Fatalf("half of %v is nothing, or everything", m.Changes)
	}
	c := m.Changes[0]
	path := filepath.Join(f.dir, c.Path)
	if c.Status == "D" {
		if err := os.Remove(path); err != nil {
			f.t.Fatal(err)
		}
		return
	}
	f.write(c.Path, f.ok("git", "cat-file", "blob", string(m.To)+":"+c.Path)+"\n")
}

func (d dying) CommitOnto(ctx context.Context, branch string, base session.Commit, tree session.Tree, message string) (session.Commit, error) {
	switch d.at {
	case finishBegun:
		panic(killed{})
	case finishBranch:
		d.f.moveRef(branch, base, "")
		panic(killed{})
	}
	c, err := d.Repo.CommitOnto(ctx, branch, base, tree, message)
	if err == nil && d.at == finishCommit {
		panic(killed{})
	}
	return c, err
}

// app is a command line in this process. The caller closes it.
func (f *fixture) app() *app {
	f.t.Helper()
	a := &app{signals: &signals{}, env: Env{Dir: f.dir, Environ: f.env, Now: time.Now, Rand: rand.Reader, Stdout: io.Discard, Stderr: io.Discard, PID: os.Getpid()}}
	if err := a.open(context.Background()); err != nil {
		f.t.Fatal(err)
	}
	return a
}

// dies takes a session in hand and lets the process die at a step of what it does with it.
func (f *fixture) dies(id session.ID, at step, do func(ctx context.Context, h *engine.Hand) error) {
	f.t.Helper()
	a := f.app()
	defer a.gone(id)
	a.eng.Store = dying{Repo: a.repo, f: f, at: at}
	defer func() {
		r := recover()
		a.repo.Quiet() // a process that dies takes with it what it had begun; this one does not die
		switch r {
		case nil, killed{}:
		default:
			panic(r)
		}
	}()
	ctx := context.Background()
	if err := a.hold("test", id); err != nil {
		f.t.Fatal(err)
	}
	h, err := a.take(ctx, id)
	if err == nil {
		err = do(ctx, h)
	}
	f.t.Fatalf("step %d was not reached: %v", at, err)
}

// gone gives the locks back as a process does that ends: another test may be about to start a process at this moment,
// which holds them too until it has become another program.
func (a *app) gone(id session.ID) {
	a.close()
	for range 2000 {
		_, held, err := a.clone.WorktreeHolder(a.repo.Worktree())
		_, driven, err2 := a.clone.Driver(id)
		if !held && !driven || err != nil || err2 != nil {
			return
		}
		time.Sleep(time.Millisecond)
	}
}

// What dies.

func (f *fixture) checkpointDies(at step) {
	f.t.Helper()
	f.dirty()
	f.kept = f.blobs()
	f.dies("one", at, func(ctx context.Context, h *engine.Hand) error {
		_, err := h.Checkpoint(ctx, "mine")
		return err
	})
}

// switchDies goes from session one, with edits, to session two.
func (f *fixture) switchDies(at step) {
	f.t.Helper()
	f.dirty()
	f.kept = f.blobs()
	f.dies("two", at, func(ctx context.Context, h *engine.Hand) error {
		_, err := h.Enter(ctx)
		return err
	})
}

// resumeDies goes back to checkpoint 0 of session one.
func (f *fixture) resumeDies(at step) {
	f.t.Helper()
	f.dirty()
	f.kept = f.blobs()
	f.dies("one", at, func(ctx context.Context, h *engine.Hand) error {
		_, err := h.Resume(ctx, 0)
		return err
	})
}

// finishDies hands session one over on the branch handed.
func (f *fixture) finishDies(at step) {
	f.t.Helper()
	f.ok("wfs", "run")
	f.dies("one", at, func(ctx context.Context, h *engine.Hand) error {
		_, _, err := h.Finish(ctx, engine.Handover{Branch: "refs/heads/handed"})
		return err
	})
}

// recordDies changes what is said of session one: abandons, renames or edits it.
func (f *fixture) recordDies(at step, do func(ctx context.Context, h *engine.Hand) error) {
	f.t.Helper()
	f.kept = f.blobs()
	f.dies("one", at, do)
}

func abandon(ctx context.Context, h *engine.Hand) error {
	_, _, err := h.Abandon(ctx, "why not")
	return err
}

func rename(ctx context.Context, h *engine.Hand) error {
	_, err := h.Rename(ctx, "another title")
	return err
}

func edit(ctx context.Context, h *engine.Hand) error {
	_, _, err := h.Edit(ctx, engine.Wish{Goal: "another goal"})
	return err
}

func revive(ctx context.Context, h *engine.Hand) error {
	_, err := h.Revive(ctx)
	return err
}

// repin lets an agent that fails work in session one.
func repin(ctx context.Context, h *engine.Hand) error {
	plan := *h.Plan
	plan.Agent.Command = workflows.Command{Shell: "false"}
	text, digest := workflows.EncodePlan(&plan)
	_, _, err := h.Repin(ctx, engine.Repin{Plan: &plan, PlanText: text, PlanDigest: digest, Agent: "false", AgentTyped: true})
	return err
}

// deleteDies deletes session two.
func (f *fixture) deleteDies(at step) {
	f.t.Helper()
	f.kept = f.blobs()
	f.dies("two", at, func(ctx context.Context, h *engine.Hand) error {
		_, err := h.Delete(ctx, "delete two", 0)
		return err
	})
}

// journal appends events to a session's journal, as a process that died right after the last one.
func (f *fixture) journal(id session.ID, bodies ...session.Body) {
	f.t.Helper()
	a := f.app()
	defer a.close()
	v, err := a.view(context.Background(), id)
	if err != nil {
		f.t.Fatal(err)
	}
	j, err := a.clone.Journal(id, v.Tip)
	if err != nil {
		f.t.Fatal(err)
	}
	defer j.Close()
	for n, b := range bodies {
		ev := session.Event{Seq: v.Session.Seq + int64(n) + 1, At: time.Unix(1_800_000_000, 0), Body: b}
		if err := j.Append(ev); err != nil {
			f.t.Fatal(err)
		}
	}
}

// journalFile is the path of the journal that extends a session's tip.
func (f *fixture) journalFile(id session.ID) string {
	f.t.Helper()
	return filepath.Join(f.dir, ".git/wfs/sessions", string(id), "events-"+f.ok("git", "rev-parse", session.LedgerOf(id))+".jsonl")
}

// kinds lists what happened in a session, in its ledger and in its journal.
func (f *fixture) kinds(id session.ID) string {
	f.t.Helper()
	a := f.app()
	defer a.close()
	ctx := context.Background()
	all, err := a.eng.History(ctx, id)
	if err != nil {
		f.t.Fatal(err)
	}
	tip, err := a.repo.Ref(ctx, session.LedgerOf(id))
	if err != nil {
		f.t.Fatal(err)
	}
	live, _, err := registry.Open(a.repo.StateDir()).Peek(id, tip)
	if err != nil {
		f.t.Fatal(err)
	}
	var kinds []string
	for _, e := range append(all, live...) {
		kinds = append(kinds, string(e.Kind()))
	}
	return strings.Join(kinds, " ")
}

// attempt is what an attempt writes before it is decided, up to n events of it.
func (f *fixture) attempt(n int) {
	f.t.Helper()
	a := f.app()
	snap, err := a.repo.Snapshot(context.Background(), a.clone.ExcludeFile("one"))
	if err != nil {
		f.t.Fatal(err)
	}
	all := []session.Body{
		session.Driving{},
		session.AttemptStarted{Number: 1, Phase: "WORK", Lap: 1, Attempt: 1, RunID: "one-0001-dead", Tree: snap.Tree, Runner: "command"},
		session.RunEnded{RunResult: session.RunResult{Outcome: session.OutcomeOK, Done: true}, Tree: snap.Tree},
		session.Judged{Judgement: session.Judgement{Tree: snap.Tree, Verdict: session.Fail, Class: session.ClassCommandFailed, Reason: "what the dead process thought"}},
		session.Decided{Verdict: session.Fail, Class: session.ClassCommandFailed, Reason: "what the dead process thought", Next: "WORK", NextLap: 1},
	}
	f.journal("one", all[:n]...)
}
