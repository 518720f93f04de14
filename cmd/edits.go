package cmd

import (
	"cmp"
	"context"
	"slices"

	"github.com/wfs-dev/wfs/cmd/internal/present"
	"github.com/wfs-dev/wfs/engine/finish"
	"github.com/wfs-dev/wfs/engine/history"
	"github.com/wfs-dev/wfs/gitstate/worktree"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
	"github.com/wfs-dev/wfs/workspace"
)

// editsIn lists the files in this work tree that differ from the current checkpoint of the session. `in` is the work
// tree that has the session checked out. If `in` is another work tree, or if an attempt is open, editsIn returns nil,
// because the edits may then be the agent's.
func editsIn(ctx context.Context, w *workspace.Workspace, s *session.Session, in *worktree.Worktree) (files []string) {
	c := s.At(s.Current)
	if c == nil || s.Status.Final() || s.Open != nil || in == nil || in.Gone || in.ID != w.Repo.Worktree() {
		return nil
	}
	tracked, untracked, err := w.Repo.Edited(ctx, c.Code, w.Clone.Session(s.ID).ExcludeFile())
	if err != nil {
		return nil // only for display: code that needs the edits takes a snapshot
	}
	return slices.DeleteFunc(slices.Concat(tracked, untracked), func(p string) bool { return leftOut(c, p) })
}

// addEdits adds the files that were edited since the current checkpoint. If they include tests that will judge the next
// attempt, it suggests wfs checkpoint before wfs run, so that the attempt is not blamed for the edits.
func (a *statusVerb) addEdits(ctx context.Context, j *present.Session, v *history.View, in *worktree.Worktree) {
	s := &v.Session
	j.Edits = editsIn(ctx, a.Workspace, s, in)
	if s.Frozen == "" || len(j.Next) == 0 || !slices.ContainsFunc(j.Edits, a.Engine.HoldsTests) {
		return
	}
	plan, err := a.PinnedPlan(ctx, *v)
	if err != nil {
		return
	}
	run := a.typedFor("wfs run", s.ID, j.Worktree)
	if ph := plan.Workflow.Phase(s.Phase); j.Next[0] == run && ph != nil && !ph.WritesTests() {
		j.Next[0] = a.typedFor("wfs checkpoint", s.ID, j.Worktree) + " && " + run
	}
}

// addTests adds, to completed work with a checklist, the results of its tests, and calls addChangedTests.
func addTests(ctx context.Context, w *workspace.Workspace, j *present.Session, tip session.Commit) {
	s := j.Of
	addChangedTests(ctx, w, j)
	if s.Status != session.StatusCompleted || !s.Laps || len(s.Items) == 0 {
		return
	}
	ev, err := w.Engine.Evidence(ctx, tip, session.FileEvidence)
	if err != nil {
		return // only for display
	}
	// after a move to an older checkpoint, the newest evidence is of other work
	if slices.ContainsFunc(s.Way(), func(c session.Checkpoint) bool { return c.Tree == ev.Tree }) {
		j.Evidence = ev
	}
}

// addChangedTests adds the test files of the base that completed work changed. For a session that waits for a person,
// it adds those that were changed since the lap's tests were frozen or, if they are not, since the lap began.
func addChangedTests(ctx context.Context, w *workspace.Workspace, j *present.Session) {
	s := j.Of
	c, from := s.At(s.Current), cmp.Or(s.Frozen, s.LapTree)
	waits := s.Status == session.StatusWaiting && s.Waiting.Reason != session.WaitLimit
	if c == nil || !waits && s.Status != session.StatusCompleted {
		return
	}
	if from == "" || s.Phase == workflows.Done {
		var err error
		if from, err = w.Repo.TreeOf(ctx, s.Base); err != nil {
			return // only for display: finish asks again
		}
	}
	changes, err := w.Repo.Changes(ctx, from, c.Tree)
	if err != nil || len(changes) == 0 {
		return
	}
	if lines, err := w.Repo.Lines(ctx, session.TreePair{From: from, To: c.Tree}); err == nil {
		j.AddChangedTests(finish.ChangedTests(changes, lines[0], w.Engine.HoldsTests))
	}
}

// noteEdits warns that a diff which ends at the current checkpoint does not include uncommitted edits.
func (a *diffVerb) noteEdits(ctx context.Context, to session.Commit) {
	id, err := a.Current(ctx)
	if err != nil || id == "" {
		return
	}
	v, err := a.View(ctx, id)
	if err != nil {
		return
	}
	if c := v.Session.At(v.Session.Current); c == nil || c.Code != to {
		return
	}
	if text := present.FilesText(editsIn(ctx, a.Workspace, &v.Session, a.Here()),
		"edited since, not in this diff"); text != "" {
		a.note("%s (git status)", text)
	}
}
