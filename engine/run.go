package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
)

// RunOptions are the user's wishes for one `wfs run`.
type RunOptions struct {
	MaxAttempts  int
	Note         string
	ResetBreaker bool
	Agree        bool // yes to the pending question whether nothing is left
	Auto         bool // agree by itself from now on
	NoWait       bool // return instead of waiting for a limit
	Now          bool // wait no longer for the one that is waited for
	// IgnoreSurvivors lets it go on although processes of a run are alive after it, such as build daemons.
	IgnoreSurvivors bool
}

// Run drives the session until it has to stop, and leaves the reason in the session's status. Cancelling ctx stops the
// agent, and checkpoints what is there as interrupted, or stops a gate, and leaves the attempt to be judged by the next
// run; it returns nil: the status says so.
func (h *Hand) Run(ctx context.Context, o RunOptions) (err error) {
	defer func() {
		h.endSaving()
		err = errors.Join(err, h.e.Store.EndAutoSaves(), h.forgetStops(), h.leaveConversions(context.WithoutCancel(ctx)))
	}()
	work := context.WithoutCancel(ctx) // what records an interruption must not be interrupted by it
	goOn, err := h.take(work, o)
	if err != nil || !goOn {
		return err
	}
	if err := h.ensureBaseline(ctx); err != nil {
		return err
	}
	converts, err := h.e.Store.Conversions(work)
	if err != nil {
		return err
	}
	h.converts = &converts
	var kept session.Tree
	found := 0
	for started := 0; ; {
		if err := h.Hear(); err != nil {
			return err
		}
		f := Facts{Now: h.e.Clock.Now(), RunID: h.e.NewRunID(h.ID, h.S.Runs+1), Started: started,
			MaxAttempts: o.MaxAttempts, Auto: o.Auto, Ignore: o.IgnoreSurvivors, Stop: h.stop, Woken: h.woken}
		if ctx.Err() != nil {
			f.Cut = h.cut()
		}
		if h.S.Open == nil {
			if ctx.Err() != nil && h.S.Status == session.StatusWaiting && h.stop == "" {
				return nil // nothing runs that could be interrupted: it waits on
			}
			if ctx.Err() != nil && h.S.Status != session.StatusWaiting {
				return h.interrupt(work)
			}
			if w := h.S.Waiting; h.S.Status != session.StatusWaiting || w.Reason == session.WaitLimit &&
				(f.Woken || waited(w, f.Now)) {
				if err := h.lookElsewhere(work, &f); err != nil {
					return err
				}
			}
		}
		open := h.S.Open
		d := Decide(&h.S, h.Plan, f)
		a := attemptIn(d)
		if a != nil { // it is about the files as they are
			snap, err := h.snapshot(work)
			if err != nil {
				return err
			}
			f.Tree, f.Locks = snap.Tree, h.lockNames()
			d = Decide(&h.S, h.Plan, f)
		}
		foreign, err := h.unadopted(work, a)
		if err != nil {
			return err
		}
		if a != nil && a.Runner != runnerPerson && (f.Tree != h.S.At(h.S.Current).Tree && f.Tree != kept || foreign) &&
			found < maxFound {
			// Somebody edited files or committed since the last checkpoint. The runner may overwrite that: it is kept first.
			found++
			kept = f.Tree
			changes, err := h.e.Store.Changes(work, h.S.At(h.S.Current).Tree, f.Tree)
			if err != nil {
				return err
			}
			trigger, text := session.TriggerFound, foundText(foreign, changes)
			if f.Tree == h.S.Visit.Recovered {
				trigger, text = session.TriggerInterrupted, "unjudged, from an interrupted attempt"
			}
			if _, err := h.save(work, trigger, text); err != nil {
				_, err := h.conflict(work, err)
				return err
			}
			continue
		}
		if err := h.append(d.Events...); err != nil {
			return err
		}
		if open == nil && h.S.Open != nil {
			started++
			found, h.judgedAgain, h.woken = 0, 0, false
			h.e.hit("run/started")
		}
		if open != nil && h.S.Status == session.StatusWaiting {
			started-- // it does not count
		}
		done, err := h.perform(ctx, work, d, o)
		if err != nil || done {
			return err
		}
	}
}

