package engine

import (
	"context"
	"errors"
	"fmt"
	"maps"

	"github.com/wfs-dev/wfs/session"
)

// Checkpoint is `wfs checkpoint`: the work tree as it is, onto the session's branch, without a judgement. It returns
// nil when nothing changed since the present checkpoint; Unheld is what could not be looked at, then.
func (h *Hand) Checkpoint(ctx context.Context, text string) (*session.Checkpoint, error) {
	if text == "" {
		text = "found in the work tree"
	}
	return h.save(ctx, session.TriggerManual, text)
}

// Save keeps the edits of a session that is being left.
func (h *Hand) Save(ctx context.Context, text string) (*session.Checkpoint, error) {
	return h.save(ctx, session.TriggerSwitch, text)
}

// Hooked keeps what an agent has made of the files that a person works with. summary holds nothing that the agent said.
func (h *Hand) Hooked(ctx context.Context, summary string) (*session.Checkpoint, error) {
	return h.save(ctx, session.TriggerHook, summary)
}

// save makes a checkpoint outside an attempt, unless nothing changed. Outside an attempt nothing is put onto a session
// whose branch is not what HEAD is on.
func (h *Hand) save(ctx context.Context, trigger session.Trigger, summary string) (*session.Checkpoint, error) {
	head, err := h.e.Store.Head(ctx)
	if err != nil || head.Ref != h.S.Branch() {
		return nil, err
	}
	c, err := h.checkpoint(ctx, session.Checkpointed{Trigger: trigger, Summary: oneLine(summary, 120)}, nil)
	if errors.Is(err, session.ErrUnchanged) {
		return nil, nil
	}
	return c, err
}

// maxJudged bounds how often an attempt is judged because files change all the time.
const maxJudged = 3

// errOtherTree says that a checkpoint would hold something else than what passed its gates.
var errOtherTree = errors.New("files changed after they were judged")

// checkpointJudged makes the open attempt's decision durable. What somebody saved after the gates had looked,
// or committed, is judged first.
func (h *Hand) checkpointJudged(ctx context.Context) (done bool, err error) {
	o, docs := h.S.Open, maps.Clone(h.docs)
	_, err = h.checkpointAttempt(ctx)
	if !errors.Is(err, errOtherTree) {
		return h.conflict(ctx, err)
	}
	h.docs = docs
	snap, err := h.snapshot(ctx)
	if err != nil {
		return false, err
	}
	changed, err := h.e.Store.Changes(ctx, o.Judgement.Tree, snap.Tree)
	if err != nil {
		return false, err
	}
	why := errOtherTree.Error()
	if len(changed) > 0 { // else it was taken back meanwhile
		why += fmt.Sprintf(" (%d, among them %s)", len(changed), changed[0].Path)
	}
	if h.judgedAgain++; h.judgedAgain < maxJudged {
		return false, h.append(session.Reopened{Why: why})
	}
	if err := h.append(session.BlockedBy{Reason: session.BlockGate,
		Evidence: []string{why, "stop the process that writes there, or add the files to .gitignore"},
		Hint:     "wfs run"}); err != nil {
		return true, err
	}
	_, err = h.save(ctx, session.TriggerInterrupted, "could not be judged: files keep changing")
	return true, err
}

// checkpointAttempt makes a checkpoint of the open attempt.
func (h *Hand) checkpointAttempt(ctx context.Context) (*session.Checkpoint, error) {
	o := h.S.Open
	d := *o.Decided
	ev := o.Judgement.Evidence
	if len(ev.Gates) == 0 && d.LapEnded { // no gate ran in a lap's last phase: what was known before it still holds
		var err error
		if ev, err = h.evidence(ctx, session.FileEvidence); err != nil {
			return nil, err
		}
		if h.S.Having(ev.Tree) == nil { // of frozen tests over a tree: nobody has left those files
			if ev, err = h.evidence(ctx, session.FileLap); err != nil {
				return nil, err
			}
		}
	}
	if len(ev.Gates) > 0 {
		if err := h.doc(session.FileEvidence, ev); err != nil {
			return nil, err
		}
	}
	if d.LapEnded {
		if err := h.doc(session.FileLap, ev); err != nil {
			return nil, err
		}
	}
	return h.checkpoint(ctx, session.Checkpointed{Trigger: session.TriggerAttempt, Attempt: o.Attempt,
		Verdict: d.Verdict, Class: d.Class, Summary: summary(&h.S, o, d)}, o)
}

