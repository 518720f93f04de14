// Package checkpoint commits the work tree to the session's branch, and checks whether it may.
package checkpoint

import (
	"context"
	"errors"
	"fmt"

	"github.com/wfs-dev/wfs/engine/hand"
	"github.com/wfs-dev/wfs/internal/safetext"
	"github.com/wfs-dev/wfs/session"
)

// Git is the part of the repository that checkpoints need.
type Git interface {
	// Worktree returns the id of the current work tree.
	Worktree() string
	Head(ctx context.Context) (session.Head, error)
	Ref(ctx context.Context, name string) (session.Commit, error)
	IsAncestor(ctx context.Context, a, b session.Commit) (bool, error)
	// ElsewhereOn returns the path of another work tree in which a branch is checked out, "" for none.
	ElsewhereOn(ctx context.Context, branch string) (string, error)
	// InProgress returns the name of an unfinished merge, rebase, cherry-pick, revert or bisect, "" for none.
	InProgress(ctx context.Context) (string, error)
	// Unreachable returns the commits of a list that exist but that no ref reaches.
	Unreachable(ctx context.Context, commits []session.Commit) ([]session.Commit, error)
}

// Checkpoints makes the checkpoints of a session that is open for writing.
type Checkpoints struct {
	*hand.Hand
	Unheld session.Staged // paths that the last checkpoint left out, if it was not made because nothing had changed
	base   *hand.Base
	git    Git
}

// Of returns the Checkpoints of a session that is open for writing.
func Of(h *hand.Hand, base *hand.Base, git Git) *Checkpoints {
	return &Checkpoints{Hand: h, base: base, git: git}
}

// Checkpoint is `wfs checkpoint`: it commits the current work tree to the session's branch without judging it. It
// returns nil if nothing changed since the current checkpoint; Unheld then has the paths that were left out.
func (h *Checkpoints) Checkpoint(ctx context.Context, text string) (*session.Checkpoint, error) {
	if text == "" {
		text = "found in the work tree"
	}
	return h.Keep(ctx, session.TriggerManual, text)
}

// Save makes a checkpoint of the edits before the user leaves the session.
func (h *Checkpoints) Save(ctx context.Context, text string) (*session.Checkpoint, error) {
	return h.Keep(ctx, session.TriggerSwitch, text)
}

// Hooked makes a checkpoint for `wfs hook`, after an agent that a person has started has edited files. `summary`
// contains no text of the agent.
func (h *Checkpoints) Hooked(ctx context.Context, summary string) (*session.Checkpoint, error) {
	return h.Keep(ctx, session.TriggerHook, summary)
}

// Keep makes a checkpoint outside an attempt. It returns nil if nothing changed, or if HEAD is not on the session's
// branch.
func (h *Checkpoints) Keep(ctx context.Context, trigger session.Trigger, summary string) (*session.Checkpoint, error) {
	head, err := h.git.Head(ctx)
	if err != nil || head.Ref != h.S.Branch() {
		return nil, err
	}
	c, err := h.Make(ctx, session.Checkpointed{Trigger: trigger, Summary: safetext.OneLine(summary, 120)}, nil)
	if errors.Is(err, session.ErrUnchanged) {
		return nil, nil
	}
	return c, err
}

// ErrOtherTree means that a checkpoint would contain another tree than the one that passed its gates.
var ErrOtherTree = errors.New("files changed after they were judged")

// Make commits the work tree to the session's branch and records the checkpoint. `o` is the attempt that the checkpoint
// concludes, nil for none. Make returns ErrOtherTree if the attempt passed with other files, and for a checkpoint
// without an attempt session.ErrUnchanged if nothing has changed.
func (h *Checkpoints) Make(ctx context.Context, c session.Checkpointed, o *session.Open) (*session.Checkpoint, error) {
	d, adopted, err := h.onto(ctx)
	if err != nil {
		return nil, err
	}
	c.Number, c.Phase, c.Lap, c.Adopted = h.S.NextNumber(), h.S.Phase, h.S.Lap, adopted
	next := h.S.Phase
	var j *session.Judgement
	if o != nil {
		j, next = o.Judgement, o.Decided.Next
	}
	d.Stage, d.Exclude = true, h.Files.ExcludeFile()
	if d.Anchors, err = h.loose(ctx); err != nil {
		return nil, err
	}
	d.Message = Message(c, &h.S, j, next)
	d.LedgerMessage = hand.LedgerMessage(h.ID, fmt.Sprintf("checkpoint %d: %s", c.Number, c.Summary))
	cur := h.S.At(h.S.Current)
	var run *session.RunResult
	if o != nil {
		run = o.Run
	}
	var log func() error
	if hand.Logged(c.Trigger) || Answers(run) {
		log = func() error {
			_, err := h.base.LogOp(ctx, OpOf(h.Hand, session.Event{At: h.base.Clock.Now(), Body: c}, c, run))
			return err
		}
	}
	if o == nil && c.Trigger != session.TriggerBaseline && len(adopted) == 0 {
		d.Unless = cur.Tree
		for _, c := range h.S.Checkpoints {
			d.Former = append(d.Former, c.Tree)
		}
	}
	made, err := h.Turn(ctx, d, func(m session.Made) (session.Body, error) {
		if d.Unless != "" && m.Tree == d.Unless {
			return nil, session.ErrUnchanged
		}
		if j != nil && c.Verdict == session.Pass && m.Tree != j.Tree {
			return nil, ErrOtherTree
		}
		if err := h.KeepFound(m.Staged); err != nil {
			return nil, err
		}
		c.Code, c.Tree, c.Turn = m.Code, m.Tree, m.Turn
		if log != nil {
			c.Turn.IndexOld = m.IndexOld
		}
		c.Skipped, c.HeldOut, c.Deleted = m.Skipped, Named(m.HeldOut), m.Deleted
		return c, nil
	}, log)
	if errors.Is(err, session.ErrUnchanged) {
		h.Unheld = made.Staged
	}
	if err != nil {
		return nil, err
	}
	return h.S.At(h.S.Current), nil
}

