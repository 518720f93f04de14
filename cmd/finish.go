package cmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/wfs-dev/wfs/cmd/internal/present"
	"github.com/wfs-dev/wfs/engine"
	"github.com/wfs-dev/wfs/engine/finish"
	"github.com/wfs-dev/wfs/gitstate"
	"github.com/wfs-dev/wfs/internal/safetext"
	"github.com/wfs-dev/wfs/session"
)

type finishJSON struct {
	Version    int            `json:"version"`
	Session    session.ID     `json:"session"`
	Branch     string         `json:"branch"`
	Commit     session.Commit `json:"commit"`
	Checkpoint int            `json:"checkpoint"`
	Operation  int64          `json:"operation"`
	Push       string         `json:"push,omitempty"`
	Proof      *session.Proof `json:"proof,omitempty"`
	// Holdout is the result of the hold-out tests on the handed-over work.
	Holdout *session.HoldoutResult `json:"holdout,omitempty"`
	keptJSON
	baseJSON
	// files in the commit that were uncommitted before the session
	Carried   []string `json:"carried,omitempty"`
	Forgotten int64    `json:"forgotten,omitempty"`      // operation that deleted the session
	Agreed    bool     `json:"agreed,omitempty"`         // handing over counted as approval of the work
	Stayed    string   `json:"documents_stay,omitempty"` // why wfs could not remove the session's documents
}

// baseJSON says whether the handed-over commit can be merged into the base branch.
type baseJSON struct {
	BaseMoved bool     `json:"base_moved,omitempty"` // the base branch has commits that the handed-over commit lacks
	Conflicts []string `json:"conflicts,omitempty"`  // files in which the two conflict
	Untried   bool     `json:"untried,omitempty"`    // this git is too old to look for conflicts
}

// compareBase compares a commit with a session's base branch. `ref` is that branch, or "" if the session has none.
func compareBase(ctx context.Context, repo *gitstate.Repo, ref string, commit session.Commit) (b baseJSON) {
	tip, err := repo.Ref(ctx, ref)
	if ref == "" || err != nil || tip == "" {
		return b
	}
	in, err := repo.IsAncestor(ctx, tip, commit)
	if b.BaseMoved = err == nil && !in; b.BaseMoved {
		var tried bool
		b.Conflicts, tried = repo.Conflicts(ctx, tip, commit)
		b.Untried = !tried
	}
	return b
}

func (a *finishVerb) sayBase(ref string, b baseJSON) {
	on := strings.TrimPrefix(ref, "refs/heads/")
	switch {
	case !b.BaseMoved:
	case b.Untried:
		a.out("%s has moved since; whether that conflicts was not tried (it takes git 2.38)", on)
	case len(b.Conflicts) > 0:
		a.out("%s has moved since, and conflicts in: %s", on, safetext.First(b.Conflicts, 5, " "))
	default:
		a.out("%s has moved since; it merges without a conflict", on)
	}
}

type finishVerb struct {
	*app
	o      finish.Options
	dry    bool
	forget bool
	chosen func() bool // whether --forget was typed
}

func (a *finishVerb) command() *cobra.Command {
	o := &a.o
	c := &cobra.Command{
		Use: "finish [SESSION]", Short: "hand the work over: one commit on a branch of yours",
		Long: `Finish makes one commit of a session's work on a new branch, which starts at the session's base. Its
tree is the last one that passed all gates, without .workflow/. Your hooks and signing run. The message says
what was done and tested (finish.report in the configuration: summary, full or none). Nothing is pushed, and the
session stays readable.

An open item, a skipped phase, a phase that no gate has judged, or a review that was rejected or not reached is
refused. --anyway WHY hands it over anyway; the commit says what is not done, and why.`,
		Example: "  wfs finish\n  wfs finish --branch feature/csv-export\n  wfs finish --keep\n  wfs finish --dry-run",
		Args:    upTo(1),
		RunE:    with(a.run),
	}
	f := c.Flags()
	f.StringVar(&o.Branch, "branch", "", "`name` of the new branch (default: the session's name)")
	f.StringVarP(&o.Subject, "message", "m", "", "`subject` of the commit (default: the goal)")
	f.BoolVar(&o.Keep, "keep", false, "keep the checkpoints instead of making one commit")
	f.BoolVar(&o.Unproven, "unproven", false, "hand over even if a clean checkout or the hold-out tests fail")
	f.StringVar(&o.Anyway, "anyway", "", "hand over less than the goal; the commit says `why`")
	f.BoolVar(&o.WithoutCarried, "without-carried", false, "leave out what you had not committed before the session")
	f.BoolVar(&a.forget, "forget", false,
		"then delete the session, as wfs delete does; --forget=false keeps a temporary one")
	a.chosen = func() bool { return f.Changed("forget") }
	dryFlag(c, &a.dry)
	return c
}

