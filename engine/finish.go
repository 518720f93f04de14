package engine

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/session"
	"github.com/wfs-dev/wfs/session/items"
	"github.com/wfs-dev/wfs/workflows"
)

// Handover are the user's wishes for `wfs finish`.
type Handover struct {
	Branch         string // full ref name
	Subject        string // of the commit; the goal when empty
	Keep           bool   // hand over the checkpoints themselves instead of one commit
	Unproven       bool   // whether or not it passes in a clean tree
	Anyway         string // why it is handed over although not all is done that was agreed
	Report         workflows.Report
	WithoutCarried bool // leave out what was uncommitted when the session began
}

// Finish hands the work over: one commit on a new branch of the user's, made from the base, whose tree is the last
// gated tree without .workflow/. Nothing is pushed. The session stays readable.
func (h *Hand) Finish(ctx context.Context, o Handover) (*session.Finished, int64, error) {
	st := h.e.Store
	if f := h.S.Finished; h.S.Status == session.StatusFinished && f.Branch == o.Branch {
		return f, 0, h.handedAlready(ctx, f)
	}
	if err := h.mayDrive(ctx); err != nil {
		return nil, 0, err
	}
	if err := h.NoSurvivors(); err != nil {
		return nil, 0, err
	}
	snap, err := h.snapshot(ctx)
	if err != nil {
		return nil, 0, err
	}
	work, err := h.handing(ctx, o, snap)
	if err != nil {
		return nil, 0, err
	}
	c, onto, files, tree := work.checkpoint, work.onto, work.files, work.tree
	proof, err := h.proveHanded(ctx, c, o)
	if err != nil {
		return nil, 0, err
	}
	held, err := h.holdOutHanded(ctx, c, o)
	if err != nil {
		return nil, 0, err
	}
	// The session's documents leave the work tree at the end; the checkpoints hold them, but for bytes that git converts.
	plan, err := h.planMove(ctx, snap, files, "")
	if err != nil {
		return nil, 0, err
	}
	t := session.Turn{Worktree: st.Worktree(), HeadOld: h.S.Branch(), HeadNew: o.Branch, HeadOldCommit: snap.Head.Commit,
		Tree: files, TreeOld: snap.Tree, Index: tree, IndexOld: snap.Index, RawOld: plan.Raw}
	made := t
	made.Refs = []session.RefMove{{Ref: o.Branch}}
	if err := st.AwaitLocks(ctx, h.ID, made); err != nil {
		return nil, 0, err
	}
	if w := h.S.Waiting; w != nil && w.Agree && len(items.Open(&h.S)) == 0 {
		if err := h.append(session.Agreed{By: "person"}); err != nil { // asking for the work is a yes
			return nil, 0, err
		}
		h.Agreed = true
	}
	if snap.Raw = plan.Raw; snap.Raw != "" {
		if t.Rescue, err = st.Rescue(ctx, h.ID, "finish "+string(h.ID), snap, h.e.Clock.Now().Unix()); err != nil {
			return nil, 0, err
		}
	}
	if err := h.j.Claim(st.Worktree()); err != nil {
		return nil, 0, err
	}
	started := session.FinishStarted{Branch: o.Branch, Base: onto, Tree: tree, Turn: t}
	if err := h.append(started); err != nil {
		return nil, 0, err
	}
	h.e.hit("finish/journaled")
	commit, err := h.commitOver(ctx, c, o, onto, tree, proof,
		joinedLines(notProven(proof, c, o), saysHoldout(h.Plan, held)))
	if err != nil {
		return nil, 0, joined(err, h.dropFinish(err))
	}
	t.Refs = []session.RefMove{{Ref: o.Branch, New: commit}}
	f := session.Finished{Branch: o.Branch, Commit: commit, Checkpoint: c.Number, Anyway: o.Anyway,
		WithoutCarried: o.WithoutCarried, Kept: o.Keep, Turn: t}
	if proof != h.S.Proof {
		f.Proof = proof
	}
	if held != h.S.Holdout {
		f.Holdout = held
	}
	d := session.Draft{NoCode: true, Turn: t, Anchors: []session.Commit{commit},
		LedgerMessage: ledgerMessage(h.ID, "finished on "+short(o.Branch))}
	var n int64
	if _, err := h.turn(ctx, d, func(m session.Made) (session.Body, error) {
		f.Turn = m.Turn
		return f, nil
	}, func() (err error) {
		n, err = h.e.logOp(ctx, h.op(session.Event{At: h.e.Clock.Now(), Body: f}, "finish",
			summaryOfFinish(h.ID, o.Branch), 0, f.Turn))
		return err
	}); err != nil {
		if h.S.Status != session.StatusFinished { // it did not become true: take the branch back
			err = joined(err, h.giveUpFinish(ctx, started, err))
		}
		return nil, 0, err
	}
	h.halfway = nil
	h.Stayed = h.dropDocuments(ctx, t) // the work is handed over all the same
	f.Turn.Found = h.halfway           // to be said; the event is made
	return &f, n, h.j.Unclaim(st.Worktree())
}

