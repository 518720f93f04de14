package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/engine/decide"
	"github.com/wfs-dev/wfs/engine/hand"
	"github.com/wfs-dev/wfs/engine/judging"
	"github.com/wfs-dev/wfs/engine/steering"
	"github.com/wfs-dev/wfs/internal/safetext"
	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/workflows"
)

// RunOptions are the user's options for one `wfs run`.
type RunOptions struct {
	MaxAttempts  int
	Until        session.PhaseName // stop when this phase has passed
	Note         string
	ResetBreaker bool
	Agree        bool // approve the pending question whether all work is done
	Auto         bool // approve that question automatically from now on
	NoWait       bool // return instead of waiting until a usage limit resets
	Now          bool // end a wait that is in progress
	// IgnoreSurvivors starts attempts although processes of an earlier run are alive, such as build daemons.
	IgnoreSurvivors bool
}

// Drive runs a session that is open for writing.
type Drive struct {
	*hand.Hand
	*Engine
	*judging.Judging
	*steering.Steering
	*Saver
	*Inbox
	*Outside
	ended *session.Snapshot // work tree after the run that just ended, to be judged next
	// judgedAgain counts how often the open attempt had to be judged again, because its files changed meanwhile.
	judgedAgain int
	scopes      func() []decide.Scope // returns the caps and the usage, with that of other sessions as last read
}

// Run drives the session until it has to stop. The session's status tells why it stopped. Cancelling ctx is not an
// error: Run returns nil. If an agent is running, it is stopped and the work tree is checkpointed as interrupted. If a
// gate is running, it is stopped and the next run judges the attempt.
func (h *Drive) Run(ctx context.Context, o RunOptions) (err error) {
	defer func() {
		h.endSaving()
		err = errors.Join(err, h.AutoSaves.EndAutoSaves(), h.forgetStops(), h.leaveConversions(context.WithoutCancel(ctx)))
	}()
	if o.Until != "" {
		all := h.Plan.Workflow.Phases // capitals alone do not tell their names apart
		at := slices.IndexFunc(all, func(p workflows.Phase) bool {
			return strings.EqualFold(string(p.Name), string(o.Until))
		})
		if at < 0 {
			return session.Refuse(session.RefuseUsage, "wfs workflow show "+h.S.Workflow, "workflow %s has no phase %q",
				h.S.Workflow, o.Until)
		}
		o.Until = all[at].Name
	}
	work := context.WithoutCancel(ctx) // recording an interruption must not itself be interrupted
	goOn, err := h.take(work, o)
	if err != nil || !goOn {
		return err
	}
	if err := h.ensureBaseline(ctx); err != nil {
		return err
	}
	converts, err := h.Around.Conversions(work)
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
		f := decide.Facts{Now: h.Clock.Now(), RunID: h.NewRunID(h.ID, h.S.Runs+1), Started: started,
			MaxAttempts: o.MaxAttempts, Until: o.Until, Auto: o.Auto, Ignore: o.IgnoreSurvivors, Stop: h.stop, Woken: h.woken}
		if ctx.Err() != nil {
			f.Cut = h.cut()
		}
		if h.S.Open == nil {
			if ctx.Err() != nil && h.S.Status == session.StatusWaiting && h.stop == "" {
				return nil // the session keeps waiting: there is nothing to interrupt
			}
			if ctx.Err() != nil && h.S.Status != session.StatusWaiting {
				return h.interrupt(work)
			}
			if w := h.S.Waiting; h.S.Status != session.StatusWaiting || w.Reason == session.WaitLimit &&
				(f.Woken || w.Cause == session.CauseCalls || decide.Waited(w, f.Now) || decide.Instead(&h.S, h.Plan, f) != nil) {
				if err := h.lookElsewhere(work, &f); err != nil {
					return err
				}
			}
		}
		open := h.S.Open
		d := decide.Decide(&h.S, h.Plan, f)
		a := attemptIn(d)
		if a != nil { // decide again with the current files, from which the attempt starts
			snap, err := h.Snapshot(work)
			if err != nil {
				return err
			}
			f.Tree, f.Locks = snap.Tree, h.lockNames()
			d = decide.Decide(&h.S, h.Plan, f)
		}
		foreign, err := h.unadopted(work, a)
		if err != nil {
			return err
		}
		if a != nil && a.Runner != decide.RunnerPerson && (f.Tree != h.S.At(h.S.Current).Tree && f.Tree != kept || foreign) &&
			found < maxFound {
			// Files were edited or commits were made since the last checkpoint. The runner may overwrite them, so save them
			// first.
			found++
			kept = f.Tree
			changes, err := h.Engine.Trees.Changes(work, h.S.At(h.S.Current).Tree, f.Tree)
			if err != nil {
				return err
			}
			trigger, text := session.TriggerFound, foundText(foreign, changes)
			if f.Tree == h.S.Visit.Recovered {
				trigger, text = session.TriggerInterrupted, "unjudged, from an interrupted attempt"
			}
			if _, err := h.Keep(work, trigger, text); err != nil {
				_, err := h.conflict(work, err)
				return err
			}
			continue
		}
		if err := h.Append(d.Events...); err != nil {
			return err
		}
		if open == nil && h.S.Open != nil {
			started++
			found, h.judgedAgain, h.woken = 0, 0, false
			h.Engine.Hit("run/started")
		}
		if open != nil && h.S.Status == session.StatusWaiting {
			started-- // a run that has to wait does not count as an attempt
		}
		done, err := h.perform(ctx, work, d, o)
		if err != nil || done {
			return err
		}
	}
}

