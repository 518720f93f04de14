package cmd

import (
	"context"
	"errors"
	"path/filepath"
	"strings"

	"github.com/wfs-dev/wfs/gitstate/object"

	"github.com/wfs-dev/wfs/gitstate"
	"github.com/wfs-dev/wfs/internal/durable"
	"github.com/wfs-dev/wfs/internal/holdout"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
	"github.com/wfs-dev/wfs/workspace"
	"github.com/wfs-dev/wfs/workspace/rooms"
	"github.com/wfs-dev/wfs/workspace/system"
)

// noHoldout is the value of --holdout for a session without hold-out tests.
const noHoldout = "none"

// holdoutStore returns the directory in which this user's hold-out tests are stored. Hold-out tests are tests that the
// agent never sees.
func holdoutStore(e *system.Env) (holdout.Store, error) {
	state, err := e.StateDir()
	if err != nil {
		return "", err
	}
	return holdout.Store(filepath.Join(state, "holdout")), nil
}

// takenHoldout is a set of hold-out tests that wfs has read, but not stored yet.
type takenHoldout struct {
	pack holdout.Pack
	from holdout.Source
}

// takeHoldout reads the hold-out tests that --holdout names. It does nothing without the flag.
func (n *newborn) takeHoldout(ctx context.Context) error {
	o := &n.o
	switch o.holdout {
	case "":
		return nil
	case noHoldout:
		o.pinned = nil
		return nil
	}
	t, err := readHoldout(ctx, n.Workspace, o.holdout)
	if err != nil {
		return usage(`wfs new GOAL --holdout DIR (a directory outside of the repository, laid out as the repository is)`,
			"--holdout %s: %v", o.holdout, err)
	}
	if t.from.Ref != "" && !n.json {
		n.note("%s is in this repository, where the agent can find it in git's objects; a directory outside is safer",
			t.from.Ref)
	}
	o.taken = &t
	o.pinned = &workflows.Holdout{Digest: t.pack.Digest(), Files: len(t.pack)}
	return nil
}

// keepHoldout stores the hold-out tests that were read for a session. For a fork, it uses the stored tests of the
// original session.
func (n *newborn) keepHoldout(id session.ID) error {
	o := &n.o
	if o.pinned == nil || o.taken == nil && !o.fork {
		return nil
	}
	store, err := holdoutStore(n.Env)
	owner := n.Repo.CommonDir() + "\t" + string(id)
	switch {
	case err != nil:
		return err
	case o.fork: // already stored; if not, the judge reports it later
		return store.Claim(o.pinned.Digest, owner)
	}
	return store.Keep(o.taken.pack, o.taken.from, owner)
}

// readHoldout reads hold-out tests from a directory outside the repository, or from a commit of this repository.
func readHoldout(ctx context.Context, w *workspace.Workspace, typed string) (t takenHoldout, err error) {
	dir := w.Env.Abs(typed)
	if isDir(dir) {
		if err := outside(ctx, w.Repo, dir); err != nil {
			return t, err
		}
		t.from.Directory = dir
		t.pack, err = holdout.ReadDir(dir)
		return t, err
	}
	c, err := w.Repo.Resolve(ctx, typed)
	if errors.Is(err, object.ErrNoRevision) {
		return t, errors.New("there is no such directory, and no such branch, ref or commit")
	}
	if err != nil {
		return t, err
	}
	t.from.Ref, t.from.Commit = typed, string(c)
	t.pack, err = holdoutOf(ctx, w.Repo, c)
	return t, err
}

// holdoutOf returns the files of a commit as hold-out tests: those that differ from the common ancestor with HEAD, or
// all files if there is no common ancestor.
func holdoutOf(ctx context.Context, repo *gitstate.Repo, c session.Commit) (holdout.Pack, error) {
	tree, err := repo.TreeOf(ctx, c)
	if err != nil {
		return nil, err
	}
	head, err := repo.Head(ctx)
	if err != nil {
		return nil, err
	}
	var without session.Tree
	if head.Commit != "" {
		base, err := repo.MergeBase(ctx, head.Commit, c)
		if err != nil {
			return nil, err
		}
		if base != "" {
			if without, err = repo.TreeOf(ctx, base); err != nil {
				return nil, err
			}
		}
	}
	list, err := repo.FilesOf(ctx, tree, without)
	if err != nil {
		return nil, err
	}
	var files []holdout.File
	for _, f := range list {
		files = append(files, holdout.File(f))
	}
	return holdout.New(files)
}