// maxFound bounds how often edits are kept before one attempt: something may be writing all the time, this
// command's own output for one.
const maxFound = 3

// attemptIn is the attempt that a decision begins, nil for none.
func attemptIn(d Decision) *session.AttemptStarted {
	for _, b := range d.Events {
		if a, ok := b.(session.AttemptStarted); ok {
			return &a
		}
	}
	return nil
}

// perform carries out a decision's effect. done means that the run is over.
func (h *Hand) perform(ctx, work context.Context, d Decision, o RunOptions) (done bool, err error) {
	ended := h.ended
	h.ended = nil
	switch d.Effect {
	case EffectRun:
		return h.runOpen(ctx, work)
	case EffectJudge:
		return h.judgeOpen(ctx, work, ended)
	case EffectCheckpoint:
		h.e.hit("run/decided")
		return h.checkpointJudged(work)
	case EffectSave:
		_, err := h.save(work, session.TriggerInterrupted, "unjudged, from an attempt")
		return true, err
	case EffectKeep:
		_, err := h.save(work, session.TriggerInterrupted, "unjudged, from an attempt that had to wait")
		return h.conflict(work, err)
	case EffectSleep:
		if o.NoWait {
			return true, nil
		}
		return false, h.wait(ctx)
	case EffectBlock:
		return true, h.block(work, d.Block)
	case EffectStop:
		return true, nil
	}
	return false, nil
}

// take checks that the session may be driven here and now, records the user's wishes, and says whether to go on.
func (h *Hand) take(ctx context.Context, o RunOptions) (bool, error) {
	if err := h.mayDrive(ctx); err != nil {
		return false, err
	}
	if o.Agree {
		if h.S.Waiting == nil || !h.S.Waiting.Agree {
			return false, session.Refuse(session.RefuseUsage, "wfs status",
				"there is nothing to approve: no attempt reported that nothing is left")
		}
		if err := h.append(session.Agreed{By: "person"}); err != nil {
			return false, err
		}
	}
	if err := errors.Join(h.Hear(), h.askAgain()); err != nil {
		return false, err
	}
	switch w := h.S.Waiting; {
	case o.Note == "":
	// whoever says what to do next says no
	case h.S.Status == session.StatusWaiting && h.S.Phase == workflows.Done && w.Agree:
		if err := h.workOn(ctx, o.Note); err != nil {
			return false, err
		}
	default:
		if err := h.append(session.Noted{Text: o.Note}); err != nil {
			return false, err
		}
	}
	anew, err := h.toldAnew(ctx)
	if err != nil {
		return false, err
	}
	if o.ResetBreaker || anew {
		if err := h.append(session.BreakerReset{}); err != nil {
			return false, err
		}
	}
	switch s := &h.S; {
	case s.Status == session.StatusCompleted && s.AsksMore():
		if err := h.lead(ctx, h.backToWork("")); err != nil {
			return false, err
		}
	case s.Status == session.StatusCompleted:
		if edited, err := h.edited(ctx); err != nil || !edited {
			return false, err
		}
	case s.Status == session.StatusBlocked && s.Blocked.Reason == session.BlockBreaker,
		s.Status == session.StatusWaiting && s.Waiting.Reason == session.WaitHuman && o.Note == "":
		return false, nil
	}
	alive := h.alive()
	var ended []int
	if len(alive) > 0 && !o.IgnoreSurvivors {
		if alive, ended = h.endOwn(ctx, alive); len(alive) > 0 {
			return false, h.block(ctx, survivors(alive))
		}
	}
	if b := h.S.Blocked; h.S.Status == session.StatusBlocked && b.Reason == session.BlockSurvivors {
		// What they left is kept before somebody else goes over it.
		if _, err := h.save(ctx, session.TriggerInterrupted, "interrupted; found in the work tree"); err != nil {
			return false, err
		}
	}
	if err := h.frozenEdited(ctx); err != nil {
		return false, err
	}
	return true, h.append(session.Driving{MaxAttempts: o.MaxAttempts, Version: h.e.Version, Ignored: known(alive),
		Ended: ended, Now: o.Now})
}

