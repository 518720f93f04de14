package cmd

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/wfs-dev/wfs/gitstate/object"
	"github.com/wfs-dev/wfs/internal/durable"
	"github.com/wfs-dev/wfs/internal/holdout"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
)

// Hold-out tests are kept in the person's state directory, below holdout/<first half of their digest>: not in
// the repository, whose objects anybody who works there can list. Nothing in the repository says where they
// came from.
const (
	holdoutPack = "files.tar.gz"
	holdoutFrom = "from" // JSON: holdoutSource
	holdoutFor  = "for"  // a line for each session: its repository's common git directory, a tab, its id
	holdoutRuns = "runs" // what gates printed, by run
	// holdoutLaid stands beside a clean tree while hold-out tests are in it.
	holdoutLaid = "holdout"

	noHoldout       = "none" // word of --holdout that takes them away
	maxHoldoutRuns  = 20
	maxHoldoutFiles = holdout.MaxBytes + 1<<20
)

// holdoutSource is where hold-out tests were taken from.
type holdoutSource struct {
	Directory string         `json:"directory,omitempty"`
	Ref       string         `json:"ref,omitempty"` // as it was typed
	Commit    session.Commit `json:"commit,omitempty"`
}

func (s holdoutSource) String() string {
	if s.Ref != "" {
		return s.Ref
	}
	return s.Directory
}

// takenHoldout is what --holdout named, read and not kept yet.
type takenHoldout struct {
	pack holdout.Pack
	from holdoutSource
}

// takeHoldout reads the hold-out tests that were typed into o, if there are any.
func (a *app) takeHoldout(ctx context.Context, o *newOptions) error {
	switch o.holdout {
	case "":
		return nil
	case noHoldout:
		o.pinned = nil
		return nil
	}
	t, err := a.readHoldout(ctx, o.holdout)
	if err != nil {
		return usage(`wfs new GOAL --holdout DIR (a directory outside of the repository, laid out as the repository is)`,
			"--holdout %s: %v", o.holdout, err)
	}
	if t.from.Ref != "" && !a.json {
		a.note("%s is in this repository, where the agent can find it in git's objects; a directory outside is safer",
			t.from.Ref)
	}
	o.taken = &t
	o.pinned = &workflows.Holdout{Digest: t.pack.Digest(), Files: len(t.pack)}
	return nil
}

func (a *app) readHoldout(ctx context.Context, typed string) (t takenHoldout, err error) {
	dir := a.env.Abs(typed)
	if info, err := os.Stat(dir); err == nil && info.IsDir() {
		if err := a.outside(ctx, dir); err != nil {
			return t, err
		}
		t.from.Directory = dir
		t.pack, err = holdout.ReadDir(dir)
		return t, err
	}
	c, err := a.Repo.Resolve(ctx, typed)
	if errors.Is(err, object.ErrNoRevision) {
		return t, errors.New("there is no such directory, and no such branch, ref or commit")
	}
	if err != nil {
		return t, err
	}
	t.from.Ref, t.from.Commit = typed, c
	t.pack, err = a.holdoutOf(ctx, c)
	return t, err
}

// holdoutOf is what a commit has beyond its common ancestor with HEAD; of one that has none, all.
func (a *app) holdoutOf(ctx context.Context, c session.Commit) (holdout.Pack, error) {
	tree, err := a.Repo.TreeOf(ctx, c)
	if err != nil {
		return nil, err
	}
	head, err := a.Repo.Head(ctx)
	if err != nil {
		return nil, err
	}
	var without session.Tree
	if head.Commit != "" {
		base, err := a.Repo.MergeBase(ctx, head.Commit, c)
		if err != nil {
			return nil, err
		}
		if base != "" {
			if without, err = a.Repo.TreeOf(ctx, base); err != nil {
				return nil, err
			}
		}
	}
	list, err := a.Repo.FilesOf(ctx, tree, without)
	if err != nil {
		return nil, err
	}
	var files []holdout.File
	for _, f := range list {
		files = append(files, holdout.File(f))
	}
	return holdout.New(files)
}

// outside refuses a directory in which whoever works would find the files.
func (a *app) outside(ctx context.Context, dir string) error {
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return err
	}
	trees, err := a.Repo.Worktrees(ctx)
	if err != nil {
		return err
	}
	tops := []string{a.Repo.Root(), a.Repo.CommonDir()}
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

func (a *app) holdoutDir(digest string) (string, error) {
	state, err := a.env.StateDir()
	if err != nil {
		return "", err
	}
	return filepath.Join(state, "holdout", digest[:min(len(digest), 32)]), nil
}

// keepHoldout keeps the hold-out tests of a session. A copy that is there already is the same.
func (a *app) keepHoldout(id session.ID, o *newOptions) error {
	if o.pinned == nil || o.taken == nil && !o.fork {
		return nil
	}
	dir, err := a.holdoutDir(o.pinned.Digest)
	if err != nil {
		return err
	}
	if o.fork { // the copy is there already, or wfs says later that it is not
		if !isDir(dir) {
			return nil
		}
		return claimHoldout(dir, a.Repo.CommonDir()+"\t"+string(id))
	}
	if err := durable.MkdirAll(dir); err != nil {
		return err
	}
	data, err := o.taken.pack.Encode()
	if err != nil {
		return err
	}
	from, err := json.Marshal(o.taken.from)
	if err != nil {
		return err
	}
	if err := claimHoldout(dir, a.Repo.CommonDir()+"\t"+string(id)); err != nil {
		return err
	}
	for name, text := range map[string][]byte{holdoutPack: data, holdoutFrom: from} {
		if err := durable.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			return err
		}
	}
	return nil
}