// checkpoint makes a code commit of the work tree on the session's branch, and records it.
func (h *Hand) checkpoint(ctx context.Context, c session.Checkpointed, o *session.Open) (*session.Checkpoint, error) {
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
	d.Stage, d.Exclude = true, h.j.ExcludeFile()
	if d.Anchors, err = h.kept(ctx); err != nil {
		return nil, err
	}
	d.Message = message(c, &h.S, j, next)
	d.LedgerMessage = ledgerMessage(h.ID, fmt.Sprintf("checkpoint %d: %s", c.Number, c.Summary))
	cur := h.S.At(h.S.Current)
	var run *session.RunResult
	if o != nil {
		run = o.Run
	}
	var log func() error
	if logged(c.Trigger) || answers(run) {
		log = func() error {
			_, err := h.e.logOp(ctx, h.opOfCheckpoint(session.Event{At: h.e.Clock.Now(), Body: c}, c, run))
			return err
		}
	}
	if o == nil && c.Trigger != session.TriggerBaseline && len(adopted) == 0 {
		d.Unless = cur.Tree
		for _, c := range h.S.Checkpoints {
			d.Former = append(d.Former, c.Tree)
		}
	}
	made, err := h.turn(ctx, d, func(m session.Made) (session.Body, error) {
		if d.Unless != "" && m.Tree == d.Unless {
			return nil, session.ErrUnchanged
		}
		if j != nil && c.Verdict == session.Pass && m.Tree != j.Tree {
			return nil, errOtherTree
		}
		if err := h.keepFound(m.Staged); err != nil {
			return nil, err
		}
		c.Code, c.Tree, c.Turn = m.Code, m.Tree, m.Turn
		if log != nil {
			c.Turn.IndexOld = m.IndexOld
		}
		c.Skipped, c.HeldOut, c.Deleted = m.Skipped, named(m.HeldOut), m.Deleted
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

// logged reports whether a checkpoint is an operation of a person's, and not part of a run.
func logged(t session.Trigger) bool {
	return t == session.TriggerManual || t == session.TriggerSwitch
}

// answers reports whether a checkpoint is a person's answer, given how the attempt ended that it is of, nil for none.
func answers(run *session.RunResult) bool { return run != nil && (run.Approved || run.Rejected) }

// opOfCheckpoint is the operation that a checkpoint is logged as. Its files stay as they are, whatever becomes of it.
func (h *Hand) opOfCheckpoint(ev session.Event, c session.Checkpointed, run *session.RunResult) session.Op {
	t := c.Turn
	t.Tree, t.TreeOld, t.Index = c.Tree, c.Tree, c.Tree
	if run == nil {
		return h.op(ev, OpCheckpoint, fmt.Sprintf("checkpoint %d of %s: %s", c.Number, h.ID, c.Summary), 0, t)
	}
	kind := OpApprove
	if run.Rejected {
		kind = OpReject
	}
	return h.op(ev, kind, said(fmt.Sprintf("%s %s of %s", kind, c.Phase, h.ID), run.Note), 0, t)
}

// onto says where the next code commit goes. The session's branch may have moved since the last checkpoint: a
// person or an agent committed (the tip descends, and becomes the parent), or rewrote history (the checkpoint
// becomes a merge of both, so that neither is lost and the branch only moves forward). HEAD may have been taken
// to another branch by an agent: that branch stays, its tip is adopted if it descends, and HEAD is put back. If
// it does not descend the files are another line's, and would read as everything of the session deleted: that
// is a conflict for a person.
func (h *Hand) onto(ctx context.Context) (d session.Draft, adopted []session.Commit, err error) {
	st, branch := h.e.Store, h.S.Branch()
	if err := h.notInProgress(ctx); err != nil {
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
		d.Turn.HeadOld, d.Turn.HeadNew, d.Turn.HeadOldCommit = nameOf(head), branch, head.Commit
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
				Message: fmt.Sprintf("HEAD was moved to %s, which does not contain the session's work; the files were left as they are", short(nameOf(head)))}
		}
		d.Parents, adopted = []session.Commit{head.Commit}, append(adopted, head.Commit)
	}
	return d, adopted, nil
}

func (h *Hand) adopt(ctx context.Context, last, tip session.Commit) (parents, adopted []session.Commit, err error) {
	ahead, err := h.e.Store.IsAncestor(ctx, last, tip)
	if err != nil {
		return nil, nil, err
	}
	if ahead {
		return []session.Commit{tip}, []session.Commit{tip}, nil
	}
	return []session.Commit{last, tip}, []session.Commit{tip}, nil
}

// nameOf is how a turn names where HEAD is: a ref, or a commit when it is detached.
func nameOf(h session.Head) string {
	if h.Ref != "" {
		return h.Ref
	}
	return string(h.Commit)
}

func short(ref string) string {
	const heads = "refs/heads/"
	if len(ref) > len(heads) && ref[:len(heads)] == heads {
		return ref[len(heads):]
	}
	return ref
}
