package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/wfs-dev/wfs/session"
)

// relocation is a move of the work tree: files, index, HEAD and refs together.
type relocation struct {
	how     session.MoveKind
	summary string
	tree    session.Tree   // of the files afterwards
	index   session.Tree   // of the index afterwards
	raw     session.Tree   // of files with bytes of their own, "" for none
	head    string         // full name of the branch that HEAD goes to, "": it stays
	tip     session.Commit // of that branch, whose files tree is about; "": it is not there yet
	refs    []session.RefMove
	to      int // checkpoint that becomes current, -1: none
	undoes  int64
	status  session.Status
	former  *session.Former // what an undo brings back beside
	docs    session.Commit  // of the ledger, whose lap and evidence hold then; "": they stay
	since   session.Tree    // what guards compare an auto-save's files with, "" for all other moves
	stay    bool            // the files stay as they are, whatever tree says
}

// Relocated says what a move did, for people.
type Relocated struct {
	Op      int64 // number in the operation log; 0 when nothing had to be done
	Event   session.Moved
	Changes []session.Change
	Rescued []string // refs that keep what was there, none when all of it was reachable already
	Note    string
	Also    []string // what the same command did before it: summaries of operations
}

// move is the one function behind new, switch, resume and undo. Nothing is overwritten before it is reachable from a
// ref; until the ledger has moved, the next command finishes the move.
func (h *Hand) move(ctx context.Context, r relocation) (*Relocated, error) {
	st := h.e.Store
	if err := h.NoSurvivors(); err != nil {
		return nil, err
	}
	if err := h.growExclude(ctx); err != nil {
		return nil, err
	}
	snap, err := h.snapshot(ctx)
	if err != nil {
		return nil, err
	}
	if r.stay {
		r.tree = snap.Tree
	}
	plan, err := h.planMove(ctx, snap, r.tree, r.raw)
	if err != nil {
		return nil, err
	}
	snap.Raw, plan.Index = plan.Raw, r.index
	t := session.Turn{Worktree: st.Worktree(), Refs: r.refs, Tree: r.tree, Index: r.index, Raw: r.raw,
		HeadOldCommit: snap.Head.Commit, TreeOld: snap.Tree, IndexOld: snap.Index, RawOld: snap.Raw}
	if from := nameOf(snap.Head); r.head != "" && r.head != from {
		t.HeadOld, t.HeadNew = from, r.head
		if !slices.ContainsFunc(r.refs, func(m session.RefMove) bool { return m.Ref == r.head }) {
			t.HeadNewCommit = r.tip
		}
	}
	if err := st.AwaitLocks(ctx, h.ID, t); err != nil {
		return nil, fmt.Errorf("%s: nothing was changed: %w", r.summary, err)
	}
	if !snap.Clean() && !r.keeps(snap) {
		if t.Rescue, err = h.rescue(ctx, r.summary, snap, h.failedBefore()); err != nil {
			return nil, err
		}
	}
	if err := h.j.Claim(st.Worktree()); err != nil {
		return nil, err
	}
	h.halfway = nil
	m := session.MoveStarted{How: r.how, Summary: r.summary, To: r.to, Undoes: r.undoes, Status: r.status,
		Former: r.former, Docs: r.docs, Since: r.since, Turn: t}
	if err := h.append(m); err != nil {
		return nil, err
	}
	h.e.hit("move/journaled")
	if err := st.MoveTree(ctx, plan); err != nil {
		return h.lookAgain(ctx, m, &unmoved{err})
	}
	out, err := h.arrive(ctx, m, plan.Changes)
	if failed := (*unmoved)(nil); errors.As(err, &failed) {
		return h.lookAgain(ctx, m, err)
	}
	return out, h.standsHalfWay(ctx, m, err)
}

// keeps reports whether nothing of what is there is overwritten: the files stay, and the index holds nothing else.
func (r *relocation) keeps(s session.Snapshot) bool {
	return r.stay && (s.Index == "" || s.Index == s.HeadTree || s.Index == s.Tree || s.Index == r.index)
}