// handing is what a finish hands over.
type handing struct {
	checkpoint  *session.Checkpoint
	onto        session.Commit
	files, tree session.Tree // of the work tree afterwards, and of the commit
}

// handing finds out what a finish hands over, or why it does not. snap is the work tree as it is.
func (h *Hand) handing(ctx context.Context, o Handover, snap session.Snapshot) (v handing, err error) {
	st := h.e.Store
	if v.checkpoint, err = h.handed(ctx, snap); err != nil {
		return v, err
	}
	if err := h.agreed(ctx, v.checkpoint, o); err != nil {
		return v, err
	}
	if there, err := st.Ref(ctx, o.Branch); err != nil || there != "" {
		if err == nil {
			err = &session.Refusal{Code: session.RefuseBranch,
				Message: fmt.Sprintf("branch %s already exists", short(o.Branch)), Hint: "wfs finish --branch NAME"}
		}
		return v, err
	}
	if err := h.e.mayMake(ctx, o.Branch, "wfs finish --branch NAME"); err != nil {
		return v, err
	}
	if v.onto, err = h.handoverBase(ctx, snap.Head.Commit); err != nil {
		return v, err
	}
	base, err := st.TreeOf(ctx, v.onto)
	if err != nil {
		return v, err
	}
	if v.files = v.checkpoint.Tree; !o.Keep { // the commits of a session have its documents
		if v.files, err = st.HandoverTree(ctx, v.checkpoint.Tree, base, ""); err != nil {
			return v, err
		}
	}
	v.tree = v.files
	if o.WithoutCarried {
		if v.tree, err = h.withoutCarried(ctx, v.checkpoint, o, base); err != nil {
			return v, err
		}
	}
	if base == v.tree && !o.Keep {
		return v, h.nothingToHand(v.onto)
	}
	return v, nil
}

// handedAlready returns nil when HEAD is where a finish, which may have been killed, has brought it.
func (h *Hand) handedAlready(ctx context.Context, f *session.Finished) error {
	head, err := h.e.Store.Head(ctx)
	if err != nil || head.Ref == f.Branch {
		return err
	}
	there, err := h.e.Store.Ref(ctx, f.Branch)
	if err != nil {
		return err
	}
	hint := "git switch " + short(f.Branch)
	if there == "" {
		hint = fmt.Sprintf("git branch %s %s", short(f.Branch), f.Commit)
	}
	return &session.Refusal{Code: session.RefuseFinal,
		Message: fmt.Sprintf("%s is already finished, on branch %s", h.ID, short(f.Branch)), Hint: hint}
}

func joined(err, second error) error {
	if second != nil {
		return fmt.Errorf("%w; then: %v", err, second)
	}
	return err
}

// handoverBase is the commit that the handed-over one is made from: the session's base, or a later commit of its base
// branch that the session has taken in since, by a rebase or a merge of the user's. From the old base that branch's own
// changes would be handed over as the session's.
func (h *Hand) handoverBase(ctx context.Context, tip session.Commit) (session.Commit, error) {
	st, base := h.e.Store, h.S.Base
	if h.S.BaseRef == "" {
		return base, nil
	}
	theirs, err := st.Ref(ctx, h.S.BaseRef)
	if err != nil || theirs == "" || theirs == base {
		return base, err
	}
	if m := h.movedBase(); m != nil && m.Old != "" && m.New != "" {
		if own, err := h.inLine(ctx, h.S.At(0).Code, m.New, theirs); err != nil {
			return base, err
		} else if own { // a run put the session's own commits there
			theirs = m.Old
		}
	}
	common, err := st.MergeBase(ctx, theirs, tip)
	if err != nil || common == "" || common == base {
		return base, err
	}
	later, err := st.IsAncestor(ctx, base, common)
	if err != nil || !later {
		return base, err
	}
	return common, nil
}