// frozenEdited refuses to begin an attempt that would answer for somebody's edits since the last checkpoint of
// tests that its work is judged by. Whose they are nobody knows: the person who made them says so with a
// checkpoint.
func (h *Hand) frozenEdited(ctx context.Context) error {
	s, ph := &h.S, h.Plan.Workflow.Phase(h.S.Phase)
	if s.Frozen == "" || ph == nil || ph.WritesTests() || s.Open != nil {
		return nil
	}
	snap, err := h.snapshot(ctx)
	if err != nil || snap.Tree == s.Visit.Recovered {
		return err
	}
	changes, err := h.e.Store.Changes(ctx, s.At(s.Current).Tree, snap.Tree)
	if err != nil || len(changes) == 0 {
		return err
	}
	since, err := h.e.Store.Changes(ctx, s.Frozen, snap.Tree) // what was put back as it was is no edit of them
	if err != nil {
		return err
	}
	for _, c := range changes {
		edited := func(f session.Change) bool { return f.Path == c.Path && f.Status != "A" }
		if h.e.HoldsTests(c.Path) && slices.ContainsFunc(since, edited) {
			return session.Refuse(session.RefuseDirty,
				fmt.Sprintf("wfs checkpoint %s && wfs run %s, or wfs resume %s@%d", h.ID, h.ID, h.ID, s.Current),
				"%s was edited, a test that judges %s: keep the edit with a checkpoint, or undo it", c.Path, s.Phase)
		}
	}
	return nil
}

// toldAnew reports whether a person has said something, let a file in, or edited files, the goal or the spec,
// since attempts stopped getting anywhere: the next one knows more than those before.
func (h *Hand) toldAnew(ctx context.Context) (bool, error) {
	b := h.S.Blocked
	if h.S.Status != session.StatusBlocked || b.Reason != session.BlockBreaker &&
		(b.Reason != session.BlockTamper || h.S.Visit.Tampered == 0) {
		return false, nil
	}
	judged := h.S.Judged()
	if told := len(h.S.Notes) > 0 || h.S.Reworded; told || judged == nil {
		return told, nil
	}
	if before := h.S.JudgedBefore(judged.Number); b.Answered && (before == nil || before.Tree != judged.Tree) {
		return true, nil // by a person who had edited files
	}
	if judged.Class == session.ClassKey {
		keys, err := h.e.Store.Keys(ctx, h.S.Visit.Tree, judged.Tree) // that were committed
		g := session.Guard{Allowed: h.S.Allowed}
		if err != nil || slices.ContainsFunc(append(keys, judged.Skipped...),
			func(s session.Skip) bool { return s.Rule != "" && g.Allows(s.Path) }) {
			return err == nil, err
		}
	}
	snap, err := h.snapshot(ctx)
	return snap.Tree != judged.Tree, err
}

// edited reports whether the work tree is something else than what was judged green last.
func (h *Hand) edited(ctx context.Context) (bool, error) {
	c := h.S.At(h.S.Current)
	if !c.Green {
		return true, nil
	}
	snap, err := h.snapshot(ctx)
	return snap.Tree != c.Tree, err
}

// mayDrive refuses what must not be driven: a session that is over, or one whose branch is not what HEAD is on here.
func (h *Hand) mayDrive(ctx context.Context) error {
	if h.S.Status.Final() {
		hint := "wfs show " + string(h.ID)
		if h.S.Status == session.StatusAbandoned {
			hint = "wfs resume " + string(h.ID)
		}
		return session.Refuse(session.RefuseFinal, hint, "%s is %s", h.ID, h.S.Status)
	}
	head, err := h.e.Store.Head(ctx)
	if err != nil {
		return err
	}
	if head.Ref != h.S.Branch() {
		return session.Refuse(session.RefuseNotCurrent, WayTo(head, h.ID),
			"%s is not checked out in this work tree: HEAD is on %s", h.ID, short(nameOf(head)))
	}
	other, err := h.e.Store.ElsewhereOn(ctx, h.S.Branch())
	if err != nil {
		return err
	}
	if other != "" {
		return session.Refuse(session.RefuseWorktree, "git worktree list",
			"%s is also checked out in %s: two work trees on one branch undo each other's work", short(h.S.Branch()), other)
	}
	return h.notInProgress(ctx)
}