// growExclude adds what is ignored now to the session's exclude rules: what was ignored once stays ignored for the
// session, or going back to before a .gitignore existed would commit what it hid.
func (h *Hand) growExclude(ctx context.Context) error {
	ignored, err := h.e.Store.Ignored(ctx)
	if err != nil {
		return err
	}
	text, err := h.j.Exclude()
	if err != nil {
		return err
	}
	rules, guard := session.SplitGuard(text)
	grown := AddExcludes(rules, ignored)
	if string(grown) == string(rules) {
		return nil
	}
	return h.setExclude(grown, guard)
}

func (h *Hand) keepDoc(name string, data []byte) {
	if h.docs == nil {
		h.docs = session.Files{}
	}
	h.docs[name] = data
}

// AddExcludes appends anchored, escaped patterns for paths that the rules do not name yet.
func AddExcludes(rules []byte, paths []string) []byte {
	have := map[string]bool{}
	for line := range strings.Lines(string(rules)) {
		have[strings.TrimSuffix(line, "\n")] = true
	}
	out := rules[:len(rules):len(rules)]
	for _, p := range paths {
		if line := session.ExcludeRule(p); line != "" && !have[line] {
			have[line] = true
			out = append(out, line+"\n"...)
		}
	}
	return out
}

// Enter makes the session current in this work tree.
func (h *Hand) Enter(ctx context.Context) (*Relocated, error) {
	r, needed, err := h.entering(ctx)
	if err != nil || !needed {
		return nil, err
	}
	return h.move(ctx, r)
}

// entering is what Enter needs; it reports false when HEAD is on the session's branch already.
func (h *Hand) entering(ctx context.Context) (r relocation, needed bool, err error) {
	head, err := h.e.Store.Head(ctx)
	if err != nil || head.Ref == h.S.Branch() {
		return r, false, err
	}
	tip, tree, err := h.tipTree(ctx)
	if err != nil {
		return r, false, err
	}
	return relocation{how: session.MoveSwitch, summary: fmt.Sprintf("switch from %s to %s", short(nameOf(head)), h.ID),
		tree: tree, index: tree, head: h.S.Branch(), tip: tip, to: -1}, true, nil
}

// tipTree is the tip of the session's branch, which must exist and be free, and its tree.
func (h *Hand) tipTree(ctx context.Context) (tip session.Commit, tree session.Tree, err error) {
	other, err := h.e.Store.ElsewhereOn(ctx, h.S.Branch())
	if err != nil {
		return "", "", err
	}
	if other != "" {
		return "", "", &session.Refusal{Code: session.RefuseWorktree,
			Message: fmt.Sprintf("%s is checked out in %s", short(h.S.Branch()), other),
			Hint:    fmt.Sprintf(`cd "$(wfs path %s)"`, h.ID)}
	}
	tip, err = h.e.Store.Ref(ctx, h.S.Branch())
	if err != nil {
		return "", "", err
	}
	if tip == "" {
		return "", "", BranchGone(&h.S)
	}
	tree, err = h.e.Store.TreeOf(ctx, tip)
	return tip, tree, err
}

// BranchGone refuses to go on without a session's branch: who deleted it may have meant it.
func BranchGone(s *session.Session) *session.Refusal {
	return &session.Refusal{Code: session.RefuseBranch,
		Message: fmt.Sprintf("the session's branch %s is gone; its checkpoints are not", short(s.Branch())),
		Hint:    fmt.Sprintf("git branch %s %s", short(s.Branch()), s.At(s.Current).Code)}
}

// Leave goes from the session to a branch of the user's. Uncommitted changes that stayed behind there come back.
func (h *Hand) Leave(ctx context.Context, branch string) (*Relocated, error) {
	r, note, needed, err := h.leaving(ctx, branch)
	if err != nil || !needed { // a killed try was completed when the session was taken in hand
		return nil, err
	}
	out, err := h.move(ctx, r)
	if out != nil {
		out.Note = note
	}
	return out, err
}