// outside returns an error if the agent would find the files in `dir`, because they are in the repository or around it.
func outside(ctx context.Context, repo *gitstate.Repo, dir string) error {
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return err
	}
	trees, err := repo.Worktrees(ctx)
	if err != nil {
		return err
	}
	tops := []string{repo.Root(), repo.CommonDir()}
	for _, t := range trees {
		tops = append(tops, t.Path)
	}
	for _, top := range tops {
		if top, err = filepath.EvalSymlinks(top); err != nil {
			continue
		}
		if rel, err := filepath.Rel(top, real); err == nil && filepath.IsLocal(rel) {
			return errors.New("it is inside the repository, where the agent sees it; move it out")
		}
		if rel, err := filepath.Rel(real, top); err == nil && filepath.IsLocal(rel) {
			return errors.New("the repository lies in it")
		}
	}
	return nil
}

// Holdout runs gates in a clean checkout to which it adds the hold-out tests, and always removes the tests afterwards.
// It stores the gates' output next to the stored tests and not in the run's logs, because agents can read those.
func (w *works) Holdout(ctx context.Context, r session.JudgeRequest, base bool) (session.HoldoutResult, error) {
	defer w.app.rooms.Leave()
	res, err := w.holdout(ctx, r, base)
	var cannot *holdoutError
	if errors.As(err, &cannot) {
		return session.HoldoutResult{Tree: r.Tree, Digest: r.Plan.Holdout.Digest, Verdict: session.Blocked,
			Reason: "the hold-out tests could not run: " + err.Error()}, ctx.Err()
	}
	return res, err
}

// holdoutError says why hold-out tests cannot run on this machine. With this error the verdict is "blocked", but the
// command itself does not fail.
type holdoutError struct{ error }

func (w *works) holdout(ctx context.Context, r session.JudgeRequest, base bool) (session.HoldoutResult, error) {
	none, digest := session.HoldoutResult{}, r.Plan.Holdout.Digest
	store, err := holdoutStore(w.app.Env)
	if err != nil {
		return none, &holdoutError{err}
	}
	pack, err := store.Load(digest)
	if err != nil {
		return none, &holdoutError{err}
	}
	j := w.judge(ctx, r.Plan, r.RunDir, r.Tree, false)
	run := filepath.Base(r.RunDir)
	if !strings.HasPrefix(run, string(r.Session)+"-") { // the directory of a baseline run lacks the session's name
		run = string(r.Session) + "-" + run
	}
	if r.RunDir, err = store.NewRun(digest, run); err != nil {
		return none, &holdoutError{err}
	}
	clean := j.Clean
	j.Clean = func(ctx context.Context, tree session.Tree) (session.CleanTree, error) {
		c, err := clean(ctx, tree)
		if err == nil {
			err = rooms.LayHoldout(c.Root, pack)
		}
		return c, err
	}
	res, notes, err := j.Holdout(ctx, r, pack, base)
	if c, e := clean(context.WithoutCancel(ctx), r.Tree); e == nil {
		rooms.HoldoutGone(c.Root)
	}
	w.app.rooms.ClearHoldouts()
	if err != nil {
		return res, err
	}
	res.Run = run
	if len(notes) > 0 {
		text := []byte(strings.Join(notes, "\n") + "\n")
		if err := durable.WriteCache(filepath.Join(r.RunDir, "notes.txt"), text, 0o600); err != nil {
			return none, &holdoutError{err}
		}
	}
	if base { // the user has just provided the tests
		for _, n := range notes[:min(len(notes), 10)] {
			w.say("hold-out: " + n)
		}
	}
	return res, nil
}

// holdoutLogs returns the directory with the output of the hold-out tests. It returns "" if this machine has none, or
// if an agent's run calls wfs.
func holdoutLogs(e *system.Env, r *session.HoldoutResult) string {
	store, err := holdoutStore(e)
	if r == nil || err != nil || e.Get("WFS_RUN_ID") != "" {
		return ""
	}
	return store.Run(r.Digest, r.Run)
}

// sayHoldoutDrift tells the user if hold-out tests have changed at their source since wfs copied them. wfs continues to
// use the copy.
func (a *runVerb) sayHoldoutDrift(ctx context.Context, id session.ID, p *workflows.Plan) {
	store, err := holdoutStore(a.Env)
	if p.Holdout == nil || err != nil {
		return
	}
	from, known := store.Source(p.Holdout.Digest)
	if !known {
		return
	}
	t, err := readHoldout(ctx, a.Workspace, from.String())
	switch {
	case err != nil:
		a.note("the hold-out tests are no longer where they were taken from; the copy of then counts")
	case from.Commit != "" && t.from.Commit == from.Commit: // the same commit, even if its ancestor with HEAD differs
	case t.pack.Digest() != p.Holdout.Digest:
		a.note("the hold-out tests have changed where they were taken from, and the copy of then counts; to take them as they are now: %s",
			a.typedFor("wfs edit --holdout "+shellWord(from.String()), id, ""))
	}
}