// claimHoldout appends an owner to those of a copy: others may do so at the same time. An earlier one may be torn.
func claimHoldout(dir, owner string) error {
	const tries = 10
	for try := 1; ; try++ {
		f, err := durable.OpenAppend(filepath.Join(dir, holdoutFor))
		if err != nil {
			return err
		}
		err = errors.Join(f.Append([]byte("\n"+owner+"\n")), f.Close())
		if !errors.Is(err, durable.ErrReplaced) || try == tries { // somebody else's was appended meanwhile
			return err
		}
	}
}

func (a *app) holdoutOwners(dir string) []string {
	text, _ := os.ReadFile(filepath.Join(dir, holdoutFor))
	return strings.FieldsFunc(string(text), func(r rune) bool { return r == '\n' })
}

// holdoutKept is the copy of the hold-out tests with a digest.
func (a *app) holdoutKept(digest string) (holdout.Pack, error) {
	dir, err := a.holdoutDir(digest)
	if err != nil {
		return nil, err
	}
	data, err := durable.ReadFile(filepath.Join(dir, holdoutPack), maxHoldoutFiles)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errors.New("their copy is not on this machine (wfs edit --holdout DIR takes another)")
	}
	if err != nil {
		return nil, err
	}
	p, err := holdout.Decode(data)
	if err != nil || p.Digest() != digest {
		return nil, errors.New("their copy is damaged")
	}
	return p, nil
}

// Holdout runs gates with hold-out tests put over a clean tree, which is emptied of them again whatever
// happens. What gates print is kept beside the copy of the tests, and not where logs of runs are: whoever works
// can read those.
func (w *works) Holdout(ctx context.Context, r session.JudgeRequest, base bool) (session.HoldoutResult, error) {
	a, digest := w.app, r.Plan.Holdout.Digest
	defer a.leaveRooms()
	cannot := func(err error) (session.HoldoutResult, error) {
		return session.HoldoutResult{Tree: r.Tree, Digest: digest, Verdict: session.Blocked,
			Reason: "the hold-out tests could not run: " + err.Error()}, ctx.Err()
	}
	pack, err := a.holdoutKept(digest)
	if err != nil {
		return cannot(err)
	}
	j := w.judge(r.Plan, r.RunDir, r.Tree, false)
	run := filepath.Base(r.RunDir)
	if !strings.HasPrefix(run, string(r.Session)+"-") { // that of a baseline
		run = string(r.Session) + "-" + run
	}
	dir, err := a.holdoutDir(digest)
	if err != nil {
		return cannot(err)
	}
	if r.RunDir, err = newHoldoutRun(filepath.Join(dir, holdoutRuns), run); err != nil {
		return cannot(err)
	}
	clean := j.Clean
	j.Clean = func(ctx context.Context, tree session.Tree) (session.CleanTree, error) {
		c, err := clean(ctx, tree)
		if err != nil {
			return c, err
		}
		if err := a.markLaid(c.Root); err != nil {
			return c, err
		}
		err = pack.Lay(c.Root)
		durable.Hit(durable.HoldoutLaid)
		return c, err
	}
	res, notes, err := j.Holdout(ctx, r, pack, base)
	if c, e := clean(context.WithoutCancel(ctx), r.Tree); e == nil {
		_ = os.Remove(laidMark(c.Root))
	}
	a.clearLaid()
	if err != nil {
		return res, err
	}
	res.Run = filepath.Base(r.RunDir)
	if len(notes) > 0 {
		if err := durable.WriteCache(filepath.Join(r.RunDir, "notes.txt"), []byte(strings.Join(notes, "\n")+"\n"),
			0o600); err != nil {
			return cannot(err)
		}
	}
	if base { // a person has just typed it
		for _, n := range notes[:min(len(notes), 10)] {
			w.say("hold-out: " + n)
		}
	}
	return res, nil
}

// newHoldoutRun makes an empty directory for what gates print, and removes the oldest of many.
func newHoldoutRun(runs, name string) (string, error) {
	dir := filepath.Join(runs, name)
	if err := os.RemoveAll(dir); err != nil {
		return "", err
	}
	if err := durable.MkdirAll(dir); err != nil {
		return "", err
	}
	entries, err := os.ReadDir(runs)
	if err != nil || len(entries) <= maxHoldoutRuns {
		return dir, err
	}
	written := func(e fs.DirEntry) time.Time {
		info, err := e.Info()
		if err != nil {
			return time.Time{}
		}
		return info.ModTime()
	}
	slices.SortStableFunc(entries, func(x, y fs.DirEntry) int { return written(x).Compare(written(y)) })
	for _, e := range entries[:len(entries)-maxHoldoutRuns] {
		if err := os.RemoveAll(filepath.Join(runs, e.Name())); err != nil {
			return "", err
		}
	}
	return dir, nil
}

func laidMark(room string) string { return filepath.Join(filepath.Dir(room), holdoutLaid) }

func (a *app) markLaid(room string) error { return durable.WriteFile(laidMark(room), nil, 0o600) }

// clearLaid removes clean trees of this repository in which hold-out tests were left, such as by a process that was
// killed.
func (a *app) clearLaid() {
	dir, err := a.roomsDir()
	if err != nil {
		return
	}
	marks, _ := filepath.Glob(filepath.Join(dir, "*", holdoutLaid))
	for _, mark := range marks {
		path := filepath.Dir(mark)
		if _, whose, ok := cleanUsed(path); !ok || whose != a.Repo.CommonDir() {
			continue
		}
		if err := a.removeRoom(path); err != nil && !errors.Is(err, durable.ErrLocked) {
			a.note("a clean checkout with hold-out tests was not removed: %v", err)
		}
	}
}