// WayTo is the command that makes a session current where HEAD is. Nothing but git leaves a HEAD that is on no branch.
func WayTo(head session.Head, id session.ID) string {
	if head.Ref == "" {
		return "git switch " + short(session.BranchOf(id))
	}
	return "wfs resume " + string(id)
}

// notInProgress refuses a work tree in the middle of a merge, rebase or the like.
func (h *Hand) notInProgress(ctx context.Context) error {
	op, err := h.e.Store.InProgress(ctx)
	if err == nil && op != "" {
		err = Unfinished(op)
	}
	return err
}

// Unfinished refuses to drive in a work tree in the middle of an operation of git's.
func Unfinished(op string) error {
	hint := fmt.Sprintf("git %s --continue (or --abort), then wfs run", op)
	if op == "bisect" {
		hint = "git bisect reset, then wfs run"
	}
	return session.Refuse(session.RefuseConflict, hint, "a %s is in progress in this work tree", op)
}

// runOpen carries out the open attempt and records how its run ended and what it left.
func (h *Hand) runOpen(ctx, work context.Context) (done bool, err error) {
	o := h.S.Open
	dir, err := h.j.RunDir(o.RunID)
	if err != nil {
		return false, err
	}
	ph := h.Plan.Workflow.Phase(o.Phase)
	before, err := h.e.Store.Surroundings(work, h.ID)
	if err != nil {
		return false, err
	}
	locked := h.e.Store.Locks()
	if err := h.beginSaving(nil); err != nil {
		return false, err
	}
	ph = by(ph, o.Agent)
	req := session.RunRequest{Session: h.S, Phase: *ph, Started: o.AttemptStarted, RunDir: dir, Plan: *h.Plan,
		Notes: h.S.Notes[:o.Told], Meanwhile: h.S.Meanwhile[:o.AttemptStarted.Meanwhile],
		Conversation: Conversation(&h.S, h.Plan, o.AttemptStarted)}
	if req.Spec, err = h.spec(work); err != nil {
		return false, err
	}
	if req.Baseline, err = h.evidence(work, session.FileBaseline); err != nil {
		return false, err
	}
	req.Known = h.known()
	h.leave(&req)
	req.Lines, req.Back = h.linesOfLap(work), h.putBack(work)
	res, err := h.e.Works.Run(ctx, req)
	if res.CostUSD == 0 {
		res.EstimatedUSD = h.S.Estimate(res.Agent, res.Model, res.Tokens).USD()
	}
	h.endSaving()
	if tampered, e := h.lookAround(work, before, locked, res.Usage()); e != nil || tampered {
		return true, errors.Join(err, e)
	}
	if err != nil {
		if e := h.left(h.e.Works.Left(h.ID, o.RunID)); e != nil {
			return false, errors.Join(err, e)
		}
		if e := h.append(session.Voided{Why: oneLine(err.Error(), 300)}); e != nil {
			return false, errors.Join(err, e)
		}
		return false, err
	}
	if err := h.notInProgress(work); err != nil { // there may be no tree to speak of
		if e := h.found(res.Usage()); e != nil {
			return false, errors.Join(err, e)
		}
		return h.conflict(work, err)
	}
	snap, err := h.snapshot(work)
	if err != nil {
		return false, errors.Join(err, h.found(res.Usage()))
	}
	if err := h.append(session.RunEnded{RunResult: res, Tree: snap.Tree}); err != nil {
		return false, err
	}
	h.e.hit("run/ended")
	h.ended = &snap
	return false, h.beginSaving(&snap)
}

// linesOfLap counts what the newest attempts of this lap changed. It is for the brief only: what git cannot
// compare is left out.
func (h *Hand) linesOfLap(ctx context.Context) map[int][]session.FileLines {
	lines := map[int][]session.FileLines{}
	for c := range h.S.Back() {
		if c.Lap != h.S.Lap || len(lines) == session.MaxTold {
			break
		}
		if c.Number == 0 || c.Attempt == 0 || c.Verdict == "" || h.S.At(c.On) == nil { // 0: another session's, in a fork
			continue
		}
		if files, err := h.e.Store.Lines(ctx, h.S.At(c.On).Tree, c.Tree); err == nil {
			lines[c.Number] = files
		}
	}
	return lines
}