// movedBase is what runs did to the session's base branch and no person has seen yet, nil for nothing.
func (h *Hand) movedBase() *session.RefMove {
	if h.S.Unseen != nil {
		for _, m := range h.S.Unseen.Refs {
			if m.Ref == h.S.BaseRef {
				return &m
			}
		}
	}
	return nil
}

// inLine reports whether each of some commits is an ancestor of the next.
func (h *Hand) inLine(ctx context.Context, commits ...session.Commit) (bool, error) {
	for i := range len(commits) - 1 {
		if is, err := h.e.Store.IsAncestor(ctx, commits[i], commits[i+1]); err != nil || !is {
			return false, err
		}
	}
	return true, nil
}

// handed returns the checkpoint that can be handed over: the present one, judged green, with nothing changed since.
func (h *Hand) handed(ctx context.Context, snap session.Snapshot) (*session.Checkpoint, error) {
	c := h.S.At(h.S.Current)
	if !c.Green && c.Class == session.ClassRejected { // a rejection takes nothing from what gates said of the same tree
		for g := range h.S.Back() {
			if g.Green && g.Number > 0 && g.Tree == c.Tree {
				c = g
				break
			}
		}
	}
	if !c.Green {
		r := &session.Refusal{Code: session.RefuseNotGreen,
			Message: fmt.Sprintf("checkpoint %d did not pass (%s)", c.Number, c.Summary), Hint: "wfs run"}
		if h.S.Status == session.StatusBlocked { // a plain run would say so, and no more
			r.Hint = h.S.Blocked.Hint
		}
		// a run judges it, and does no more
		edited := h.S.Status == session.StatusCompleted && c.Verdict == "" && !h.S.AsksMore()
		if edited {
			r.Message = fmt.Sprintf("checkpoint %d is not judged yet (%s)", c.Number, c.Summary)
		}
		for g := range h.S.Back() {
			if g.Green && g.Number > 0 && g.Number < c.Number && h.rejected(g.Tree) == nil {
				r.Message += fmt.Sprintf("; the last one that passed is %d (%s)", g.Number, g.Summary)
				r.Hint = fmt.Sprintf("wfs resume @%d && wfs finish", g.Number)
				then := *h // as it is after going back
				then.S.Current = g.Number
				open, err := then.inTheWay(ctx, g)
				if err != nil {
					return c, err
				}
				if len(open) > 0 || items.Less(&h.S) {
					r.Hint += ` --anyway "why"`
				}
				if edited {
					r.Hint = "wfs run, to judge it, or " + r.Hint + ", to hand over without it"
				}
				break
			}
		}
		return c, r
	}
	if snap.Tree != c.Tree {
		changes, err := h.e.Store.Changes(ctx, c.Tree, snap.Tree)
		if err != nil {
			return c, err
		}
		return c, &session.Refusal{Code: session.RefuseNotGreen,
			Hint: fmt.Sprintf("wfs run, to have them judged, or wfs resume @%d, to set them aside", c.Number),
			Message: fmt.Sprintf("%d %s changed since checkpoint %d was judged: %s", len(changes),
				plural(len(changes), "file has", "files have"), c.Number, paths(changes))}
	}
	return c, nil
}

func paths(changes []session.Change) string {
	var list []string
	for _, c := range changes[:min(len(changes), 5)] {
		list = append(list, c.Path)
	}
	if len(changes) > 5 {
		list = append(list, fmt.Sprintf("and %d more", len(changes)-5))
	}
	return strings.Join(list, ", ")
}