// Answers reports whether an attempt with the result `run` is a person's answer. `run` is nil for a checkpoint without
// an attempt.
func Answers(run *session.RunResult) bool { return run != nil && (run.Approved || run.Rejected) }

// OpOf returns the operation to log for a checkpoint. Neither the operation nor its undo changes files.
func OpOf(h *hand.Hand, ev session.Event, c session.Checkpointed, run *session.RunResult) session.Op {
	t := c.Turn
	t.Tree, t.TreeOld, t.Index = c.Tree, c.Tree, c.Tree
	if run == nil {
		return h.Op(ev, hand.OpCheckpoint, fmt.Sprintf("checkpoint %d of %s: %s", c.Number, h.ID, c.Summary), 0, t)
	}
	kind := hand.OpApprove
	if run.Rejected {
		kind = hand.OpReject
	}
	return h.Op(ev, kind, safetext.WithReason(fmt.Sprintf("%s %s of %s", kind, c.Phase, h.ID), run.Note), 0, t)
}

// onto determines the parents of the next code commit. The session's branch may have moved since the last checkpoint.
// If a person or an agent committed, the branch's tip descends from the checkpoint and becomes the parent. If history
// was rewritten, the new commit merges the tip and the checkpoint, so that neither is lost and the branch only moves
// forward.
//
// An agent may have moved HEAD to another branch. The other branch is not moved, and HEAD returns to the session's
// branch. If the tip of the other branch descends from the session's work, it becomes the parent. Otherwise its files
// belong to other work, and a commit of them would seem to delete all of the session's work. So onto then refuses, and
// a person decides.
func (h *Checkpoints) onto(ctx context.Context) (d session.Draft, adopted []session.Commit, err error) {
	st, branch := h.git, h.S.Branch()
	if err := h.NotInProgress(ctx); err != nil {
		return d, nil, err
	}
	head, err := st.Head(ctx)
	if err != nil {
		return d, nil, err
	}
	tip, err := st.Ref(ctx, branch)
	if err != nil {
		return d, nil, err
	}
	if tip == "" {
		return d, nil, BranchGone(&h.S)
	}
	last := h.S.At(h.S.Current).Code
	d.Branch, d.Parents = branch, []session.Commit{tip}
	d.Turn.Worktree = st.Worktree()
	d.Turn.Refs = []session.RefMove{{Ref: branch, Old: tip}}
	if head.Ref != branch {
		d.Turn.HeadOld, d.Turn.HeadNew, d.Turn.HeadOldCommit = head.Name(), branch, head.Commit
	}
	if tip != last {
		if d.Parents, adopted, err = h.adopt(ctx, last, tip); err != nil {
			return d, nil, err
		}
	}
	if head.Ref != branch && head.Commit != "" && head.Commit != d.Parents[0] {
		if ahead, err := st.IsAncestor(ctx, d.Parents[0], head.Commit); err != nil {
			return d, nil, err
		} else if !ahead {
			return d, nil, &session.Refusal{Code: session.RefuseConflict, Hint: "wfs resume " + string(h.ID),
				Message: fmt.Sprintf("HEAD was moved to %s, which does not contain the session's work; the files were left as they are", safetext.ShortRef(head.Name()))}
		}
		d.Parents, adopted = []session.Commit{head.Commit}, append(adopted, head.Commit)
	}
	return d, adopted, nil
}