// judgeOpen snapshots the work tree, unless that was just done, and lets guards and gates judge that tree.
func (h *Hand) judgeOpen(ctx, work context.Context, ended *session.Snapshot) (done bool, err error) {
	o := h.S.Open
	if ended == nil {
		snap, err := h.snapshot(work)
		if err != nil {
			return false, err
		}
		ended = &snap
	}
	req, err := h.judgeRequest(work, o, *ended)
	if err != nil {
		return false, err
	}
	locked := h.e.Store.Locks()
	j, err := h.verdict(ctx, req, o)
	if err == nil {
		h.countLines(work, o, &j)
	}
	for _, further := range []func(context.Context, session.JudgeRequest, session.Judgement) (session.Judgement, error){
		h.judgeRest, h.prove, h.holdOut,
	} {
		if err == nil && ctx.Err() == nil {
			j, err = further(ctx, req, j)
		}
	}
	if locks, e := h.strandedLocks(work, locked); e != nil {
		return true, errors.Join(err, e)
	} else if len(locks) > 0 {
		if e := h.append(session.Strayed{Locks: locks}); e != nil {
			return true, errors.Join(err, e)
		}
	}
	switch {
	case ctx.Err() != nil:
		return true, h.leaveUnjudged(work)
	case err != nil: // could not find out: neither red nor green, and not the agent's fault
		if err := h.append(blocked(session.BlockGate, "wfs run", oneLine(err.Error(), 300))); err != nil {
			return true, err
		}
		_, err := h.save(work, session.TriggerInterrupted, "could not be judged")
		return true, err
	}
	if j.Class == session.ClassGateChangedTree { // somebody may have edited it: what is there now is judged
		if h.judgedAgain++; h.judgedAgain < maxJudged {
			return false, h.append(session.Reopened{Why: oneLine(j.Reason, 300)})
		}
		j.Reason = fmt.Sprintf("%s; %d times. If the gate creates such files: add them to .gitignore, or set may-change-tree for it", j.Reason, maxJudged)
	}
	if err := h.append(session.Judged{Judgement: j}); err != nil {
		return false, err
	}
	h.e.hit("run/judged")
	return false, nil
}

// verdict asks the gates, unless a person has said no already. A person's yes counts when no gate says no.
func (h *Hand) verdict(ctx context.Context, req session.JudgeRequest, o *session.Open) (session.Judgement, error) {
	if o.Run.Rejected {
		return session.Judgement{Tree: req.Tree, Verdict: session.Fail, Class: session.ClassRejected,
			Reason: said("rejected", o.Run.Note)}, nil
	}
	j, err := h.e.Works.Judge(ctx, req)
	if err != nil {
		return j, err
	}
	asks(h.Plan, &req.Phase, &j)
	insists(&h.S, &j)
	if o.Run.Approved && j.Class == session.ClassAsked && !saysNo(j.Gates) { // this is the answer
		j.Verdict, j.Question = session.Pass, nil
	}
	if o.Run.Approved && j.Verdict == session.Pass {
		j.Class, j.Reason = session.ClassApproved, said("approved", o.Run.Note)
		for _, t := range h.S.Tampered { // which the person was shown
			if !slices.Contains(j.Tampered, t) {
				j.Tampered = append(j.Tampered, t)
			}
		}
	}
	j.Ungated = !runsGate(req.Phase) && slices.ContainsFunc(h.Plan.Workflow.Phases, runsGate)
	return j, nil
}

func runsGate(p workflows.Phase) bool {
	return slices.ContainsFunc(p.Gates, func(g workflows.Gate) bool { return g.Runs() })
}

func said(what, text string) string {
	if text = oneLine(text, 200); text != "" {
		what += ": " + text
	}
	return what
}