func (h *Hand) withoutCarried(ctx context.Context, c *session.Checkpoint, o Handover,
	base session.Tree) (session.Tree, error) {
	if len(h.S.Carried) == 0 || o.Keep || h.S.Fork != nil {
		why := "this session did not start with uncommitted changes"
		switch {
		case o.Keep:
			why = "--keep keeps the checkpoints as they are, including your uncommitted changes"
		case len(h.S.Carried) > 0:
			why = fmt.Sprintf("this session is a fork of %s, which started with them: they cannot be separated from its work", h.S.Parent)
		}
		return "", &session.Refusal{Code: session.RefuseUsage, Message: why, Hint: "wfs finish"}
	}
	return h.e.Store.HandoverTree(ctx, c.Tree, base, h.S.At(0).Tree)
}

func (h *Hand) commitOver(ctx context.Context, c *session.Checkpoint, o Handover, onto session.Commit,
	tree session.Tree, proof *session.Proof, unproven string) (session.Commit, error) {
	if o.Keep {
		return c.Code, nil
	}
	gates, err := h.judgedAt(ctx, c)
	if err != nil {
		return "", err
	}
	if proof != nil && proof.Tree == c.Tree {
		for _, g := range proof.Gates { // what was passed over before has judged the end of the work
			i := slices.IndexFunc(gates, func(j session.GateResult) bool { return j.Gate == g.Gate })
			switch {
			case i < 0:
				gates = append(slices.Clip(gates), g)
			case gates[i].Verdict != session.Pass:
				gates[i] = g
			}
		}
	}
	told := handedOver{gates: gates, unproven: unproven}
	base, err := h.e.Store.TreeOf(ctx, h.S.Base)
	if err != nil {
		return "", err
	}
	if told.changed, err = h.e.Store.Changes(ctx, base, c.Tree); err != nil {
		return "", err
	}
	if told.lines, err = h.e.Store.Lines(ctx, base, c.Tree); err != nil {
		return "", err
	}
	if told.left, err = h.notReached(ctx, c); err != nil {
		return "", err
	}
	keys, err := h.keysOf(ctx, c)
	if err != nil {
		return "", err
	}
	told.left = append(told.left, keys...)
	return h.e.Store.CommitOnto(ctx, o.Branch, onto, tree, h.handoverMessage(c, o, told))
}

// judgedAt returns what the gates said about the tree of a checkpoint. The newest judgement of the session may be about
// another one, for somebody who went back.
func (h *Hand) judgedAt(ctx context.Context, c *session.Checkpoint) ([]session.GateResult, error) {
	commits, err := h.e.Store.Ledgers(ctx, h.ID)
	if err != nil {
		return nil, err
	}
	for _, l := range commits {
		events, err := h.e.eventsOf(ctx, l.Commit)
		if err != nil {
			return nil, err
		}
		var gates []session.GateResult
		var ungated bool
		for _, e := range events {
			switch b := e.Body.(type) {
			case session.Judged:
				gates, ungated = b.Gates, b.Ungated
			case session.Checkpointed:
				if !ungated && b.Trigger == session.TriggerAttempt && b.Verdict == session.Pass && b.Tree == c.Tree &&
					b.Number <= c.Number {
					return AsHanded(gates), nil
				}
			}
		}
	}
	if f := h.S.Fork; f != nil && f.Line[len(f.Line)-1].Tree == c.Tree && f.Gates != nil {
		return f.Gates, nil
	}
	return nil, fmt.Errorf("checkpoint %d is marked as passed, but its verdict is missing from the history", c.Number)
}

// AsHanded says of a gate that missed a new failing test, when nothing was left to add, what holds for the
// work: it passes.
func AsHanded(gates []session.GateResult) []session.GateResult {
	gates = slices.Clone(gates)
	for i, g := range gates {
		if g.Class == session.ClassNothingAdded {
			gates[i].Verdict, gates[i].Class, gates[i].Expect = session.Pass, session.ClassGreen, string(workflows.ExpectPass)
		}
	}
	return gates
}

// handedOver is what the message of the one commit tells beside the session.
type handedOver struct {
	gates    []session.GateResult // as they judged the tree
	changed  []session.Change     // since the base
	lines    []session.FileLines  // of the same
	left     []string             // phases that were not passed, files with a key
	unproven string               // why it was not proven in a clean tree, "" when it was
}