func (h *Checkpoints) adopt(ctx context.Context, last, tip session.Commit) (parents, adopted []session.Commit,
	err error) {
	ahead, err := h.git.IsAncestor(ctx, last, tip)
	if err != nil {
		return nil, nil, err
	}
	if ahead {
		return []session.Commit{tip}, []session.Commit{tip}, nil
	}
	return []session.Commit{last, tip}, []session.Commit{tip}, nil
}

// Named returns the beginning of a list: as many elements as an event may contain.
func Named(held []session.Held) []session.Held { return held[:min(len(held), session.MaxNamed)] }

// MayDrive refuses a session that is over, one whose branch is not checked out here or also checked out in another work
// tree, and a work tree in the middle of a merge, rebase or similar.
func (h *Checkpoints) MayDrive(ctx context.Context) error {
	if h.S.Status.Final() {
		hint := "wfs show " + string(h.ID)
		if h.S.Status == session.StatusAbandoned {
			hint = "wfs resume " + string(h.ID)
		}
		return session.Refuse(session.RefuseFinal, hint, "%s is %s", h.ID, h.S.Status)
	}
	head, err := h.git.Head(ctx)
	if err != nil {
		return err
	}
	if head.Ref != h.S.Branch() {
		return session.Refuse(session.RefuseNotCurrent, WayTo(head, h.ID),
			"%s is not checked out in this work tree: HEAD is on %s", h.ID, safetext.ShortRef(head.Name()))
	}
	other, err := h.git.ElsewhereOn(ctx, h.S.Branch())
	if err != nil {
		return err
	}
	if other != "" {
		return session.Refuse(session.RefuseWorktree, "git worktree list",
			"%s is also checked out in %s: two work trees on one branch undo each other's work",
			safetext.ShortRef(h.S.Branch()), other)
	}
	return h.NotInProgress(ctx)
}

// NotInProgress refuses a work tree in the middle of a merge, rebase or similar.
func (h *Checkpoints) NotInProgress(ctx context.Context) error {
	op, err := h.git.InProgress(ctx)
	if err == nil && op != "" {
		err = Unfinished(op)
	}
	return err
}

// loose returns the former commits of refs that were moved during a run, if no ref reaches these commits now. The next
// checkpoint keeps them reachable.
func (h *Checkpoints) loose(ctx context.Context) ([]session.Commit, error) {
	if len(h.S.Keep) == 0 {
		return nil, nil
	}
	return h.git.Unreachable(ctx, h.S.Keep)
}

// Abandon ends work on the session. If the session is current here, edits in the work tree become a checkpoint first.
// It removes nothing. It returns the checkpoint, nil for none, and the operation's number.
func (h *Checkpoints) Abandon(ctx context.Context, reason string) (*session.Checkpoint, int64, error) {
	switch h.S.Status {
	case session.StatusFinished:
		return nil, 0, &session.Refusal{Code: session.RefuseFinal,
			Message: fmt.Sprintf("%s is finished: there is nothing to abandon", h.ID), Hint: "wfs delete " + string(h.ID)}
	case session.StatusAbandoned:
		return nil, 0, nil
	}
	kept, err := h.Keep(ctx, session.TriggerSwitch, "edits saved when the session was abandoned")
	if err != nil {
		return nil, 0, err
	}
	n, err := h.RecordOp(ctx, func(t session.Turn) session.Body {
		return session.Abandoned{Reason: safetext.OneLine(reason, 300), Summary: "abandon " + string(h.ID), Turn: t}
	})
	return kept, n, err
}

// WayTo returns the command that makes a session current when HEAD is `head`. For a detached HEAD it is a git command,
// because wfs does not leave a detached HEAD.
func WayTo(head session.Head, id session.ID) string {
	if head.Ref == "" {
		return "git switch " + safetext.ShortRef(session.BranchOf(id))
	}
	return "wfs resume " + string(id)
}

// Unfinished returns the refusal to drive a session while the git operation `op`, such as a merge, is unfinished.
func Unfinished(op string) error {
	hint := fmt.Sprintf("git %s --continue (or --abort), then wfs run", op)
	if op == "bisect" {
		hint = "git bisect reset, then wfs run"
	}
	return session.Refuse(session.RefuseConflict, hint, "a %s is in progress in this work tree", op)
}

// BranchGone returns the refusal to continue because the session's branch does not exist. wfs does not create it again
// by itself, because it may have been deleted on purpose.
func BranchGone(s *session.Session) *session.Refusal {
	return &session.Refusal{Code: session.RefuseBranch,
		Message: fmt.Sprintf("the session's branch %s is gone; its checkpoints are not", safetext.ShortRef(s.Branch())),
		Hint:    fmt.Sprintf("git branch %s %s", safetext.ShortRef(s.Branch()), s.At(s.Current).Code)}
}