func (h *Hand) judgeRequest(ctx context.Context, o *session.Open, snap session.Snapshot) (req session.JudgeRequest,
	err error) {
	st := h.e.Store
	req = session.JudgeRequest{Session: h.ID, Phase: *h.Plan.Workflow.Phase(o.Phase), Plan: *h.Plan,
		Targets: h.S.Targets, Expected: h.S.Expected, Gone: h.S.Gone, TargetsOf: h.S.TargetsOf, Tree: snap.Tree,
		Given: h.given(snap.Skipped), Spec: h.S.SpecPath}
	if req.Changed, err = st.Changes(ctx, h.S.LapTree, snap.Tree); err != nil {
		return req, err
	}
	// Not since the attempt began: what an earlier attempt was refused for would be let through by one that leaves it.
	req.VisitTree = h.S.Visit.Tree
	if req.Visit, err = st.Changes(ctx, h.S.Visit.Tree, snap.Tree); err != nil {
		return req, err
	}
	if req.Own, err = st.Changes(ctx, h.S.Untouched(), snap.Tree); err != nil {
		return req, err
	}
	keys, err := h.keysSince(ctx, h.S.Untouched(), snap.Tree)
	if err != nil {
		return req, err
	}
	req.Given = append(req.Given, keys...)
	if req.Baseline, err = h.evidence(ctx, session.FileBaseline); err != nil {
		return req, err
	}
	if req.LapStart, err = h.evidence(ctx, session.FileLap); err != nil {
		return req, err
	}
	if req.LapStart.Gates == nil { // the first lap starts from the base
		req.LapStart = req.Baseline
	}
	req.Frozen, req.TestChange = frozen(&h.S, h.Plan), h.S.TestChange != ""
	req.Packages = o.Run.Approved && h.S.Last != nil && h.S.Last.Question != nil && h.S.Last.Question.Packages
	req.Approved = o.Run.Approved && !req.Packages
	req.NothingLeft, req.SentBack = o.Run.NothingLeft, h.S.SentBack()
	if !h.S.Laps {
		req.Items = h.S.Items
	}
	req.FrozenAt, req.LapTree = h.S.Having(req.Frozen), h.S.LapTree
	req.Known = h.known()
	req.RunDir, err = h.j.RunDir(o.RunID)
	return req, err
}

// known are the tests that failed or flickered on the base.
func (h *Hand) known() []session.TestID {
	if b := h.S.Base0; b != nil {
		return slices.Concat(b.Red, b.Flaky)
	}
	return nil
}

// given are the files that were given a key, but for those that a person's checkpoint has named before.
func (h *Hand) given(skipped []session.Skip) (given []session.Skip) {
	seen := map[string]bool{}
	for _, c := range h.S.Checkpoints {
		if c.Number == 0 || logged(c.Trigger) {
			for _, s := range c.Skipped {
				seen[s.Path] = true
			}
		}
	}
	for _, s := range skipped {
		if s.Rule != "" && !seen[s.Path] {
			given = append(given, s)
		}
	}
	return given
}

// evidence reads an evidence document: the one that waits for the next turn, or the ledger's.
func (h *Hand) evidence(ctx context.Context, name string) (session.Evidence, error) {
	if data, ok := h.docs[name]; ok && data != nil {
		return decodeEvidence(data)
	}
	return h.e.Evidence(ctx, h.Tip, name)
}

// spec is the specification that is pinned, nil without one.
func (h *Hand) spec(ctx context.Context) ([]byte, error) {
	if h.S.SpecDigest == "" {
		return nil, nil
	}
	if text := h.docs[session.FileSpec]; text != nil { // it waits for the next turn
		return text, nil
	}
	return h.e.Store.File(ctx, h.Tip, session.FileSpec)
}

// interrupt records that a person or a signal stopped the run, and checkpoints what is there.
func (h *Hand) interrupt(ctx context.Context) error {
	if err := h.append(h.cut()); err != nil {
		return err
	}
	_, err := h.save(ctx, session.TriggerInterrupted, "interrupted")
	return err
}

// leaveUnjudged records that a person or a signal stopped the judging of an attempt whose run had ended: nothing speaks
// against that run, and it may have cost money. The attempt stays open for the next run to judge, as if the process had
// been killed here; until it has its checkpoint, what it left is saved beside the checkpoints.
func (h *Hand) leaveUnjudged(ctx context.Context) error {
	cut := h.cut()
	cut.Unjudged = true
	if err := h.append(cut); err != nil {
		return err
	}
	_, err := h.saveAside(ctx, "interrupted during the verdict")
	return err
}