// handoverMessage is the message of the one commit: the goal, the gates, and what was claimed and refuted.
func (h *Hand) handoverMessage(c *session.Checkpoint, o Handover, told handedOver) string {
	s, unproven := &h.S, told.unproven
	var b strings.Builder
	subject := o.Subject
	if subject == "" {
		subject = oneLine(s.Headline(), 72)
	}
	b.WriteString(subject + "\n\n")
	if g := oneLine(s.Goal, 2000); o.Subject != "" || s.Title != "" || len([]rune(g)) > 72 {
		b.WriteString(g + "\n\n")
	}
	for _, item := range items.States(s) {
		says := ""
		if item.Settled() {
			if item.State != session.ItemDelivered {
				says = " (" + item.Says() + ")"
			}
			fmt.Fprintf(&b, "- %s%s\n", oneLine(item.Text, 200), says)
		}
	}
	if len(s.Items) > len(items.Open(s)) {
		b.WriteString("\n")
	}
	if o.Report == workflows.ReportFull {
		h.fullReport(&b, c, told.gates, unproven)
	} else {
		if o.Report != workflows.ReportNone {
			fmt.Fprintf(&b, "Tested: %s\n", h.tested(told))
			b.WriteString(h.lessTests(told))
			for _, a := range items.Approvals(s, &h.Plan.Workflow) {
				fmt.Fprintf(&b, "Approved: %s, by a %s\n", a.Phase, a.By)
			}
			if items.ApprovedInTheEnd(s, c.Number) {
				b.WriteString("Approved: the whole work, by a person\n")
			}
		}
		if unproven != "" {
			b.WriteString(unproven + "\n")
		}
	}
	for _, item := range items.Open(s) {
		fmt.Fprintf(&b, "Not done: %s\n", oneLine(item.Text, 200))
	}
	if o.Anyway != "" {
		for _, what := range append(h.unpassed(c), told.left...) {
			fmt.Fprintf(&b, "Not done: %s\n", oneLine(what, 200))
		}
		fmt.Fprintf(&b, "Not judged: %s\n", oneLine(o.Anyway, 500))
	}
	skipped := slices.Clone(s.SkippedPhases)
	for _, p := range skipped {
		if p.Anyway {
			fmt.Fprintf(&b, "Not judged: %s, lap %d: %s\n", p.Phase, p.Lap, oneLine(p.Why, 200))
		}
	}
	if skipped = slices.DeleteFunc(skipped, func(p session.SkippedPhase) bool { return p.Anyway }); len(skipped) > 0 {
		b.WriteString("\nSkipped phases:\n")
		for _, p := range skipped {
			fmt.Fprintf(&b, "- %s, lap %d: %s\n", p.Phase, p.Lap, cmp.Or(oneLine(p.Why, 200), "no reason given"))
		}
	}
	b.WriteString(tamperedText(s))
	if o.WithoutCarried {
		b.WriteString("\nChanges that were uncommitted when the session began are left out; the gates ran with them.\n")
	}
	fmt.Fprintf(&b, "\nWfs-Session: %s\nWfs-Checkpoint: %04d\n", s.ID.Trailer(), c.Number)
	return b.String()
}

// tested names what passed on the tree that is handed over: commands, with how many tests and how many of them
// are new, and files that a command names if they are not what they were.
func (h *Hand) tested(told handedOver) string {
	var list []string
	for _, g := range told.gates {
		if g.Verdict != session.Pass || g.Where == session.InTree { // that one only looks at files
			continue
		}
		text := g.Gate
		for _, p := range h.Plan.Baseline {
			if p.Name == g.Gate {
				text = oneLine(cmp.Or(p.Run.Text(), g.Gate), 60)
			}
		}
		for _, word := range strings.Fields(text) {
			if slices.ContainsFunc(told.changed, func(c session.Change) bool { return c.Path == path.Clean(word) }) {
				text += fmt.Sprintf(" (%s was changed)", word)
			}
		}
		if n := g.Counts.Passed; n > 0 {
			text += fmt.Sprintf(" (%d passed", n)
			if before, known := h.testsBefore(g.Gate); known {
				text += fmt.Sprintf("; before: %d", before)
			}
			text += ")"
		}
		list = append(list, text)
	}
	if len(list) == 0 {
		return "nothing"
	}
	return strings.Join(list, ", ")
}