func (a *finishVerb) run(ctx context.Context, args []string) error {
	id, err := a.session(ctx, first(args))
	if err != nil {
		return err
	}
	if err := a.fill(ctx, id); err != nil {
		return err
	}
	if a.dry {
		return a.preview(ctx, id)
	}
	h, err := a.HoldAndTake(ctx, "wfs finish", id)
	if err != nil {
		return err
	}
	if !a.chosen() {
		a.forget = h.S.Temporary
	}
	a.Engine.Works.(*works).report = func(line string) { a.note("    %s", line) }
	f, op, err := h.Finish(ctx, a.o)
	refused, is := errors.AsType[*session.Refusal](err)
	if is && refused.Code == session.RefuseNotAgreed && a.asksHere() {
		a.note("%s", refused.Message)
		if a.o.Anyway, err = a.askAnyway(ctx, refused.Hint); err != nil {
			return err
		}
		if a.o.Anyway == "" { // the refusal was printed before the question
			return session.Refuse(refused.Code, refused.Hint, "nothing was handed over")
		}
		f, op, err = h.Finish(ctx, a.o)
	}
	if err != nil {
		return err
	}
	return a.say(ctx, h, f, op)
}

// session opens the session to hand over, and returns its ID. If an earlier wfs finish was interrupted and has just
// been completed, it is that session.
func (a *finishVerb) session(ctx context.Context, name string) (session.ID, error) {
	if err := a.EnterNamed(ctx, name); err != nil {
		return "", err
	}
	if err := a.BeginOr(ctx, a.dry, "wfs finish", false); err != nil {
		return "", err
	}
	id, err := a.Resolve(ctx, name)
	if err != nil && name == "" && a.Claimed != "" { // its interrupted finish has just been completed
		id, err = a.Claimed, nil
	}
	if err != nil {
		return "", err
	}
	return id, a.NotGone(ctx, id)
}

// fill checks the flags and fills in defaults for the others.
func (a *finishVerb) fill(ctx context.Context, id session.ID) error {
	o := &a.o
	o.Branch = cmp.Or(o.Branch, string(id))
	if strings.HasPrefix(o.Branch, "wfs/") || a.Repo.CheckBranchName(ctx, o.Branch) != nil {
		return usage("wfs finish --branch NAME", "--branch %s: not a name for a branch of yours", o.Branch)
	}
	o.Branch = "refs/heads/" + o.Branch
	o.Anyway = a.Redact(strings.TrimSpace(o.Anyway))
	if settings, err := a.OwnSettings(ctx); err == nil {
		o.Report = settings.Config.Finish.Report
	} else { // a handover only needs the pinned configuration
		a.note("warning: finish.report is not read: %v", err)
	}
	if o.Keep {
		return nil
	}
	return a.Repo.Identified(ctx) // wfs makes the commit in the user's name
}

// say prints the result of a handover: the commit, files that are not in it, and the next command.
func (a *finishVerb) say(ctx context.Context, h *engine.Hand, f *session.Finished, op int64) error {
	s := &h.S
	j := a.handedOver(ctx, h, f, op)
	var err error
	if a.forget {
		j.Forgotten, err = a.forgetSession(ctx, h)
	}
	if err != nil {
		a.note("the session is kept: %v", err)
	}
	if a.json {
		return a.answer(j)
	}
	a.sayCommit(ctx, &j, s)
	if j.Agreed {
		a.out("that counts as your approval of the work")
	}
	sayKept(a.Repo, wasThere, f.Turn.Rescues(), a.out)
	if j.Stayed != "" {
		a.out("the session's documents could not be removed from the work tree; they are in no commit of %s: %s",
			j.Branch, j.Stayed)
	}
	if n := len(j.Carried); n > 0 {
		a.out("also in it, uncommitted before the session: %s of yours: %s (--without-carried leaves them out)",
			present.N(n, "file"), safetext.First(j.Carried, 5, " "))
	}
	a.sayBase(s.BaseRef, j.baseJSON)
	if a.o.WithoutCarried {
		a.out("what you had not committed before the session is uncommitted in the work tree again")
	}
	if text := present.Lacks(s.At(f.Checkpoint)); text != "" {
		a.out("not handed over, because no checkpoint has it: %s", text)
	}
	sayUnseen(ctx, a.Workspace, s, a.out)
	a.env.Proved(j.Proof, j.Holdout)
	a.sayIgnoredBefore(ctx, s)
	a.sayParked(ctx, s.BaseRef, f.Branch)
	if j.Forgotten > 0 {
		a.out("the session is deleted; to bring it back: wfs delete --restore %s", s.ID)
	}
	if a.Repo.Worktree() != "main" {
		a.out("its work tree stays; to remove it: %s", a.fromMain(ctx, "wfs delete --worktree "+string(s.ID)))
	}
	a.out("undo: %s", a.typed("wfs undo"))
	if j.Push != "" {
		a.out("next: %s", j.Push)
	}
	return nil
}

// forgetSession deletes a session whose work was just handed over. It returns the number of the operation.
func (a *finishVerb) forgetSession(ctx context.Context, h *engine.Hand) (int64, error) {
	d := &deleteVerb{app: a.app}
	if _, err := d.mayGo(ctx, &h.S); err != nil {
		return 0, err
	}
	return h.Delete(ctx, fmt.Sprintf("delete %s, whose work is handed over", h.ID), 0)
}

