package cmd

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/wfs-dev/wfs/cmd/internal/present"
	"github.com/wfs-dev/wfs/engine"
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
	// Holdout is what hold-out tests said of what is handed over.
	Holdout *session.HoldoutResult `json:"holdout,omitempty"`
	keptJSON
	baseJSON
	// files that were uncommitted before the session, and are in the commit
	Carried []string `json:"carried,omitempty"`
	Agreed  bool     `json:"agreed,omitempty"`         // it was the answer to the question whether the work is done
	Stayed  string   `json:"documents_stay,omitempty"` // why the session's documents are still in the work tree
}

// baseJSON is how what is handed over goes together with the base branch.
type baseJSON struct {
	BaseMoved bool     `json:"base_moved,omitempty"` // that has commits which the handed-over one is not made from
	Conflicts []string `json:"conflicts,omitempty"`  // files in which it conflicts with them
	Untried   bool     `json:"untried,omitempty"`    // this git cannot say whether it conflicts
}

// upon compares a commit with a session's base branch, "" for none.
func (a *app) upon(ctx context.Context, ref string, commit session.Commit) (b baseJSON) {
	tip, err := a.Repo.Ref(ctx, ref)
	if ref == "" || err != nil || tip == "" {
		return b
	}
	in, err := a.Repo.IsAncestor(ctx, tip, commit)
	if b.BaseMoved = err == nil && !in; b.BaseMoved {
		var tried bool
		b.Conflicts, tried = a.Repo.Conflicts(ctx, tip, commit)
		b.Untried = !tried
	}
	return b
}

func (a *app) sayBase(ref string, b baseJSON) {
	on := strings.TrimPrefix(ref, "refs/heads/")
	switch {
	case !b.BaseMoved:
	case b.Untried:
		a.out("%s has moved since; whether that conflicts was not tried (it takes git 2.38)", on)
	case len(b.Conflicts) > 0:
		a.out("%s has moved since, and conflicts in: %s", on, shortList(b.Conflicts))
	default:
		a.out("%s has moved since; it merges without a conflict", on)
	}
}

func (a *app) finishCmd() *cobra.Command {
	var o engine.Handover
	var dry bool
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
		RunE:    func(c *cobra.Command, args []string) error { return a.finish(c.Context(), first(args), o, dry) },
	}
	f := c.Flags()
	f.StringVar(&o.Branch, "branch", "", "`name` of the new branch (default: the session's name)")
	f.StringVarP(&o.Subject, "message", "m", "", "`subject` of the commit (default: the goal)")
	f.BoolVar(&o.Keep, "keep", false, "keep the checkpoints instead of making one commit")
	f.BoolVar(&o.Unproven, "unproven", false, "hand over even if a clean checkout or the hold-out tests fail")
	f.StringVar(&o.Anyway, "anyway", "", "hand over less than the goal; the commit says `why`")
	f.BoolVar(&o.WithoutCarried, "without-carried", false, "leave out what you had not committed before the session")
	dryFlag(c, &dry)
	return c
}