// lessTests names the files of the base with tests that are gone, and those that lost lines.
func (h *Hand) lessTests(told handedOver) string {
	gone := map[string]bool{}
	for _, c := range told.changed {
		gone[c.Path] = c.Status == "D"
	}
	var deleted, changed []string
	for _, l := range told.lines {
		switch {
		case !h.e.HoldsTests(l.Path):
		case gone[l.Path]:
			deleted = append(deleted, l.Path)
		case l.Removed > 0:
			changed = append(changed, fmt.Sprintf("%s (+%d -%d)", l.Path, l.Added, l.Removed))
		}
	}
	text := ""
	if len(deleted) > 0 {
		text += "Deleted tests: " + oneLine(strings.Join(deleted, ", "), 300) + "\n"
	}
	if len(changed) > 0 {
		text += "Changed tests: " + oneLine(strings.Join(changed, ", "), 300) + "\n"
	}
	return text
}

// testsBefore is how many tests a gate had on the base, where that is known.
func (h *Hand) testsBefore(gate string) (n int, known bool) {
	if h.S.Base0 != nil {
		for _, g := range h.S.Base0.Gates {
			if g.Gate == gate {
				return g.Counts.Total(), true
			}
		}
	}
	return 0, false
}

// fullReport tells all that was judged and claimed.
func (h *Hand) fullReport(b *strings.Builder, c *session.Checkpoint, gates []session.GateResult, unproven string) {
	s := &h.S
	laps := ""
	if s.Laps {
		laps = fmt.Sprintf("%d %s, ", s.LapsDone(), plural(s.LapsDone(), "lap", "laps"))
	}
	fmt.Fprintf(b, "Judged by wfs at checkpoint %d, %s%d %s:\n%s", c.Number, laps, s.Tries,
		plural(s.Tries, "attempt", "attempts"), gateTable(gates))
	if c.Class == session.ClassApproved {
		fmt.Fprintf(b, "%s: approved by a person\n", c.Phase)
	}
	if c.Class == session.ClassReviewed {
		fmt.Fprintf(b, "%s: approved by a reviewing agent\n", c.Phase)
	}
	if unproven != "" {
		b.WriteString("\n" + unproven + "\n")
	}
	if flaky := s.FlakyTests(); len(flaky) > 0 {
		fmt.Fprintf(b, "\nFlaky, ignored: %s\n", names(flaky))
	}
	if refuted := s.StillRefuted(); len(refuted) > 0 {
		n := len(refuted)
		fmt.Fprintf(b, "\nThe agent said it was done %d %s; %d true. Not true at:\n", s.Claims,
			plural(s.Claims, "time", "times"), s.Claims-n)
		for _, r := range refuted {
			fmt.Fprintf(b, "- checkpoint %d, %s: %s\n", r.Checkpoint, r.Phase, oneLine(r.Reason, 200))
		}
	}
}

// dropDocuments takes .workflow/ out of the work tree, unless somebody has worked there since the finish began.
// What else is another way by now (hooks and gates take their time) is somebody's work, which no ref has, and
// stays as it is. The checkpoints and the turn's rescue hold the documents; if this fails nothing is lost.
func (h *Hand) dropDocuments(ctx context.Context, t session.Turn) error {
	st := h.e.Store
	snap, err := h.snapshot(ctx)
	if err != nil {
		return err
	}
	if as, err := st.HandoverTree(ctx, t.TreeOld, snap.Tree, ""); err != nil || as != t.TreeOld {
		return err // the documents are others
	}
	without, err := st.HandoverTree(ctx, snap.Tree, t.Tree, "")
	if err != nil || without == snap.Tree {
		return err
	}
	plan, err := h.planMove(ctx, snap, without, "")
	if err != nil {
		return err
	}
	if snap.Raw = plan.Raw; snap.Raw != "" && snap.Raw != t.RawOld { // written to since
		ref, err := st.Rescue(ctx, h.ID, "documents of "+string(h.ID)+" leave the work tree", snap, h.e.Clock.Now().Unix())
		if err != nil {
			return err
		}
		h.keptAt(ref)
	}
	return st.MoveTree(ctx, plan)
}