// maxFound limits how often edits are saved before one attempt. Without a limit, a process that writes all the time
// would prevent the attempt: even the output of this command, if the user redirects it into the work tree.
const maxFound = 3

// attemptIn returns the event by which a decision begins an attempt, nil if it begins none.
func attemptIn(d decide.Decision) *session.AttemptStarted {
	for _, b := range d.Events {
		if a, ok := b.(session.AttemptStarted); ok {
			return &a
		}
	}
	return nil
}

// perform carries out the effect of a decision. done means that the run is over.
func (h *Drive) perform(ctx, work context.Context, d decide.Decision, o RunOptions) (done bool, err error) {
	ended := h.ended
	h.ended = nil
	switch d.Effect {
	case decide.EffectRun:
		return h.runOpen(ctx, work)
	case decide.EffectJudge:
		return h.judgeOpen(ctx, work, ended)
	case decide.EffectCheckpoint:
		h.Engine.Hit("run/decided")
		return h.checkpointJudged(work)
	case decide.EffectSave:
		_, err := h.Keep(work, session.TriggerInterrupted, "unjudged, from an attempt")
		return true, err
	case decide.EffectKeep:
		_, err := h.Keep(work, session.TriggerInterrupted, "unjudged, from an attempt that had to wait")
		return h.conflict(work, err)
	case decide.EffectSleep:
		if o.NoWait {
			return true, nil
		}
		return false, h.wait(ctx)
	case decide.EffectBlock:
		return true, h.block(work, d.Block)
	case decide.EffectStop:
		return true, nil
	}
	return false, nil
}