// handedOver collects the facts about a handover for --json and for say.
func (a *finishVerb) handedOver(ctx context.Context, h *engine.Hand, f *session.Finished, op int64) finishJSON {
	s := &h.S
	branch := strings.TrimPrefix(f.Branch, "refs/heads/")
	j := finishJSON{Version: jsonVersion, Session: s.ID, Branch: branch, Commit: f.Commit, Checkpoint: f.Checkpoint,
		Operation: op, Proof: present.ProofAt(s, f.Checkpoint), Holdout: s.HoldoutAt(f.Checkpoint),
		keptJSON: keptIn(f.Turn.Rescues()), Agreed: h.Agreed, baseJSON: compareBase(ctx, a.Repo, s.BaseRef, f.Commit)}
	if h.Finisher.Stayed != nil {
		j.Stayed = h.Finisher.Stayed.Error()
	}
	if remote, err := a.Repo.Remote(ctx); err == nil && remote != "" {
		j.Push = "git push -u " + remote + " " + branch
	}
	if !a.o.WithoutCarried {
		j.Carried = s.Carried
	}
	return j
}

// sayCommit prints which commit was handed over, its branch and its files.
func (a *finishVerb) sayCommit(ctx context.Context, j *finishJSON, s *session.Session) {
	what := "1 commit"
	if a.o.Keep {
		what = "the checkpoints"
	}
	size, files := sizeOf(ctx, a.Repo, s.Base, j.Commit)
	a.out("%s is handed over: %s on %s (%s)%s", s.ID, what, j.Branch, j.Commit.Short(), size)
	if len(files) > 0 {
		a.out("  %s", safetext.First(files, 5, " "))
	}
	still := ""
	if s.BaseRef != "" && !j.BaseMoved {
		still = "; " + strings.TrimPrefix(s.BaseRef, "refs/heads/") + " has not moved"
	}
	a.out("you are on %s%s; nothing was pushed%s", j.Branch, a.InTree(), still)
}

// sayParked reminds the user of uncommitted changes that were left on the base branch when a session was created or
// checked out, if the handed-over work does not contain them.
func (a *finishVerb) sayParked(ctx context.Context, base, branch string) {
	if base == "" || !leftBehind(ctx, a.Workspace, base, branch) {
		return
	}
	on := strings.TrimPrefix(base, "refs/heads/")
	a.out("uncommitted changes of yours from %s are still kept: %s, then wfs says how to have them back", on,
		a.typed("git switch "+on))
}

// sizeOf returns the number of files and lines in a change, such as ", 3 files +10 -2", and the names of the files. It
// returns "" if git fails.
func sizeOf(ctx context.Context, repo *gitstate.Repo, from, to session.Commit) (size string, files []string) {
	x, err := repo.TreeOf(ctx, from)
	if err != nil {
		return "", nil
	}
	y, err := repo.TreeOf(ctx, to)
	if err != nil {
		return "", nil
	}
	return sizeBetween(ctx, repo, x, y)
}

// sizeBetween does the same as sizeOf for trees.
func sizeBetween(ctx context.Context, repo *gitstate.Repo, x, y session.Tree) (size string, files []string) {
	lines, err := repo.Lines(ctx, session.TreePair{From: x, To: y})
	if err != nil {
		return "", nil
	}
	added, removed := 0, 0
	for _, f := range lines[0] {
		added, removed, files = added+f.Added, removed+f.Removed, append(files, f.Path)
	}
	return fmt.Sprintf(", %s +%d -%d", present.N(len(files), "file"), added, removed), files
}

func (a *finishVerb) preview(ctx context.Context, id session.ID) error {
	look, err := a.Engine.Look(ctx, id, a.Clone.Session(id).ExcludeFile())
	if err != nil {
		return err
	}
	p, err := look.Finish(ctx, a.o)
	if err != nil {
		return err
	}
	v, err := a.View(ctx, id)
	if err != nil {
		return err
	}
	base := compareBase(ctx, a.Repo, v.Session.BaseRef, v.Session.At(p.At).Code)
	if err = (preview{a.app, id}).say(p, base); err != nil || a.json {
		return err
	}
	if from, err := a.Repo.TreeOf(ctx, v.Session.Base); err == nil {
		size, _ := sizeBetween(ctx, a.Repo, from, p.Tree)
		a.out("it would hand over @%d%s", p.At, size)
	}
	a.sayBase(v.Session.BaseRef, base)
	return nil
}

// askAnyway asks the user for the reason to hand over less work than agreed. It returns "" if the user cancels. An
// answer of "n" cancels; after "y" it asks again, because "y" is no reason.
func (a *finishVerb) askAnyway(ctx context.Context, hint string) (string, error) {
	question := "Hand it over anyway? Say why, or press Enter to leave it: "
	for {
		why, err := a.prompt(ctx, question, hint)
		switch strings.ToLower(why) {
		case "n", "no":
			return "", err
		case "y", "yes":
			question = "Why? The commit says it: "
			continue
		}
		return a.Redact(why), err
	}
}