func (a *app) finish(ctx context.Context, name string, o engine.Handover, dry bool) error {
	if err := a.EnterNamed(ctx, name); err != nil {
		return err
	}
	if err := a.BeginOr(ctx, dry, "wfs finish", false); err != nil {
		return err
	}
	id, err := a.Resolve(ctx, name)
	if err != nil && name == "" && a.Claimed != "" { // one that was killed, and that has just been completed
		id, err = a.Claimed, nil
	}
	if err != nil {
		return err
	}
	if err := a.NotGone(ctx, id); err != nil {
		return err
	}
	if o.Branch == "" {
		o.Branch = string(id)
	}
	if strings.HasPrefix(o.Branch, "wfs/") || a.Repo.CheckBranchName(ctx, o.Branch) != nil {
		return usage("wfs finish --branch NAME", "--branch %s: not a name for a branch of yours", o.Branch)
	}
	o.Branch = "refs/heads/" + o.Branch
	o.Anyway = a.Redact(strings.TrimSpace(o.Anyway))
	if settings, err := a.OwnSettings(ctx); err == nil {
		o.Report = settings.Config.Finish.Report
	} else { // what was agreed is pinned: it is handed over all the same
		a.note("warning: finish.report is not read: %v", err)
	}
	if !o.Keep { // its commit is the user's own
		if err := a.Repo.Identified(ctx); err != nil {
			return err
		}
	}
	if dry {
		return a.previewFinish(ctx, id, o)
	}
	h, err := a.HoldAndTake(ctx, "wfs finish", id)
	if err != nil {
		return err
	}
	a.Engine.Works.(*works).report = func(line string) { a.note("    %s", line) }
	f, op, err := h.Finish(ctx, o)
	if refused := (*session.Refusal)(nil); errors.As(err, &refused) && refused.Code == session.RefuseNotAgreed &&
		a.asksHere() {
		var asked error
		a.note("%s", refused.Message)
		if o.Anyway, asked = a.askAnyway(ctx, refused.Hint); asked != nil {
			return asked
		}
		if o.Anyway == "" { // what is open has been said
			return session.Refuse(refused.Code, refused.Hint, "nothing was handed over")
		}
		f, op, err = h.Finish(ctx, o)
	}
	if err != nil {
		return err
	}
	branch := strings.TrimPrefix(f.Branch, "refs/heads/")
	j := finishJSON{Version: jsonVersion, Session: id, Branch: branch, Commit: f.Commit, Checkpoint: f.Checkpoint,
		Operation: op, Proof: present.ProofAt(&h.S, f.Checkpoint),
		Holdout: h.S.HoldoutAt(f.Checkpoint), keptJSON: keptIn(f.Turn.Rescues()), Agreed: h.Agreed}
	if h.Stayed != nil {
		j.Stayed = h.Stayed.Error()
	}
	if remote, err := a.Repo.Remote(ctx); err == nil && remote != "" {
		j.Push = "git push -u " + remote + " " + branch
	}
	if !o.WithoutCarried {
		j.Carried = h.S.Carried
	}
	j.baseJSON = a.upon(ctx, h.S.BaseRef, f.Commit)
	if a.json {
		return a.answer(j)
	}
	what := "1 commit"
	if o.Keep {
		what = "the checkpoints"
	}
	size, files := a.sizeOf(ctx, h.S.Base, f.Commit)
	a.out("%s is handed over: %s on %s (%s)%s", id, what, branch, f.Commit.Short(), size)
	if len(files) > 0 {
		a.out("  %s", shortList(files))
	}
	moved := ""
	if h.S.BaseRef != "" && !j.BaseMoved {
		moved = "; " + strings.TrimPrefix(h.S.BaseRef, "refs/heads/") + " has not moved"
	}
	a.out("you are on %s%s; nothing was pushed%s", branch, a.InTree(), moved)
	if h.Agreed {
		a.out("that counts as your approval of the work")
	}
	a.sayKept(wasThere, f.Turn.Rescues(), a.out)
	if h.Stayed != nil {
		a.out("the session's documents could not be removed from the work tree; they are in no commit of %s: %v", branch,
			h.Stayed)
	}
	if len(j.Carried) > 0 {
		a.out("also in it, uncommitted before the session: %d %s of yours: %s (--without-carried leaves them out)",
			len(j.Carried),
			plural(len(j.Carried), "file", "files"), shortList(j.Carried))
	}
	a.sayBase(h.S.BaseRef, j.baseJSON)
	if o.WithoutCarried {
		a.out("what you had not committed before the session is uncommitted in the work tree again")
	}
	if text := present.Lacks(h.S.At(f.Checkpoint)); text != "" {
		a.out("not handed over, because no checkpoint has it: %s", text)
	}
	a.sayUnseen(ctx, &h.S)
	a.env.Proof(j.Proof)
	a.env.Holdout(j.Holdout)
	a.sayIgnoredBefore(ctx, &h.S)
	if ref := h.S.BaseRef; ref != "" {
		parked, err := a.Engine.Parked(ctx, ref)
		if err == nil && slices.ContainsFunc(parked,
			func(op session.Op) bool { return a.Repo.Lacks(ctx, f.Branch, op.Turn.Rescue) }) {
			on := strings.TrimPrefix(ref, "refs/heads/")
			a.out("uncommitted changes of yours from %s are still kept: %s, then wfs says how to have them back", on,
				a.typed("git switch "+on))
		}
	}
	if a.Repo.Worktree() != "main" {
		a.out("its work tree stays; to remove it: %s", a.fromMain(ctx, "wfs delete --worktree "+string(id)))
	}
	a.out("undo: %s", a.typed("wfs undo"))
	if j.Push != "" {
		a.out("next: %s", j.Push)
	}
	return nil
}

// sizeOf counts the files and lines of a change, and names the files; it returns "" if git cannot say.
func (a *app) sizeOf(ctx context.Context, from, to session.Commit) (size string, files []string) {
	x, err := a.Repo.TreeOf(ctx, from)
	if err != nil {
		return "", nil
	}
	y, err := a.Repo.TreeOf(ctx, to)
	if err != nil {
		return "", nil
	}
	lines, err := a.Repo.Lines(ctx, x, y)
	if err != nil {
		return "", nil
	}
	added, removed := 0, 0
	for _, f := range lines {
		added, removed, files = added+f.Added, removed+f.Removed, append(files, f.Path)
	}
	return fmt.Sprintf(", %d %s +%d -%d", len(files), plural(len(files), "file", "files"), added, removed), files
}

func (a *app) previewFinish(ctx context.Context, id session.ID, o engine.Handover) error {
	look, err := a.Engine.Look(ctx, id, a.Clone.Session(id).ExcludeFile())
	if err != nil {
		return err
	}
	p, err := look.Finish(ctx, o)
	if err != nil {
		return err
	}
	v, err := a.View(ctx, id)
	if err != nil {
		return err
	}
	base := a.upon(ctx, v.Session.BaseRef, v.Session.At(p.At).Code)
	if err = a.sayPreview(id, p, base); err == nil && !a.json {
		a.sayBase(v.Session.BaseRef, base)
	}
	return err
}

// askAnyway asks why less than what was agreed shall be handed over, "" for not at all. "n" is no reason, nor is "y".
func (a *app) askAnyway(ctx context.Context, hint string) (string, error) {
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