// take checks that the session may be driven here and now, records the user's options, and reports whether the run goes
// on.
func (h *Drive) take(ctx context.Context, o RunOptions) (bool, error) {
	if err := h.MayDrive(ctx); err != nil {
		return false, err
	}
	if o.Agree {
		if h.S.Waiting == nil || !h.S.Waiting.Agree {
			return false, session.Refuse(session.RefuseUsage, "wfs status",
				"there is nothing to approve: no attempt reported that nothing is left")
		}
		if err := h.Append(session.Agreed{By: "person"}); err != nil {
			return false, err
		}
	}
	if err := errors.Join(h.Hear(), h.askAgain()); err != nil {
		return false, err
	}
	switch w := h.S.Waiting; {
	case o.Note == "":
	// a note with the next task rejects "all work is done"
	case h.S.Status == session.StatusWaiting && h.S.Phase == workflows.Done && w.Agree:
		if err := h.WorkOn(ctx, o.Note); err != nil {
			return false, err
		}
	default:
		if err := h.Append(session.Noted{Text: o.Note}); err != nil {
			return false, err
		}
	}
	anew, err := h.toldAnew(ctx)
	if err != nil {
		return false, err
	}
	if o.ResetBreaker || anew {
		if err := h.Append(session.BreakerReset{}); err != nil {
			return false, err
		}
	}
	switch s := &h.S; {
	case s.Status == session.StatusCompleted && s.AsksMore():
		if err := h.Lead(ctx, h.BackToWork("")); err != nil {
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
	alive := h.Alive()
	var ended []int
	if len(alive) > 0 && !o.IgnoreSurvivors {
		if alive, ended = h.endOwn(ctx, alive); len(alive) > 0 {
			return false, h.block(ctx, decide.Survivors(alive))
		}
	}
	if b := h.S.Blocked; h.S.Status == session.StatusBlocked && b.Reason == session.BlockSurvivors {
		// Save the files of the last run before the next one overwrites them.
		if _, err := h.Keep(ctx, session.TriggerInterrupted, "interrupted; found in the work tree"); err != nil {
			return false, err
		}
	}
	if err := h.frozenEdited(ctx); err != nil {
		return false, err
	}
	return true, h.Append(session.Driving{MaxAttempts: o.MaxAttempts, Version: h.Version, Ignored: decide.Known(alive),
		Ended: ended, Now: o.Now})
}

// frozenEdited refuses to begin an attempt while tests that will judge it have uncommitted edits, because the attempt
// would be blamed for them. By a checkpoint, the user declares the edits as their own.
func (h *Drive) frozenEdited(ctx context.Context) error {
	s, ph := &h.S, h.Plan.Workflow.Phase(h.S.Phase)
	if s.Frozen == "" || ph == nil || ph.WritesTests() || s.Open != nil {
		return nil
	}
	snap, err := h.Snapshot(ctx)
	if err != nil || snap.Tree == s.Visit.Recovered {
		return err
	}
	changes, err := h.Engine.Trees.Changes(ctx, s.At(s.Current).Tree, snap.Tree)
	if err != nil || len(changes) == 0 {
		return err
	}
	since, err := h.Engine.Trees.Changes(ctx, s.Frozen, snap.Tree) // a test that was restored is not an edit
	if err != nil {
		return err
	}
	for _, c := range changes {
		edited := func(f session.Change) bool { return f.Path == c.Path && f.Status != "A" }
		if h.Engine.HoldsTests(c.Path) && slices.ContainsFunc(since, edited) {
			return session.Refuse(session.RefuseDirty,
				fmt.Sprintf("wfs checkpoint %s && wfs run %s, or wfs resume %s@%d", h.ID, h.ID, h.ID, s.Current),
				"%s was edited, a test that judges %s: keep the edit with a checkpoint, or undo it", c.Path, s.Phase)
		}
	}
	return nil
}

// toldAnew reports whether a person has added a note, allowed a file, or edited files, the goal or the spec since
// attempts stopped making progress. Then the next attempt knows more than those that failed, and the breaker is reset.
func (h *Drive) toldAnew(ctx context.Context) (bool, error) {
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
		return true, nil // a person who had edited files before has answered the block
	}
	if judged.Class == session.ClassKey {
		keys, err := h.Engine.Trees.Keys(ctx, h.S.Visit.Tree, judged.Tree) // files with keys that commits brought
		g := session.Guard{Allowed: h.S.Allowed}
		if err != nil || slices.ContainsFunc(append(keys, judged.Skipped...),
			func(s session.Skip) bool { return s.Rule != "" && g.Allows(s.Path) }) {
			return err == nil, err
		}
	}
	snap, err := h.Snapshot(ctx)
	return snap.Tree != judged.Tree, err
}

// edited reports whether completed work has been edited: its current checkpoint is not green, or the work tree differs
// from it.
func (h *Drive) edited(ctx context.Context) (bool, error) {
	c := h.S.At(h.S.Current)
	if !c.Green {
		return true, nil
	}
	snap, err := h.Snapshot(ctx)
	return snap.Tree != c.Tree, err
}

// runOpen runs the open attempt and records its result and the tree that it left.
func (h *Drive) runOpen(ctx, work context.Context) (done bool, err error) {
	o := h.S.Open
	dir, err := h.Files.RunDir(o.RunID)
	if err != nil {
		return false, err
	}
	ph := h.Plan.Workflow.Phase(o.Phase)
	before, err := h.Around.Surroundings(work, h.ID)
	if err != nil {
		return false, err
	}
	locked := h.Around.Locks()
	if err := h.beginSaving(nil); err != nil {
		return false, err
	}
	ph = decide.By(ph, o.Agent)
	req := session.RunRequest{Session: h.S, Phase: *ph, Started: o.AttemptStarted, RunDir: dir, Plan: *h.Plan,
		Notes: h.S.Notes[:o.Told], Meanwhile: h.S.Meanwhile[:o.AttemptStarted.Meanwhile],
		Conversation: decide.Conversation(&h.S, h.Plan, o.AttemptStarted)}
	if req.Spec, err = h.spec(work); err != nil {
		return false, err
	}
	if req.Baseline, err = h.Evidence(work, session.FileBaseline); err != nil {
		return false, err
	}
	req.Known = h.Known()
	if h.scopes != nil {
		decide.Leave(&req, h.scopes())
	}
	req.Lines, req.Back = h.linesOfLap(work), h.putBack(work)
	res, err := h.Works.Run(ctx, req)
	if res.CostUSD == 0 {
		res.EstimatedUSD = h.S.Estimate(res.Agent, res.Model, res.Tokens).USD()
	}
	h.endSaving()
	if tampered, e := h.lookAround(work, before, locked, res.Usage()); e != nil || tampered {
		return true, errors.Join(err, e)
	}
	if err != nil {
		if e := h.left(h.Works.Left(h.ID, o.RunID)); e != nil {
			return false, errors.Join(err, e)
		}
		if e := h.Append(session.Voided{Why: safetext.OneLine(err.Error(), 300)}); e != nil {
			return false, errors.Join(err, e)
		}
		return false, err
	}
	if err := h.NotInProgress(work); err != nil { // during a merge there may be no tree to snapshot
		if e := h.found(res.Usage()); e != nil {
			return false, errors.Join(err, e)
		}
		return h.conflict(work, err)
	}
	snap, err := h.Snapshot(work)
	if err != nil {
		return false, errors.Join(err, h.found(res.Usage()))
	}
	if err := h.Append(session.RunEnded{RunResult: res, Tree: snap.Tree}); err != nil {
		return false, err
	}
	h.Engine.Hit("run/ended")
	h.ended = &snap
	return false, h.beginSaving(&snap)
}

// linesOfLap returns the numbers of lines that the newest attempts of this lap changed, by checkpoint and file. Only
// the brief shows them: if git cannot compare the attempts, it shows none.
func (h *Drive) linesOfLap(ctx context.Context) map[int][]session.FileLines {
	var numbers []int
	var pairs []session.TreePair
	for c := range h.S.Back() {
		if c.Lap != h.S.Lap || len(pairs) == session.MaxTold {
			break
		}
		if c.Number == 0 || c.Attempt == 0 || c.Verdict == "" || h.S.At(c.On) == nil { // 0: in a fork, of its parent session
			continue
		}
		numbers, pairs = append(numbers, c.Number), append(pairs, session.TreePair{From: h.S.At(c.On).Tree, To: c.Tree})
	}
	lines := map[int][]session.FileLines{}
	files, _ := h.Engine.Trees.Lines(ctx, pairs...)
	for i := range files {
		lines[numbers[i]] = files[i]
	}
	return lines
}

// judgeOpen runs guards and gates on the open attempt's tree. `ended` is the snapshot taken at the end of the run; if
// it is nil, judgeOpen takes one now. done means that the run is over.
func (h *Drive) judgeOpen(ctx, work context.Context, ended *session.Snapshot) (done bool, err error) {
	if ended == nil {
		snap, err := h.Snapshot(work)
		if err != nil {
			return false, err
		}
		ended = &snap
	}
	req, err := h.Request(work, *ended)
	if err != nil {
		return false, err
	}
	locked := h.Around.Locks()
	j, err := h.Judge(ctx, work, req)
	if locks, e := h.strandedLocks(work, locked); e != nil {
		return true, errors.Join(err, e)
	} else if len(locks) > 0 {
		if e := h.Append(session.Strayed{Locks: locks}); e != nil {
			return true, errors.Join(err, e)
		}
	}
	switch {
	case ctx.Err() != nil:
		return true, h.leaveUnjudged(work)
	case err != nil: // the gates could not judge, which is not the agent's fault
		if err := h.Append(decide.Blocked(session.BlockGate, "wfs run", safetext.OneLine(err.Error(), 300))); err != nil {
			return true, err
		}
		_, err := h.Keep(work, session.TriggerInterrupted, "could not be judged")
		return true, err
	}
	if j.Class == session.ClassGateChangedTree { // perhaps edited by the user: judge the current files
		if h.judgedAgain++; h.judgedAgain < maxJudged {
			return false, h.Append(session.Reopened{Why: safetext.OneLine(j.Reason, 300)})
		}
		j.Reason = fmt.Sprintf("%s; %d times. If the gate creates such files: add them to .gitignore, or set may-change-tree for it", j.Reason, maxJudged)
	}
	if err := h.Append(session.Judged{Judgement: j}); err != nil {
		return false, err
	}
	h.Engine.Hit("run/judged")
	return false, nil
}

// spec returns the pinned specification, nil without one.
func (h *Drive) spec(ctx context.Context) ([]byte, error) {
	if h.S.SpecDigest == "" {
		return nil, nil
	}
	if text := h.Docs[session.FileSpec]; text != nil { // it is new, and the next turn writes it
		return text, nil
	}
	return h.Git.File(ctx, h.Tip, session.FileSpec)
}

// interrupt records that a person or a signal stopped the run, and checkpoints the work tree.
func (h *Drive) interrupt(ctx context.Context) error {
	if err := h.Append(h.cut()); err != nil {
		return err
	}
	_, err := h.Keep(ctx, session.TriggerInterrupted, "interrupted")
	return err
}

// leaveUnjudged records that a person or a signal stopped the judging of an attempt. Nothing is wrong with the
// attempt's run, and it may have cost money. So the attempt stays open for the next run to judge, as if the process had
// been killed here. Until its checkpoint its files are kept in an auto-save.
func (h *Drive) leaveUnjudged(ctx context.Context) error {
	cut := h.cut()
	cut.Unjudged = true
	if err := h.Append(cut); err != nil {
		return err
	}
	_, err := h.saveAside(ctx, "interrupted during the verdict")
	return err
}

// unadopted reports whether the session's branch is at another commit than the current checkpoint. It is called before
// a runner starts the attempt `a`; nil means no attempt. An agent may reset the branch; if wfs is killed together with
// the agent, that commit would be lost unnoticed.
func (h *Drive) unadopted(ctx context.Context, a *session.AttemptStarted) (bool, error) {
	if a == nil || a.Runner == decide.RunnerPerson {
		return false, nil
	}
	tip, err := h.Git.Ref(ctx, h.S.Branch())
	return tip != "" && tip != h.S.At(h.S.Current).Code, err
}

// putBack returns the paths of files in which the last judged attempt weakened tests and which match the frozen tree
// again. Only the brief shows them, so putBack returns nil if git cannot compare the trees.
func (h *Drive) putBack(ctx context.Context) (paths []string) {
	if h.S.Last == nil || h.S.Last.Class != session.ClassTampered || h.S.Frozen == "" {
		return nil
	}
	changes, err := h.Engine.Trees.Changes(ctx, h.S.Frozen, h.S.Open.Tree)
	if err != nil {
		return nil
	}
	for _, t := range h.S.Tampered {
		same := !slices.ContainsFunc(changes, func(c session.Change) bool { return c.Path == t.Path })
		if t.Grave && same && !slices.Contains(paths, t.Path) {
			paths = append(paths, t.Path)
		}
	}
	return paths
}