// leaving is what Leave needs, and what it says of uncommitted changes; it reports false when HEAD is there already.
func (h *Hand) leaving(ctx context.Context, branch string) (r relocation, note string, needed bool, err error) {
	head, err := h.e.Store.Head(ctx)
	if err != nil || head.Ref == branch {
		return r, "", false, err
	}
	if err := h.e.Free(ctx, branch); err != nil {
		return r, "", false, err
	}
	tip, err := h.e.Store.Ref(ctx, branch)
	if err != nil {
		return r, "", false, err
	}
	tree, err := h.e.Store.TreeOf(ctx, tip)
	if err != nil {
		return r, "", false, err
	}
	r = relocation{how: session.MoveLeave, summary: fmt.Sprintf("switch from %s to %s", h.ID, short(branch)),
		tree: tree, index: tree, head: branch, tip: tip, to: -1}
	parked, err := h.e.Parked(ctx, branch)
	if err != nil {
		return r, "", false, err
	}
	back, note := h.e.comesBack(ctx, parked, branch, tip)
	if back != nil {
		r.tree, r.index, r.raw = back.TreeOld, back.IndexOld, back.RawOld
	}
	return r, note, true, nil
}

// Resume makes the session current and ready, at checkpoint at (-1: where it is, keeping the edits that are there). It
// never drives.
func (h *Hand) Resume(ctx context.Context, at int) (*Relocated, error) {
	if h.S.Status == session.StatusAbandoned && at < 0 {
		if _, _, err := h.tipTree(ctx); err != nil { // nothing is brought back that cannot be gone to
			return nil, err
		}
		n, err := h.Revive(ctx)
		if err != nil {
			return nil, err
		}
		out, err := h.Enter(ctx)
		if err == nil && out == nil {
			out = recorded(n, reviveSummary(h.ID))
		} else if err == nil {
			out.Note = "it was abandoned; restored"
		}
		return out, err
	}
	if h.S.Status.Final() && at < 0 {
		return nil, h.isFinal()
	}
	if at < 0 {
		out, err := h.Enter(ctx)
		if err != nil {
			return out, err
		}
		switch {
		case h.S.Status != session.StatusInterrupted && h.S.Status != session.StatusRunning:
		case out != nil || !JudgedNext(&h.S):
			err = h.append(session.Paused{Why: "resumed after an interruption; the edits were kept"})
		case h.S.Status == session.StatusRunning: // no file was moved: the attempt is judged with the edits that are there
			err = h.append(session.Interrupted{Why: "killed", Unjudged: true})
		}
		return out, err
	}
	r, err := h.resumeAt(ctx, at)
	if err != nil {
		return nil, err
	}
	return h.move(ctx, r)
}

func (h *Hand) resumeAt(ctx context.Context, at int) (relocation, error) {
	c := h.S.At(at)
	if c == nil {
		return relocation{}, &session.Refusal{Code: session.RefuseNoSuchCP,
			Message: fmt.Sprintf("%s has no checkpoint %d: its latest is %d", h.ID, at, h.S.NextNumber()-1),
			Hint:    "wfs log " + string(h.ID)}
	}
	tip, _, err := h.tipTree(ctx)
	if err != nil { // the branch must be there, and nowhere else
		return relocation{}, err
	}
	docs, err := h.docsAt(ctx, at)
	if err != nil {
		return relocation{}, err
	}
	r := relocation{how: session.MoveResume, summary: fmt.Sprintf("resume %s at checkpoint %d", h.ID, at),
		tree: c.Tree, index: c.Tree,
		head: h.S.Branch(), tip: tip, to: at, docs: docs}
	if tip != c.Code {
		r.refs = []session.RefMove{{Ref: h.S.Branch(), Old: tip, New: c.Code}}
	}
	return r, nil
}

// docsAt is the ledger commit of a checkpoint, with the evidence as it was: the lap that it stands in has its
// own beginning.
func (h *Hand) docsAt(ctx context.Context, number int) (session.Commit, error) {
	commits, err := h.e.Store.Ledgers(ctx, h.ID)
	if err != nil {
		return "", err
	}
	for _, c := range commits {
		events, err := h.e.eventsOf(ctx, c.Commit)
		if err != nil {
			return "", err
		}
		if n := len(events); n == 0 {
			continue
		} else if b, ok := events[n-1].Body.(session.Checkpointed); !ok || b.Number != number {
			continue
		}
		return c.Commit, nil
	}
	return "", fmt.Errorf("the history of %s does not contain checkpoint %d", h.ID, number)
}
